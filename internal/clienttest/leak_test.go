package clienttest_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/printtest"
)

// canaries are what no printing route may show: a public test card number, and
// texts that stand for a CVN, an account number, a PayID and two keys.
func canaries() []string {
	return []string{"4111111111111111", "CANARY-CVN-9137", "CANARY-ACCOUNT-999994", "canary-payid@example.com", "CANARY_SECRET_KEY", "CANARY_PUBLISHABLE_KEY"}
}

// leaks reports whether a value shows a canary, however it is printed: by its own methods or those of
// what holds it, or by what reflection finds behind it.
func leaks(v any) bool {
	forms := []any{v, []any{v}, struct{ V any }{v}}
	if p := reflect.ValueOf(v); p.Kind() != reflect.Pointer {
		pointer := reflect.New(p.Type())
		pointer.Elem().Set(p)
		forms = append(forms, pointer.Interface())
	} else if !p.IsNil() && p.Elem().CanInterface() {
		forms = append(forms, p.Elem().Interface())
	}
	return slices.ContainsFunc(forms, func(form any) bool {
		return printtest.Shows(printtest.Printed(form), canaries()...) || printtest.Reachable(form, canaries()...)
	})
}

// TestAttack59PrintedValues fills every exported type of the client with secrets and prints it. No
// secret is shown.
func TestAttack59PrintedValues(t *testing.T) {
	types := map[string]bool{}
	for _, of := range reachedTypes() {
		name, _, _ := strings.Cut(of.Name(), "[")
		types[name] = true
		for _, value := range filledValues(t, of) {
			assert.False(t, leaks(value), "%s", of)
		}
	}
	for _, name := range exportedTypes(t) {
		assert.True(t, types[name], "%s is not reached from Client, nor from the functions in roots", name)
	}
	assert.True(t, leaks(struct{ number *string }{new(canaries()[0])}), "what is not kept well is found")
}

// TestAttackRow07PrintedElsewhere prints what is of no secret type and can hold a
// secret all the same: the service's messages, which repeat what was sent, and the
// values of a merchant's own headers. The methods that fmt and log/slog ask for help
// neither in an unexported field nor against gob, a dump, or a client by value.
func TestAttackRow07PrintedElsewhere(t *testing.T) {
	secret := strings.Join(canaries(), " ")
	refused := refusalThatSays(t, secret)
	headers := quickstream.WithHeader("X-Proxy-Token", secret)
	sent := ""
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		sent = r.Header.Get("X-Proxy-Token")
		return answer(200, `{"data":[],"links":[]}`), nil
	}, headers)
	assert.NoError(t, client.Check(t.Context()))
	assert.Equal(t, secret, sent)

	quoted, err := json.Marshal(secret)
	require.NoError(t, err)
	_, undecodable := clientOf(t, says(200, `{"receiptNumber":"R-1","status":[`+string(quoted)+`],"comment":`+string(quoted)+`}`)).Transactions.Get(t.Context(), "R-1", quickstream.WithMaxAttempts(1))
	require.ErrorContains(t, undecodable, "could not be decoded")

	for name, v := range map[string]any{
		"error": refused, "undecodable": undecodable, "cause": &quickstream.UnknownOutcomeError{Cause: refused}, "end of a call": quickstream.EndInfo{Err: refused},
		"client": client, "service": client.Customers,
		"list": client.Customers.List(quickstream.ListCustomersParams{}, headers),
	} {
		assert.False(t, leaks(v), name)
	}
}

// exportedTypes returns the names of all exported types in the package's source.
func exportedTypes(t *testing.T) []string {
	t.Helper()
	var names []string
	files, err := fs.Glob(os.DirFS("../.."), "*.go")
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), "../../"+name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() {
				names = append(names, spec.Name.Name)
			}
			_, body := n.(*ast.BlockStmt)
			return !body
		})
	}
	require.Greater(t, len(names), 100)
	return names
}

// roots are the functions from which types can be reached that no method of a
// client names, and the errors.
func roots() []any {
	return []any{
		quickstream.NewClient, quickstream.WithObserver, quickstream.WithKeySource, quickstream.WithResponseInto, quickstream.WithMaxAttempts,
		quickstream.WithBeforeSend, quickstream.ParseCursor,
		quickstream.FromCard, quickstream.FromBankAccount, quickstream.FromNZBankAccount, quickstream.FromPayTo, quickstream.FromPayToWithAgreement,
		new(quickstream.ValidationError), new(quickstream.APIError), new(quickstream.NetworkError), new(quickstream.UnknownOutcomeError),
		new(quickstream.DecodeError), new(quickstream.DeclinedError), new(quickstream.PendingError),
	}
}

// reachedTypes walks from the client through methods, parameters, results and
// fields to every exported type of the package.
func reachedTypes() []reflect.Type {
	var found []reflect.Type
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		if seen[of] {
			return
		}
		seen[of] = true
		own := of.PkgPath() == modulePath
		if own && ast.IsExported(of.Name()) {
			found = append(found, of)
		}
		if of.PkgPath() != "" && !own && of.Kind() != reflect.Func { // iterators are functions of package iter
			return
		}
		for i := range of.NumMethod() {
			walk(of.Method(i).Type)
		}
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(of.Elem())
		case reflect.Map:
			walk(of.Key())
			walk(of.Elem())
		case reflect.Struct:
			if own && of.Name() != "" {
				walk(reflect.PointerTo(of))
			}
			for i := range of.NumField() {
				walk(of.Field(i).Type)
			}
		case reflect.Func:
			for i := range of.NumIn() {
				walk(of.In(i))
			}
			for i := range of.NumOut() {
				walk(of.Out(i))
			}
		}
	}
	walk(reflect.TypeFor[*quickstream.Client]())
	for _, root := range roots() {
		walk(reflect.TypeOf(root))
	}
	return found
}
