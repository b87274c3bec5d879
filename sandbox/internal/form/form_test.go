package form_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox/internal/form"
)

func TestAddMembers(t *testing.T) {
	f := form.Format{UnknownMembers: "new"}
	addMembers := func(doc string) []byte { return f.JSON(json.RawMessage(doc)) }
	for _, doc := range []string{
		`{}`, `[]`, `{"a":{}}`, `{"a":[{},{"b":"}"}],"metadata":{},"c":"metadata"}`, `{"a":"\"}{\\","metadata":{"x":"y"}}`, `{"metadata":null,"b":{}}`,
	} {
		var was, is any
		require.NoError(t, json.Unmarshal([]byte(doc), &was))
		added := addMembers(doc)
		require.NoError(t, json.Unmarshal(added, &is), string(added))
		if strings.HasPrefix(doc, "{") {
			assert.Contains(t, is, "addedLater")
		}
		assert.Equal(t, was, without(is), string(added))
	}
	assert.JSONEq(t, `{"metadata":{"x":"y"},"addedLater":{"values":[null,1.5,"text"]}}`, string(addMembers(`{"metadata":{"x":"y"}}`)))
}

// without takes the added members out again.
func without(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "addedLater")
		for k := range v {
			v[k] = without(v[k])
		}
	case []any:
		for i := range v {
			v[i] = without(v[i])
		}
	}
	return v
}
