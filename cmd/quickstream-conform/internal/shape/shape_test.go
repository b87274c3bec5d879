package shape_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
)

func TestParse(t *testing.T) {
	t.Parallel()
	v, err := shape.Parse([]byte(`{"b":"text","a":{"n":1.50,"t":true,"z":null},"l":[{"x":""}]}`))
	require.NoError(t, err)
	assert.Equal(t, []string{"b", "a", "l"}, v.Names)
	assert.Equal(t, shape.Value{Kind: shape.Number, Text: "1.50"}, v.Get("a", "n"))
	assert.Equal(t, shape.Boolean, v.Get("a", "t").Kind)
	assert.Equal(t, shape.Null, v.Get("a", "z").Kind)
	assert.Equal(t, shape.Absent, v.Get("a", "none", "n").Kind)
	assert.True(t, v.Get("l").Items[0].Get("x").Empty())
	paths := map[string]bool{}
	v.Each(func(path []string, _ shape.Value) {
		for _, name := range path {
			paths[name] = true
		}
	})
	assert.Equal(t, map[string]bool{"b": true, "a": true, "n": true, "t": true, "z": true, "l": true, "x": true}, paths)
}

// What two readers could read differently, and what is cut, is no document.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{``, `{`, `{"a":1`, `{"a":1,"a":2}`, `[1`, `{} {}`, `<html>`, `{"a":{"b":null,"b":1}}`} {
		_, err := shape.Parse([]byte(doc))
		assert.Error(t, err, doc)
	}
}

func TestPattern(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "0000-00-00a00:00:00+0000", shape.Pattern("2030-01-02T03:04:05+1100"))
	assert.NotContains(t, shape.Pattern("Kim Lee 4111111111111111"), "4111")
}
