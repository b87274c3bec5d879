package conformance

import (
	"bytes"
	"encoding/json"
	"testing"
)

// changed returns a copy of the body in which one member was edited.
func changed(t testing.TB, body map[string]any, keys []any, edit func(parent map[string]any, name string)) []byte {
	t.Helper()
	var at any
	decoder := json.NewDecoder(bytes.NewReader(marshal(t, body)))
	decoder.UseNumber()
	if err := decoder.Decode(&at); err != nil {
		t.Fatal(err)
	}
	whole := at
	for _, key := range keys[:len(keys)-1] {
		if name, is := key.(string); is {
			at = at.(map[string]any)[name]
		} else {
			at = at.([]any)[key.(int)]
		}
	}
	edit(at.(map[string]any), keys[len(keys)-1].(string))
	return marshal(t, whole)
}

func remove(parent map[string]any, name string) { delete(parent, name) }

func misspell(parent map[string]any, name string) {
	parent[name+"X"] = parent[name]
	delete(parent, name)
}
