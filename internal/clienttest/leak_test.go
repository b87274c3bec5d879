package clienttest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"expvar"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	htmltemplate "html/template"
	"io"
	"io/fs"
	"log"
	"log/slog"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/template"
	"time"

	"github.com/google/go-querystring/query"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// canaries are what no printing route may show: a public test card number, and
// texts that stand for a CVN, an account number, a PayID and two keys.
func canaries() []string {
	return []string{"4111111111111111", "CANARY-CVN-9137", "CANARY-ACCOUNT-999994", "canary-payid@example.com", "CANARY_SECRET_KEY", "CANARY_PUBLISHABLE_KEY"}
}

// canaryForms are the forms that fmt and the encoders give to the canaries.
var canaryForms = sync.OnceValue(func() map[string][]string {
	forms := map[string][]string{}
	for _, canary := range canaries() {
		raw := []byte(canary)
		forms[canary] = []string{
			canary, strings.ReplaceAll(canary, "@", "%40"), strings.ReplaceAll(canary, "@", `\u0040`), strings.ReplaceAll(canary, "@", "&#64;"),
			hex.EncodeToString(raw), fmt.Sprintf("%X", raw), fmt.Sprintf("% x", raw), strings.Trim(fmt.Sprint(raw), "[]"), fmt.Sprintf("%#v", raw)[len("[]byte{"):],
			base64.StdEncoding.EncodeToString(raw), base64.StdEncoding.EncodeToString([]byte(canary + ":")),
		}
	}
	return forms
})

// leaked returns the canary that a text shows.
func leaked(text string) string {
	for canary, forms := range canaryForms() {
		for _, form := range forms {
			if strings.Contains(text, form) {
				return canary
			}
		}
	}
	return ""
}

// route prints a value in some way.
type route struct {
	name  string
	print func(any) string
}

type exportedHolder struct{ V any }

type unexportedHolder struct{ v any }

func (h unexportedHolder) held() any { return h.v }

// routes are the ways in which values end up in logs, errors, test output and
// stores. Those that fail show their error.
func routes(t *testing.T) []route {
	t.Helper()
	var all []route
	add := func(name string, show func(any) string) { all = append(all, route{name, show}) }
	for _, verb := range strings.Split("v +v #v s +s q +q #q x X #x d +d p #p T t b o O c U #U e E f F g G w 10v -10s .3s", " ") {
		add("%"+verb, func(v any) string { return fmt.Sprintf("%"+verb, v) })
	}
	text := func(encode func(io.Writer, any) error) func(any) string {
		return func(v any) string {
			var b bytes.Buffer
			err := encode(&b, v)
			return b.String() + fmt.Sprint(err)
		}
	}
	add("Sprint", func(v any) string { return fmt.Sprint(v) })
	add("Sprintln", func(v any) string { return fmt.Sprintln("x", v) })
	add("log", text(func(w io.Writer, v any) error { log.New(w, "", 0).Print(v); return nil }))
	add("error %v", func(v any) string { return fmt.Errorf("failed with %v", v).Error() })
	add("error %w", func(v any) string {
		err, ok := v.(error)
		if !ok {
			err = fmt.Errorf("%+v", v)
		}
		return fmt.Sprintf("%+v %#v", fmt.Errorf("failed: %w", err), errors.Join(err))
	})
	add("json", text(func(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }))
	add("json indented", func(v any) string { out, err := json.MarshalIndent(v, "", " "); return string(out) + fmt.Sprint(err) })
	add("xml", text(func(w io.Writer, v any) error { return xml.NewEncoder(w).Encode(v) }))
	add("gob", text(func(w io.Writer, v any) error { return gob.NewEncoder(w).Encode(v) }))
	add("query", func(v any) string { values, err := query.Values(v); return values.Encode() + fmt.Sprint(values, err) })
	add("expvar", func(v any) string {
		var shown string
		func() {
			defer func() { shown += fmt.Sprint(recover()) }()
			shown = expvar.Func(func() any { return v }).String()
		}()
		return shown
	})
	for _, body := range []string{"{{.}}", `{{printf "%v %+v %#v" . . .}}`, "{{print .}}", "{{html .}} {{js .}} {{urlquery .}}"} {
		add("template "+body, text(template.Must(template.New("").Parse(body)).Execute))
	}
	for _, body := range []string{"{{.}}", `<a title="{{.}}" href="/x?{{.}}">`, "<script>var x = {{.}};</script>", "<style>a { b: {{.}} }</style>"} {
		add("html template "+body, text(htmltemplate.Must(htmltemplate.New("").Parse(body)).Execute))
	}
	for name, handler := range map[string]func(io.Writer) slog.Handler{
		"text": func(w io.Writer) slog.Handler {
			return slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})
		},
		"json": func(w io.Writer) slog.Handler {
			return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug})
		},
	} {
		add("slog "+name, text(func(w io.Writer, v any) error {
			logger := slog.New(handler(w))
			logger.Info("x", "v", v)
			logger.With("v", v).WithGroup("g").Debug("x", slog.Group("h", slog.Any("v", v)), slog.Any("list", []any{v}))
			return nil
		}))
	}
	add("panic", func(v any) (shown string) {
		defer func() {
			recovered := recover()
			shown = fmt.Sprintf("%v %+v %#v", recovered, recovered, []any{recovered})
		}()
		panic(v)
	})
	add("testify", func(v any) string {
		var out recorder
		other := reflect.New(reflect.TypeOf(v)).Elem().Interface()
		assert.Equal(&out, other, v)
		assert.Nil(&out, v)
		assert.Empty(&out, v)
		assert.Contains(&out, []any{"x"}, v)
		assert.ElementsMatch(&out, []any{v}, []any{other})
		assert.JSONEq(&out, "{}", fmt.Sprint(v))
		return string(out)
	})
	return all
}

