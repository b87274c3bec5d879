package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// member is one member of a body: its path as documented, and the keys that lead there.
type member struct {
	path string
	keys []any
}

func membersOf(value any, path string, keys []any) (out []member) {
	switch v := value.(type) {
	case map[string]any:
		for name, child := range v {
			m := member{strings.TrimPrefix(path+"."+name, "."), append(slices.Clone(keys), name)}
			out = append(append(out, m), membersOf(child, m.path, m.keys)...)
		}
	case []any:
		for i, child := range v {
			out = append(out, membersOf(child, path+"[]", append(slices.Clone(keys), i))...)
		}
	}
	return out
}

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

func wrongType(parent map[string]any, name string) {
	if _, isArray := parent[name].([]any); isArray {
		parent[name] = true
		return
	}
	parent[name] = []any{}
}

// find returns the documented member at a path, and whether anything may stand there.
func find(members []Member, path string) (m Member, free bool) {
	for _, m := range members {
		if m.Path == path {
			return m, false
		}
		if inside, ok := strings.CutSuffix(m.Path, "*"); ok && strings.HasPrefix(path, inside) && len(m.Types) == 0 {
			free = true
		}
	}
	return Member{}, free
}

// TestEveryDocumentedMemberIsChecked spoils every member of every sample in turn. Each spoilt body
// differs from a valid one in that member only.
func TestEveryDocumentedMemberIsChecked(t *testing.T) {
	doc, checks := document(t), 0
	jsonHeader := http.Header{"Content-Type": {jsonType}, "X-Webhook-Signature": {"t=1772320530000,v1=abc"}}
	done := map[string]bool{} // operations that return the same model have the same samples
	for _, e := range readSamples(t).Exchanges {
		op, _ := doc.Operation(e.Operation)
		webhook := strings.HasPrefix(e.Operation, "WEBHOOK ")
		request := func(body []byte) error { return op.ValidateRequestBody(jsonType, body) }
		if webhook {
			request = func(body []byte) error { return doc.ValidateNotification(jsonHeader, body) }
		}
		if v, ok := op.RequestVariant(marshal(t, e.Body)); ok {
			checks += spoil(t, e.Operation+" request", v.Members, e.Body, request, !webhook)
		}
		members := op.ResponseMembers(e.Status)
		if key := fmt.Sprint(members, e.Response); e.Response != nil && !done[key] {
			done[key] = true
			checks += spoil(t, fmt.Sprint(e.Operation, " response ", e.Status), members, e.Response, func(body []byte) error {
				return op.ValidateResponse(e.Status, jsonHeader, body)
			}, false)
		}
	}
	if checks < 2_000 {
		t.Errorf("only %d spoilt bodies were tried", checks)
	}
}

// spoil expects each spoilt body to be refused. In an open body a misspelt member passes, and has to
// be named as undocumented instead.
func spoil(t *testing.T, where string, members []Member, body map[string]any, validate func([]byte) error, closed bool) (tried int) {
	t.Helper()
	if err := validate(marshal(t, body)); err != nil {
		t.Errorf("%s: the sample: %v", where, err)
	}
	for _, p := range membersOf(body, "", nil) {
		documented, free := find(members, p.path)
		if free {
			continue
		}
		refused := func(what string, edit func(map[string]any, string)) {
			tried++
			if validate(changed(t, body, p.keys, edit)) == nil {
				t.Errorf("%s: %s passes with %s", where, p.path, what)
			}
		}
		refused("a wrong type", wrongType)
		if documented.Required {
			refused("no value", remove)
		}
		if documented.Path == "" { // a key of the caller's own, as in metadata
			continue
		}
		if closed {
			refused("a misspelt name", misspell)
			continue
		}
		unknown, err := Undocumented(members, changed(t, body, p.keys, misspell))
		if _, inside := find(members, p.path+"X"); !inside && (err != nil || !slices.Equal(unknown, []string{p.path + "X"})) {
			t.Errorf("%s: misspelt %s: undocumented are %v, %v", where, p.path, unknown, err)
		}
	}
	return tried
}
