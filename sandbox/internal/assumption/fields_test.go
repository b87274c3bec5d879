package assumption_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/internal/assumption"
)

// Every row has a field of its own, which has the row's default.
func TestDefaults(t *testing.T) {
	var a sandbox.Assumptions
	assumption.Defaults(&a)
	table := assumption.Table()
	assert.Len(t, table, reflect.TypeFor[sandbox.Assumptions]().NumField())
	for _, r := range table {
		assert.Equal(t, r.Default, assumption.Text(&a, r.Name), r.Name)
	}
}