// recorder keeps what testify says about a failure.
type recorder string

func (r *recorder) Errorf(format string, args ...any) { *r += recorder(fmt.Sprintf(format, args...)) }

// wrappings put a value where values stand in programs.
func wrappings(v any) map[string]any {
	if reflect.TypeOf(v).Kind() == reflect.String {
		return map[string]any{"value": v} // can hide nothing, and has nothing to hide
	}
	wrapped := map[string]any{
		"value": v, "exported field": exportedHolder{v}, "unexported field": unexportedHolder{v}, "slice": []any{v}, "map": map[string]any{"k": v},
		"array": [1]any{v}, "deep": map[string]any{"a": []any{&exportedHolder{unexportedHolder{v}}}},
	}
	if p := reflect.ValueOf(v); p.IsValid() {
		pointer := reflect.New(p.Type())
		pointer.Elem().Set(p)
		wrapped["pointer"] = pointer.Interface()
		wrapped["pointer in unexported field"] = &unexportedHolder{pointer.Interface()}
		if p.Kind() == reflect.Pointer && !p.IsNil() && p.Elem().CanInterface() {
			wrapped["pointed to"] = p.Elem().Interface()
		}
		typed := reflect.MakeSlice(reflect.SliceOf(p.Type()), 1, 1)
		typed.Index(0).Set(p)
		wrapped["typed slice"] = typed.Interface()
	}
	return wrapped
}

// leaks sends a value along every route in every wrapping, and returns those that
// show a canary.
func leaks(all []route, v any) (found []string, printed int) {
	for wrapping, wrapped := range wrappings(v) {
		for _, route := range all {
			printed++
			if canary := leaked(route.print(wrapped)); canary != "" {
				found = append(found, fmt.Sprintf("%s, %s: %s", wrapping, route.name, canary))
			}
		}
	}
	slices.Sort(found)
	return found, printed
}

// leakyText and leakyPointer are how secrets are usually kept.
type leakyText string

func (leakyText) String() string { return "[redacted]" }

type leakyPointer struct{ text *string }

