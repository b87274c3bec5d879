//go:build !race

// Not with the race detector: models that are decoded one after the other have no races to find.

package clienttest_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
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

// lostAround stands for null in the place of a value, or of the list or amount that it
// is in: a list of which one item cannot be read is lost, and so is an amount without a
// number.
type lostAround struct{}

// changes puts odd values in the place of a JSON value, and of each value within it, and
// calls try each time with the path and the way to put another value there.
func changes(value any, path []string, put func(any), try func(path []string, odd any, put func(any))) {
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
		try(path, odd, put)
	}
	put(value)
	within := func(v any, set func(any), lost bool) func(any) {
		return func(other any) {
			set(other)
			switch {
			case !reflect.DeepEqual(other, lostAround{}):
				put(v)
			case lost:
				put(other)
			default:
				set(nil)
			}
		}
	}
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			changes(member, append(slices.Clone(path), name), within(v, func(other any) { v[name] = other }, name == "amount"), try)
		}
	case []any:
		changes(v[0], path, within(v, func(other any) { v[0] = other }, true), try)
	}
}

// decides reports whether one of the members of a path decides.
func decides(model reflect.Type, path []string) bool {
	for _, name := range path {
		for model.Kind() == reflect.Pointer || model.Kind() == reflect.Slice {
			model = model.Elem()
		}
		if model.Kind() != reflect.Struct {
			return false
		}
		for _, field := range reflect.VisibleFields(model) {
			if member, _, _ := strings.Cut(field.Tag.Get("json"), ","); member == name {
				if field.Tag.Get("wire") != "" {
					return true
				}
				model = field.Type
				break
			}
		}
	}
	return false
}

// insteadOf are the values that an odd one may be taken for, where encoding/json refuses
// it or Decode means something else on purpose: a number for its text, whatever stands
// in metadata for its JSON, what is empty for an empty list or object, an amount without
// a number for none, and what informs and cannot be read for nothing.
func insteadOf(t *testing.T, odd any) []any {
	t.Helper()
	text, err := wire.Marshal(odd)
	require.NoError(t, err)
	in := map[string]any{"x": "y", "rel": "1"} // in metadata
	return []any{lostAround{}, string(text), []any{}, map[string]any{}, in, json.Number(strings.Trim(string(text), `"`))}
}

// TestModelsMeanWhatJSONMeans compares what the models decode with what encoding/json
// makes of the same field tags, and where they differ, with what it makes of what the
// odd value may be taken for. Only what decides is refused.
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
		// expected returns the fields as encoding/json has them; nil for an error.
		expected := func() map[string]string {
			body, err := wire.Marshal(root)
			want := reflect.New(plain)
			if err != nil || json.Unmarshal(body, want.Interface()) != nil {
				return nil
			}
			return fieldsOf(t, plain, want.Elem())
		}
		try := func(path []string, odd any, put func(any)) {
			body, err := wire.Marshal(root)
			require.NoError(t, err)
			got, err := m.decode(body)
			if tried++; err != nil {
				refused++
				assert.True(t, len(path) == 0 || decides(model, path), "%s: %v in %s", model, err, body)
				return
			}
			if want := fieldsOf(t, plain, got.Elem()); !reflect.DeepEqual(want, expected()) {
				found := slices.ContainsFunc(insteadOf(t, odd), func(other any) bool {
					put(other)
					return reflect.DeepEqual(want, expected())
				})
				assert.True(t, found, "%s: %s is read as %v", model, body, want)
				put(odd)
			}
		}
		changes(root, nil, func(other any) { root = other }, try)
	}
	assert.Greater(t, tried, 5000)
	assert.Greater(t, refused, tried/20)
	assert.Less(t, refused, tried/2)
}

// fieldsOf returns the members of a model as they are written, because values that hold
// functions cannot be compared.
func fieldsOf(t *testing.T, plain reflect.Type, model reflect.Value) map[string]string {
	t.Helper()
	fields := map[string]string{}
	for i := range plain.NumField() {
		name := plain.Field(i).Name
		text, err := json.Marshal(model.FieldByName(name).Interface())
		require.NoError(t, err)
		if fields[name] = string(text); name == "ExpiresAt" {
			delete(fields, name) // the client's own estimate where it is missing
		}
	}
	return fields
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
