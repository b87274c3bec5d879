package clienttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// response is what keeps the source that it was decoded from.
type response interface {
	Raw() json.RawMessage
	Extra() map[string]json.RawMessage
}

// storedModel is a response that merchants store.
type storedModel interface {
	response
	json.Marshaler
	json.Unmarshaler
}

// model is a type of response, and how an answer becomes one.
type model struct {
	of   reflect.Type
	read func(body string) (response, error)
}

// models finds every response among the results of all operations.
func models(t testing.TB) []model {
	t.Helper()
	var found []model
	seen := map[reflect.Type]bool{}
	add := func(of reflect.Type, op operation, form string) {
		read := func(body string) (response, error) {
			client := clientOf(t, says(200, fmt.Sprintf(form, body)), quickstream.WithMaxAttempts(1))
			return op.response(t.Context(), client, of)
		}
		if seen[of] || !of.Implements(reflect.TypeFor[response]()) {
			return
		}
		body := sample(of, of.Elem().Name())
		if got, err := read(body); err == nil && string(got.Raw()) == body { // and not one of several requests
			seen[of] = true
			found = append(found, model{of.Elem(), read})
		}
	}
	for _, op := range operations() {
		result := op.method(clientOf(t, nil)).Type().Out(0)
		if pages, isList := result.MethodByName("Pages"); isList {
			page := pages.Type.Out(0).In(0).In(0) // of the function that takes the pages
			add(page, op, "%s")
			data, _ := page.Elem().FieldByName("Data")
			add(data.Type.Elem(), op, `{"data":[%s]}`)
		} else {
			add(result, op, "%s")
		}
	}
	return found
}

// response makes a call and returns what it gives of a type: the result, the first
// page of a list, or the first item of that.
func (op operation) response(ctx context.Context, c *quickstream.Client, of reflect.Type) (response, error) {
	out, err := op.results(ctx, c, "ID-1", reflect.Value{}, nil)
	if err != nil {
		return nil, err
	}
	if pages := out[0].MethodByName("Pages"); pages.IsValid() {
		for page, err := range pages.Call([]reflect.Value{reflect.ValueOf(ctx)})[0].Seq2() {
			out = []reflect.Value{page, err}
			break
		}
	}
	if err, _ := out[1].Interface().(error); err != nil {
		return nil, err
	}
	if out[0].Type() != of {
		data := out[0].Elem().FieldByName("Data")
		if unreadable := out[0].Elem().FieldByName("Unreadable"); unreadable.Len() > 0 {
			return nil, unreadable.Index(0).Interface().(error)
		}
		if data.Len() == 0 {
			return nil, quickstream.ErrNotFound
		}
		out[0] = data.Index(0)
	}
	return out[0].Interface().(response), nil
}

// storedModels makes an empty one of every response that merchants store.
func storedModels(t testing.TB) []func() storedModel {
	t.Helper()
	var found []func() storedModel
	for _, m := range models(t) {
		if reflect.PointerTo(m.of).Implements(reflect.TypeFor[storedModel]()) {
			found = append(found, func() storedModel { return reflect.New(m.of).Interface().(storedModel) })
		}
	}
	return found
}

// sample returns JSON that gives every modelled member of a type a value, and
// every object a member that nobody knows.
func sample(of reflect.Type, name string) string {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch of {
	case reflect.TypeFor[quickstream.Date]():
		return `"2026-03-01"`
	case reflect.TypeFor[quickstream.Timestamp]():
		return `"2026-03-01T10:11:12.345+1100"`
	case reflect.TypeFor[quickstream.Amount]():
		return `{"currency":"AUD","amount":12.50,"displayAmount":"$12.50","newMember":{"in":"amount"}}`
	case reflect.TypeFor[quickstream.Link]():
		return `{"rel":"self","href":"https://api.invalid/rest/v1/x","requestMethod":"GET"}`
	}
	switch of.Kind() {
	case reflect.String:
		if name == "customerId" { // of the list that is asked for
			return `"ID-1"`
		}
		return fmt.Sprintf("%q", "<"+name+"> & more")
	case reflect.Bool:
		return "true"
	case reflect.Int64:
		return "9007199254740993"
	case reflect.Slice:
		return "[" + sample(of.Elem(), name) + "," + sample(of.Elem(), name) + "]"
	case reflect.Map:
		if name != "metadata" {
			return `{"own":"x"}`
		}
		return `{"Colour":"blue","colour":"red","":"empty","a.b":"dot"}`
	case reflect.Struct:
		members := []string{fmt.Sprintf(`"newMember":{"in":%q,"list":[1.50,{"deep":null}]}`, of.Name())}
		for _, field := range reflect.VisibleFields(of) {
			if member, _, _ := strings.Cut(field.Tag.Get("json"), ","); member != "" {
				members = append(members, fmt.Sprintf("%q:%s", member, sample(field.Type, member)))
			}
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	panic("no sample for " + of.String())
}

func decodedTree(t *testing.T, data []byte) map[string]any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var tree map[string]any
	require.NoError(t, dec.Decode(&tree), "%s", data)
	return tree
}

// TestSealedParametersAreNotMarshalled: what is in them could not be read back, and
// storing parameters without it has to fail at once.
func TestSealedParametersAreNotMarshalled(t *testing.T) {
	source := quickstream.FromSingleUseToken("TOKEN-1")
	for _, v := range []any{
		source,
		quickstream.PayParams{Source: source},
		&quickstream.PayParams{Source: quickstream.FromCard(approvedCard())},
		quickstream.PreauthoriseParams{Source: source},
		quickstream.VerifyAccountParams{Source: source},
	} {
		text, err := json.Marshal(v)
		require.ErrorContains(t, err, "Plan", "%T", v)
		assert.Empty(t, text)
		assert.NotContains(t, err.Error(), "TOKEN-1")
	}
}