func (leakyPointer) String() string   { return "[redacted]" }
func (leakyPointer) GoString() string { return "[redacted]" }

type leakyField struct{ Number string }

// naiveLeaks sees the usual ways to keep a secret caught, so that what is not caught
// is kept well.
func naiveLeaks(t *testing.T, all []route) {
	t.Helper()
	number := canaries()[0]
	for name, control := range map[string]any{
		"text with a String method": leakyText(number), "pointer with a String method": leakyPointer{&number}, "plain field": leakyField{number},
		"bytes": []byte(number), "map": map[string]string{number: ""}, "error": errors.New(number), "unexported": unexportedHolder{number},
	} {
		found, printed := leaks(all, control)
		assert.NotEmpty(t, found, name)
		t.Logf("%s: shown by %d of %d", name, len(found), printed)
	}
	for _, form := range []string{"%x", "%X", "% x", "%v", "%#v", "%q"} {
		assert.NotEmpty(t, leaked(fmt.Sprintf(form, []byte(number))), form)
	}
	assert.Empty(t, leaked(fmt.Sprint(time.Now(), &number)))
	found, printed := leaks(all, leakyField{"ordinary"})
	assert.Empty(t, found)
	assert.Greater(t, printed, 400)
	assert.NotNil(t, unexportedHolder{1}.held())
}

// TestAttack59PrintedValues fills every exported type of the client with secrets and
// prints it in every way that logs, encoders, templates and the differences of failed tests
// have. No secret is shown, as those are that the naive types hold.
func TestAttack59PrintedValues(t *testing.T) {
	all := routes(t)
	naiveLeaks(t, all)
	reached := reachedTypes()
	var printed atomic.Int64
	var wg sync.WaitGroup
	types := map[string]bool{}
	for _, of := range reached {
		name, _, _ := strings.Cut(of.Name(), "[")
		types[name] = true
		values := filledValues(t, of)
		wg.Go(func() {
			for _, value := range values {
				found, n := leaks(all, value)
				assert.Empty(t, found, "%s", of)
				printed.Add(int64(n))
			}
		})
	}
	wg.Wait()
	for _, name := range exportedTypes(t) {
		assert.True(t, types[name], "%s is not reached from Client, nor from the functions in roots", name)
	}
	t.Logf("%d types, %d with their parameters; %d routes; %d printed forms", len(types), len(reached), len(all), printed.Load())
}

// TestAttackRow07PrintedElsewhere prints what is of no secret type and can hold a
// secret all the same: the service's messages, which repeat what was sent, and the
// values of a merchant's own headers. The methods that fmt and log/slog ask for help
// neither in an unexported field nor against gob, a dump, or a client by value.
func TestAttackRow07PrintedElsewhere(t *testing.T) {
	all := routes(t)
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
	_, undecodable := clientOf(t, says(200, `{"receiptNumber":"R-1","status":[`+string(quoted)+`],"comment":`+string(quoted)+`}`)).Transactions.Get(t.Context(), "R-1")
	require.ErrorContains(t, undecodable, "could not be decoded")

	for name, v := range map[string]any{
		"error": refused, "undecodable": undecodable, "cause": &quickstream.UnknownOutcomeError{Cause: refused}, "end of a call": quickstream.EndInfo{Err: refused},
		"client": client, "service": client.Customers,
		"list": client.Customers.List(quickstream.ListCustomersParams{}, headers),
	} {
		found, _ := leaks(all, v)
		assert.Empty(t, found, name)
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
		quickstream.WithBeforeSend, quickstream.ParseCursor, quickstream.RequireApproved,
		quickstream.FromCard, quickstream.FromBankAccount, quickstream.FromNZBankAccount, quickstream.FromPayTo, quickstream.FromPayToWithAgreement,
		new(quickstream.ValidationError), new(quickstream.APIError), new(quickstream.NetworkError), new(quickstream.UnknownOutcomeError),
		new(quickstream.DecodeError), new(quickstream.DeclinedError), new(quickstream.NotSettledError),
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
