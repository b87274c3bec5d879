package quickstream_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// mirror returns a struct type with the members of a model and none of its
// methods, which encoding/json decodes by itself.
func mirror(model reflect.Type) reflect.Type {
	var fields []reflect.StructField
	for _, field := range reflect.VisibleFields(model) {
		if field.Tag.Get("json") != "" {
			field.Index = nil
			fields = append(fields, field)
		}
	}
	return reflect.StructOf(fields)
}

// changes puts odd values in the place of a JSON value, and of each value within
// it, and calls try each time.
func changes(value any, put func(any), try func()) {
	for _, odd := range []any{
		nil, true, "", "x", "\u00fc\u2028", json.Number("7"), json.Number("-1.50"), json.Number("1e2"), json.Number("9223372036854775808"),
		[]any{},
		[]any{nil},
		[]any{"x"},
		map[string]any{},
		map[string]any{"x": nil},
		map[string]any{"x": "y", "rel": 1},
	} {
		put(odd)
		try()
	}
	put(value)
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			changes(member, func(other any) { v[name] = other }, try)
		}
	case []any:
		changes(v[0], func(other any) { v[0] = other }, try)
	}
}

// TestModelsMeanWhatJSONMeans compares what the models decode with what
// encoding/json makes of the same field tags: which bodies are refused, and what
// is in each field.
func TestModelsMeanWhatJSONMeans(t *testing.T) {
	tried, refused := 0, 0
	for _, m := range models(t) {
		model, plain := m.of, mirror(m.of)
		if _, isPage := model.FieldByName("Next"); isPage {
			continue
		}
		var root any
		decoder := json.NewDecoder(strings.NewReader(sample(model, "x")))
		decoder.UseNumber()
		require.NoError(t, decoder.Decode(&root))
		changes(root, func(other any) { root = other }, func() {
			body, err := wire.Marshal(root)
			require.NoError(t, err)
			want := reflect.New(plain)
			wantErr := json.Unmarshal(body, want.Interface())
			got, err := m.decode(body)
			if err != nil && strings.Contains(err.Error(), "lacks the identifier") {
				assert.NoError(t, wantErr)
				return
			}
			if !wire.IsObject(body) {
				assert.Error(t, err)
				return
			}
			if tried++; err != nil {
				refused++
			}
			if !assert.Equal(t, wantErr == nil, err == nil, "%s: %v, encoding/json: %v in %s", model, err, wantErr, body) || err != nil {
				return
			}
			for i := range plain.NumField() {
				name := plain.Field(i).Name
				if name == "ExpiresAt" && want.Elem().Field(i).IsZero() {
					continue // the client's own estimate
				}
				assert.Equal(t, written(t, want.Elem().Field(i)), written(t, got.Elem().FieldByName(name)), "%s.%s of %s", model, name, body)
			}
		})
	}
	assert.Greater(t, tried, 5000)
	assert.Greater(t, refused, tried/4)
	assert.Less(t, refused, tried*3/4)
}

// decode reads what merchants store as they do, so that it may lack an identifier,
// and the rest as an answer. The error is the innermost.
func (m model) decode(body []byte) (reflect.Value, error) {
	value := reflect.New(m.of)
	if stored, ok := value.Interface().(storedModel); ok {
		return value, stored.UnmarshalJSON(body)
	}
	got, err := m.read(string(body))
	if lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok {
		err = lost.Cause
	}
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return reflect.ValueOf(got), err
}

// written is how values that hold functions are compared.
func written(t *testing.T, v reflect.Value) string {
	t.Helper()
	text, err := json.Marshal(v.Interface())
	require.NoError(t, err)
	return string(text)
}
