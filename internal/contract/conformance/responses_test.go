package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream"
)

// model is what the client makes of a response.
type model interface {
	Raw() json.RawMessage
	Extra() map[string]json.RawMessage
}

// TestClientResponses answers every method with every documented member, and
// looks for what the client lost of it.
func TestClientResponses(t *testing.T) {
	made := everyCall(t)
	checked, excused := map[string]bool{}, map[string]bool{}
	for _, e := range made {
		e.checkAnswer(t)
		if once := fmt.Sprint(e.method, e.answer.status); !checked[once] {
			checked[once] = true
			e.checkResult(t, excused)
		}
	}
	for difference := range differences {
		if !excused[difference] {
			t.Errorf("%q is in differences and there is none", difference)
		}
	}
}

func (e exchange) checkResult(t *testing.T, excused map[string]bool) {
	t.Helper()
	if key, ok := e.result.(*quickstream.APIKey); ok {
		e.checkKey(t, key)
		return
	}
	found := models(e.result)
	for _, m := range found {
		lost(m, excused, func(what string) { t.Errorf("%s: %s", e.name(), what) })
		e.checkWritten(t, m)
	}
	members := e.op.ResponseMembers(e.answer.status)
	if members != nil && len(found) == 0 && e.method != "Check" && e.answer.status != http.StatusAccepted {
		t.Errorf("%s: the call returns nothing of its response", e.name())
	}
}

// TestClientReadsNull answers every method with null wherever that is documented.
func TestClientReadsNull(t *testing.T) {
	r, c, all := newRun(t)
	for _, call := range clientCalls(t) {
		op, ok := c.doc.Operation(call.operation)
		if !ok || c.answers[call.operation].contentType != "application/json" {
			continue
		}
		a := all[op.ID][0]
		nullable := map[string]bool{}
		for _, m := range op.ResponseMembers(a.status) {
			nullable[m.Path] = slices.Contains(m.Types, "null")
		}
		a.body = marshal(t, withNulls(decoded(t, a.body), "", nullable))
		if err := op.ValidateResponse(a.status, http.Header{"Content-Type": {a.contentType}}, a.body); err != nil {
			t.Errorf("%s: the answer given: %v", op.ID, err)
		}
		c.answers[op.ID] = a
		if _, err := r.perform(call); err != nil {
			t.Errorf("%s %s: %v", call.method, call.form, err)
		}
	}
}

func withNulls(value any, path string, nullable map[string]bool) any {
	switch v := value.(type) {
	case map[string]any:
		for name, child := range v {
			inner := strings.TrimPrefix(path+"."+name, ".")
			if v[name] = nil; !nullable[inner] {
				v[name] = withNulls(child, inner, nullable)
			}
		}
	case []any:
		for i := range v {
			v[i] = withNulls(v[i], path+"[]", nullable)
		}
	}
	return value
}

// models returns the responses in a result, which may be the pages of a list.
func models(result any) []model {
	if m, ok := result.(model); ok {
		return []model{m}
	}
	var out []model
	if list := reflect.ValueOf(result); list.Kind() == reflect.Slice {
		for i := range list.Len() {
			out = append(out, models(list.Index(i).Interface())...)
		}
	}
	return out
}

// checkAnswer makes sure that the answer itself is valid and whole.
func (e exchange) checkAnswer(t *testing.T) {
	t.Helper()
	header := http.Header{"Content-Type": {e.answer.contentType}}
	if err := e.op.ValidateResponse(e.answer.status, header, e.answer.body); err != nil {
		t.Errorf("%s: the answer given: %v", e.name(), err)
	}
	members := e.op.ResponseMembers(e.answer.status)
	if members == nil {
		return
	}
	has, err := Documented(members, e.answer.body)
	if err != nil || len(has) != len(members) {
		t.Errorf("%s: the answer given has %d of %d members, %v", e.name(), len(has), len(members), err)
	}
}

// checkWritten makes sure that what is kept is what was received, and so is what
// is written again of a model that merchants store.
func (e exchange) checkWritten(t *testing.T, m model) {
	t.Helper()
	if !bytes.Equal(m.Raw(), e.answer.body) {
		t.Errorf("%s: keeps\n%s\nwant\n%s", e.name(), m.Raw(), e.answer.body)
	}
	if _, stored := m.(json.Marshaler); !stored {
		return
	}
	written, err := json.Marshal(m)
	if err != nil {
		t.Errorf("%s: %v", e.name(), err)
		return
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if err := e.op.ValidateResponse(e.answer.status, header, written); err != nil {
		t.Errorf("%s: written again: %v", e.name(), err)
	}
	if members, want := decoded(t, written), decoded(t, e.answer.body); !reflect.DeepEqual(members, want) {
		t.Errorf("%s: written again:\n%s\nwant\n%s", e.name(), written, e.answer.body)
	}
}

// checkKey is for the one response that is a secret: it keeps nothing of its body
// and cannot be written.
func (e exchange) checkKey(t *testing.T, key *quickstream.APIKey) {
	t.Helper()
	unset(reflect.ValueOf(key), "", func(field string) { t.Errorf("%s: APIKey%s is not set", e.name(), field) })
	sent := decoded(t, e.answer.body)
	if key.Reveal() != sent["key"] || key.KeyName != sent["keyName"] || key.ExpiryDate != sent["expiryDate"] {
		t.Errorf("%s: read %s and %s", e.name(), key.KeyName, key.ExpiryDate)
	}
}

// lost reports what a model that was read from a whole response lacks, and what it
// has that no response gives; and marks the differences that excuse something.
func lost(m model, excused map[string]bool, report func(string)) {
	differ := func(where, what string) {
		if _, known := differences[where]; known {
			excused[where] = true
		} else {
			report(where + " is " + what)
		}
	}
	for path := range m.Extra() {
		differ(path[strings.LastIndex(path, ".")+1:], "documented and not in the model")
	}
	unset(reflect.ValueOf(m), "", func(field string) {
		switch field {
		case ".Next", ".Unreadable": // no members, but what the client found out about a page
		default:
			differ(fmt.Sprintf("%T%s", m, field), "in the model and not documented")
		}
	})
}

// differences are documented members that the client leaves to Extra, by their
// name, and its fields for what no response is documented to have; and why.
var differences = map[string]string{
	"anything":                         "stands in the samples for members that are not published",
	"user":                             "seen in one third party's table of transactions, without a meaning",
	"*quickstream.ThreeDSResult.Links": "other responses have them",
}

func decoded(t *testing.T, body []byte) map[string]any {
	t.Helper()
	var members map[string]any
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&members); err != nil {
		t.Fatal(err)
	}
	return members
}

// unset reports every exported field below a value that has none.
func unset(at reflect.Value, path string, report func(string)) {
	if zero, ok := at.Interface().(interface{ IsZero() bool }); ok {
		if zero.IsZero() {
			report(path)
		}
		return
	}
	if at.IsZero() {
		report(path)
		return
	}
	if link, ok := at.Interface().(quickstream.Link); ok && link.Href() == "" {
		report(path + ".Href")
	}
	switch at.Kind() {
	case reflect.Pointer:
		unset(at.Elem(), path, report)
	case reflect.Slice:
		for i := range at.Len() {
			unset(at.Index(i), path, report)
		}
		if at.Len() == 0 {
			report(path)
		}
	case reflect.Struct:
		for i := range at.NumField() {
			if f := at.Type().Field(i); f.IsExported() {
				unset(at.Field(i), path+"."+f.Name, report)
			}
		}
	}
}
