package oteldurable

import (
	"testing"

	"github.com/quickstream-go/quickstream/internal/apitest"
)

// TestExportedAPI compares the package with its list in the directory api.
func TestExportedAPI(t *testing.T) { apitest.Compare(t) }
