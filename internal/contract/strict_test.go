package contract_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream/internal/contract"
)

// place is one member of a body: its path as documented, and the keys that lead there.
type place struct {
	path string
	keys []any
}

func places(value any) []place {
	var out []place
	var walk func(value any, path string, keys []any)
	walk = func(value any, path string, keys []any) {
		switch v := value.(type) {
		case map[string]any:
			for name, child := range v {
				p := place{path: strings.TrimPrefix(path+"."+name, "."), keys: append(slices.Clone(keys), name)}
				out = append(out, p)
				walk(child, p.path, p.keys)
			}
		case []any:
			for i, child := range v {
				walk(child, path+"[]", append(slices.Clone(keys), i))
			}
		}
	}
	walk(value, "", nil)
	return out
}

// changed returns a copy of the body in which one place was edited.
func changed(t testing.TB, body map[string]any, keys []any, edit func(parent map[string]any, name string)) []byte {
	t.Helper()
	var copied any
	decoder := json.NewDecoder(bytes.NewReader(encode(t, body)))
	decoder.UseNumber()
	if err := decoder.Decode(&copied); err != nil {
		t.Fatal(err)
	}
	at := copied
	for _, key := range keys[:len(keys)-1] {
		switch k := key.(type) {
		case string:
			at = at.(map[string]any)[k]
		case int:
			at = at.([]any)[k]
		}
	}
	edit(at.(map[string]any), keys[len(keys)-1].(string))
	return encode(t, copied)
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

// find returns the documented member that a place is, and whether anything may
// stand there.
func find(members []contract.Member, path string) (m contract.Member, free bool) {
	for _, m := range members {
		if m.Path == path {
			return m, false
		}
		if inside, ok := strings.CutSuffix(m.Path, "*"); ok && strings.HasPrefix(path, inside) && len(m.Types) == 0 {
			free = true
		}
	}
	return contract.Member{}, free
}

// TestEveryDocumentedMemberIsChecked spoils every member of every sample in
// turn. Each spoilt body differs from a valid one in that member only.
func TestEveryDocumentedMemberIsChecked(t *testing.T) {
	s := loadSamples(t)
	checks := 0
	done := map[string]bool{} // operations that return the same model have the same samples
	for _, e := range s.Exchanges {
		op := s.operation(t, e.Operation)
		request := func(body []byte) error { return s.validateBody(t, e, body) }
		response := func(body []byte) error { return op.ValidateResponse(e.Status, e.responseHeader(), body) }
		if v, ok := op.RequestVariant(encode(t, e.Body)); ok {
			checks += spoil(t, e.Operation+" request", v.Members, e.Body, request, !e.webhook())
		}
		members := op.ResponseMembers(e.Status)
		if key := fmt.Sprint(members, e.Response); !done[key] {
			done[key] = true
			checks += spoil(t, fmt.Sprint(e.Operation, " response ", e.Status), members, e.Response, response, false)
		}
	}
	if checks < 2_000 {
		t.Errorf("only %d spoilt bodies were tried", checks)
	}
}

// spoil expects each spoilt body to be refused. In an open body a misspelt
// member passes, and has to be named as undocumented instead.
func spoil(t *testing.T, where string, members []contract.Member, body map[string]any, validate func([]byte) error, closed bool) int {
	t.Helper()
	tried := 0
	for _, p := range places(body) {
		member, free := find(members, p.path)
		if free {
			continue
		}
		refused := func(what string, spoilt []byte) {
			tried++
			if validate(spoilt) == nil {
				t.Errorf("%s: %s passes with %s", where, p.path, what)
			}
		}
		refused("a wrong type", changed(t, body, p.keys, wrongType))
		if member.Required {
			refused("no value", changed(t, body, p.keys, remove))
		}
		if member.Path == "" { // a key of the caller's own, as in metadata
			continue
		}
		misspelt := changed(t, body, p.keys, misspell)
		if closed {
			refused("a misspelt name", misspelt)
			continue
		}
		unknown, err := contract.Undocumented(members, misspelt)
		if _, inside := find(members, p.path+"X"); !inside && (err != nil || !slices.Equal(unknown, []string{p.path + "X"})) {
			t.Errorf("%s: misspelt %s: undocumented are %v, %v", where, p.path, unknown, err)
		}
	}
	return tried
}
