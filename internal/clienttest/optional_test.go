package clienttest_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestPointersToZeroArrive: every optional field is a pointer because its zero
// means something. Each is set to a pointer to zero, alone, and has to add
// members to what is sent.
func TestPointersToZeroArrive(t *testing.T) {
	ignored := map[string]bool{"RefundParams.Original": true, "CaptureParams.Original": true} // never sent
	fields := 0
	for params, value := range validArguments("ID-1") {
		pointer := params == reflect.TypeFor[*quickstream.BilateralTerms]()
		if pointer {
			params, value = params.Elem(), *value.(*quickstream.BilateralTerms)
		} else if params.Kind() != reflect.Struct || !strings.HasSuffix(params.Name(), "Params") {
			continue
		}
		send := func(value reflect.Value) map[string]any {
			if pointer {
				value = value.Addr()
			}
			for _, op := range operations() {
				if body, sent := op.sends(t, value); sent {
					return body
				}
			}
			t.Fatalf("no operation sends %s", params)
			return nil
		}
		for _, path := range pointerFields(params, nil) {
			name := params.Name()
			for depth := range path {
				name += "." + params.FieldByIndex(path[:depth+1]).Name
			}
			if ignored[name] {
				continue
			}
			fields++
			changed := reflect.New(params).Elem()
			changed.Set(reflect.ValueOf(value))
			field := changed.FieldByIndex(path)
			if _, ok := field.Interface().(*quickstream.StoredCredentialData); ok && changed.FieldByName("ECI").IsValid() {
				changed.FieldByName("ECI").SetString(string(quickstream.ECIRecurring)) // without a default
			}
			field.SetZero()
			without := send(changed)
			field.Set(reflect.New(field.Type().Elem()))
			with := send(changed)
			added := 0
			for member := range flat(with) {
				if _, ok := flat(without)[member]; !ok {
					added++
				}
			}
			assert.Positive(t, added, "%s: %v", name, with)
		}
	}
	assert.Greater(t, fields, 25)
	t.Logf("%d optional fields", fields)
}

// pointerFields returns the pointer fields of a struct, and of structs in it.
func pointerFields(of reflect.Type, parent []int) [][]int {
	var found [][]int
	for i := range of.NumField() {
		field := of.Field(i)
		path := append(parent[:len(parent):len(parent)], i)
		switch {
		case !field.IsExported():
		case field.Type.Kind() == reflect.Pointer:
			found = append(found, path)
		case field.Type.Kind() == reflect.Struct:
			found = append(found, pointerFields(field.Type, path)...)
		}
	}
	return found
}

// sends calls the operation with the parameters, if it takes them, and returns
// the members of the body or of the query. Rules that they break are switched off.
func (op operation) sends(t *testing.T, params reflect.Value) (map[string]any, bool) {
	t.Helper()
	var body map[string]any
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
		}
		for name, values := range r.URL.Query() {
			if body == nil {
				body = map[string]any{}
			}
			body[name] = values
		}
		return answer(422, errorBody), nil
	})
	_, err := op.callWith(t.Context(), client, "ID-1", params)
	if invalid, ok := errors.AsType[*quickstream.ValidationError](err); ok {
		var rules []string
		for _, finding := range invalid.Findings {
			rules = append(rules, finding.Rule)
		}
		_, err = op.callWith(t.Context(), client, "ID-1", params, quickstream.WithoutRule(rules...))
	}
	if !errors.Is(err, errNotTaken) {
		_, answered := errors.AsType[*quickstream.APIError](err)
		require.True(t, answered, "%s: %v", op.name, err)
	}
	return body, body != nil
}

// flat returns the paths of all members.
func flat(tree map[string]any) map[string]bool {
	paths := map[string]bool{}
	for name, value := range tree {
		paths[name] = true
		if inner, ok := value.(map[string]any); ok {
			for path := range flat(inner) {
				paths[name+"."+path] = true
			}
		}
	}
	return paths
}

// TestPayToPointersToZeroArrive: the sources of a payment have optional fields
// too.
func TestPayToPointersToZeroArrive(t *testing.T) {
	for final, want := range map[*bool]string{nil: "", new(false): `"finalPayment":false`, new(true): `"finalPayment":true`} {
		for _, source := range []quickstream.PayToSource{
			quickstream.FromPayTo(quickstream.PayToPayment{AgreementToken: "A-1", FinalPayment: final}),
			quickstream.FromPayToWithAgreement(quickstream.PayToPaymentWithAgreement{FinalPayment: final}),
		} {
			body, err := sentBody(t, func(c *quickstream.Client, opts ...quickstream.CallOption) error {
				params := payToPayment("", "10.50")
				params.Source = source
				return second(c.PayTo.Collect(t.Context(), params, opts...))
			})
			require.ErrorIs(t, err, quickstream.ErrInvalid)
			assert.Contains(t, body, want)
			assert.Equal(t, want != "", strings.Contains(body, "finalPayment"))
		}
	}
}
