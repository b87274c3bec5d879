package durabletest

import (
	"testing"

	"github.com/quickstream-go/quickstream/internal/apitest"
)

// TestExportedAPI compares the public packages with their lists in the directory api.
func TestExportedAPI(t *testing.T) { apitest.Compare(t) }
