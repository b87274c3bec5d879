package webhooks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// plain is an endpoint that checks the signature, and nothing else before it.
func plain(t *testing.T, read func(io.Reader) ([]byte, error)) http.Handler {
	t.Helper()
	v, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{currentSecret}, signature.WithClock(fixed))
	if err != nil {
		t.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := read(r.Body)
		if err == nil {
			err = v.Verify([]string{r.Header.Get(signature.Header)}, body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
		}
	})
}

// The signature is over the bytes as they are, and is judged before they are
// decoded: what cannot be decoded is refused for its signature first.
//
// The naive twin decodes first and verifies what it encodes again: another body with the
// same meaning to it, here an earlier id, has the signature of the genuine one.
func TestAttack46DecodedBeforeVerified(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"re-encoded":      strings.Replace(confirmedBody, `,"data"`, `, "data"`, 1),
		"tampered":        strings.Replace(confirmedBody, "AGR0001", "AGR0002", 1),
		"truncated":       confirmedBody[:len(confirmedBody)-2],
		"longer":          confirmedBody + "\n",
		"not JSON at all": "{{{{",
		"empty":           "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := signed(t, confirmedBody)
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
			if _, err := newVerifier(t).Verify(r); !errors.Is(err, signature.ErrMismatch) {
				t.Errorf("got %v", err)
			}
			_, err := newVerifier(t).Verify(signed(t, body))
			if _, unparsable := errors.AsType[*webhooks.ParseError](err); err != nil && !unparsable {
				t.Errorf("with its own signature: %v", err)
			}
		})
	}
	smuggled := strings.Replace(confirmedBody, `"id"`, `"id":"5f2c8a54-9999","id"`, 1)
	encode := func(body string) []byte {
		var members map[string]any
		if err := json.Unmarshal([]byte(body), &members); err != nil {
			t.Fatal(err)
		}
		encoded, _ := json.Marshal(members)
		return encoded
	}
	r := signed(t, string(encode(confirmedBody)))
	naive := plain(t, func(io.Reader) ([]byte, error) { return encode(smuggled), nil })
	if w := post(naive, r); w.Code != http.StatusOK {
		t.Errorf("the naive endpoint answered %d", w.Code)
	}
	if _, err := newVerifier(t).VerifyBody(r.Header, []byte(smuggled)); !errors.Is(err, signature.ErrMismatch) {
		t.Errorf("got %v", err)
	}
}

// A comparison that ends at the first byte which differs tells in its time how far a
// guess was right. No test can measure that reliably, so this one reads the code: what
// is secret is compared in constant time, all of it, and by nothing else.
func TestAttack46And55ConstantTime(t *testing.T) {
	t.Parallel()
	compares := func(file, name string) (constant int, other []string) {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range tree.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Name.Name != name {
				continue
			}
			for node := range ast.Preorder(f.Body) {
				call, ok := node.(*ast.CallExpr)
				switch {
				case !ok:
				case types.ExprString(call.Fun) == "hmac.Equal", types.ExprString(call.Fun) == "subtle.ConstantTimeCompare":
					constant++
				case strings.Contains(types.ExprString(call.Fun), "Equal"), strings.Contains(types.ExprString(call.Fun), "Compare"):
					other = append(other, types.ExprString(call.Fun))
				}
			}
		}
		return constant, other
	}
	for _, test := range []struct {
		file, name string
		want       int
	}{{"signature/hmac.go", "Verify", 1}, {"basic.go", "admits", 2}} {
		if got, other := compares(test.file, test.name); got != test.want || len(other) > 0 {
			t.Errorf("%s: %d comparisons in constant time, and %q", test.name, got, other)
		}
	}
}

// A stranger, or a broken sender, posts more than a notification can be: nothing beyond
// the limit is read, and it is answered 413. The naive endpoint reads all of it.
func TestAttack50BodyTooLarge(t *testing.T) {
	t.Parallel()
	padded := func(length int) string { return confirmedBody + strings.Repeat(" ", length-len(confirmedBody)) }
	for name, test := range map[string]struct {
		length int
		opts   []webhooks.VerifierOption
		want   error
	}{
		"at the default":    {webhooks.DefaultMaxBody, nil, nil},
		"beyond it":         {webhooks.DefaultMaxBody + 1, nil, webhooks.ErrBodyTooLarge},
		"at one's own":      {1000, []webhooks.VerifierOption{webhooks.WithMaxBody(1000)}, nil},
		"beyond one's own":  {1001, []webhooks.VerifierOption{webhooks.WithMaxBody(1000)}, webhooks.ErrBodyTooLarge},
		"raised above both": {2 << 20, []webhooks.VerifierOption{webhooks.WithMaxBody(2 << 20)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVerifier(t, test.opts...)
			body := padded(test.length)
			if _, err := v.Verify(signed(t, body)); !errors.Is(err, test.want) {
				t.Errorf("announced: got %v, want %v", err, test.want)
			}
			// A sender need not say how long the body is.
			r := signed(t, body)
			source := &counting{Reader: r.Body}
			r.Body, r.ContentLength = source, -1
			if _, err := v.Verify(r); !errors.Is(err, test.want) {
				t.Errorf("unannounced: got %v, want %v", err, test.want)
			}
			r.Body = io.NopCloser(strings.NewReader(body))
			if w := post(plain(t, io.ReadAll), r); w.Code != http.StatusOK {
				t.Errorf("the naive endpoint answered %d", w.Code)
			}
			if source.n > test.length {
				t.Errorf("%d bytes were read", source.n)
			}
			if _, err := v.VerifyBody(r.Header, []byte(body)); !errors.Is(err, test.want) {
				t.Errorf("read before: got %v, want %v", err, test.want)
			}
		})
	}
}

// A body that never ends is cut at the limit. The naive endpoint stops where the source
// of this test does.
func TestAttack50EndlessBody(t *testing.T) {
	t.Parallel()
	r := signed(t, confirmedBody)
	source := &counting{Reader: endless{}}
	r.Body, r.ContentLength = source, -1
	if _, err := newVerifier(t).Verify(r); !errors.Is(err, webhooks.ErrBodyTooLarge) {
		t.Errorf("got %v", err)
	}
	if source.n > 2*webhooks.DefaultMaxBody {
		t.Errorf("%d bytes were read", source.n)
	}
	naive := &counting{Reader: io.LimitReader(endless{}, 32<<20)}
	r.Body = naive
	if w := post(plain(t, io.ReadAll), r); w.Code != http.StatusUnauthorized || naive.n != 32<<20 {
		t.Errorf("the naive endpoint answered %d after %d bytes", w.Code, naive.n)
	}
}

// A genuine signature under another method, or of a body that would have to be unpacked
// before it can be verified. The naive endpoint takes all of them.
func TestAttack52Request(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*http.Request)
		want   error
	}{
		"as sent":            {func(*http.Request) {}, nil},
		"no content type":    {func(r *http.Request) { r.Header.Del("Content-Type") }, nil},
		"identity":           {func(r *http.Request) { r.Header.Set("Content-Encoding", "identity") }, nil},
		"unasked for Basic":  {func(r *http.Request) { r.SetBasicAuth("user", "password") }, nil},
		"of unknown length":  {func(r *http.Request) { r.ContentLength = -1 }, nil},
		"GET":                {func(r *http.Request) { r.Method = http.MethodGet }, webhooks.ErrMethod},
		"HEAD":               {func(r *http.Request) { r.Method = http.MethodHead }, webhooks.ErrMethod},
		"PUT":                {func(r *http.Request) { r.Method = http.MethodPut }, webhooks.ErrMethod},
		"post":               {func(r *http.Request) { r.Method = "post" }, webhooks.ErrMethod},
		"gzip":               {func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, webhooks.ErrContentEncoding},
		"gzip, second value": {func(r *http.Request) { r.Header["Content-Encoding"] = []string{"", "gzip"} }, webhooks.ErrContentEncoding},
		"no body":            {func(r *http.Request) { r.Body, r.ContentLength = nil, 0 }, signature.ErrMismatch},
		"body breaks off": {func(r *http.Request) {
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader(confirmedBody[:9]), failing{io.ErrUnexpectedEOF}))
		}, webhooks.ErrBody},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := signed(t, confirmedBody)
			test.change(r)
			if errors.Is(test.want, webhooks.ErrMethod) || errors.Is(test.want, webhooks.ErrContentEncoding) {
				copied := signed(t, confirmedBody)
				test.change(copied)
				if w := post(plain(t, io.ReadAll), copied); w.Code != http.StatusOK {
					t.Errorf("the naive endpoint answered %d", w.Code)
				}
			}
			n, err := newVerifier(t).Verify(r)
			if !errors.Is(err, test.want) || (n == nil) != (test.want != nil) {
				t.Errorf("got %v, %v, want %v", n, err, test.want)
			}
		})
	}
}

// Credentials are guessed in part, sent twice, or sent in the place of the signature. The
// naive check looks at the first that were sent, and at nothing else.
func TestAttack55BasicAuth(t *testing.T) {
	t.Parallel()
	v := newVerifier(t, webhooks.WithBasicAuth("user", webhooks.NewSecret("pass:word")),
		webhooks.WithBasicAuth("next", webhooks.NewSecret("other")))
	fallen := 0
	for name, test := range map[string]struct {
		set  func(*http.Request)
		want error
	}{
		"right":               {func(r *http.Request) { r.SetBasicAuth("user", "pass:word") }, nil},
		"right, second pair":  {func(r *http.Request) { r.SetBasicAuth("next", "other") }, nil},
		"missing":             {func(*http.Request) {}, webhooks.ErrCredentials},
		"wrong user":          {func(r *http.Request) { r.SetBasicAuth("User", "pass:word") }, webhooks.ErrCredentials},
		"wrong password":      {func(r *http.Request) { r.SetBasicAuth("user", "pass:wore") }, webhooks.ErrCredentials},
		"prefix of password":  {func(r *http.Request) { r.SetBasicAuth("user", "pass") }, webhooks.ErrCredentials},
		"password of another": {func(r *http.Request) { r.SetBasicAuth("user", "other") }, webhooks.ErrCredentials},
		"both empty":          {func(r *http.Request) { r.SetBasicAuth("", "") }, webhooks.ErrCredentials},
		"bearer":              {func(r *http.Request) { r.Header.Set("Authorization", "Bearer user") }, webhooks.ErrCredentials},
		"not base64":          {func(r *http.Request) { r.Header.Set("Authorization", "Basic user:pass:word") }, webhooks.ErrCredentials},
		"sent twice": {func(r *http.Request) {
			r.SetBasicAuth("user", "pass:word")
			r.Header.Add("Authorization", r.Header.Get("Authorization"))
		}, webhooks.ErrCredentials},
		// Credentials do not stand in for the signature.
		"right, unsigned": {func(r *http.Request) {
			r.SetBasicAuth("user", "pass:word")
			r.Header.Del(signature.Header)
		}, signature.ErrMissing},
		"right, forged": {func(r *http.Request) {
			r.SetBasicAuth("user", "pass:word")
			r.Header.Set(signature.Header, "t=1707312770123,v1="+strings.Repeat("0", 64))
		}, signature.ErrMismatch},
	} {
		naive := signed(t, confirmedBody)
		test.set(naive)
		if user, password, _ := naive.BasicAuth(); test.want != nil && user == "user" && password == "pass:word" {
			fallen++
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := signed(t, confirmedBody)
			test.set(r)
			if _, err := v.Verify(r); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			r = signed(t, confirmedBody)
			test.set(r)
			if _, err := v.VerifyBody(r.Header, []byte(confirmedBody)); !errors.Is(err, test.want) {
				t.Errorf("with the body read before: got %v, want %v", err, test.want)
			}
		})
	}
	if fallen != 3 { // twice, unsigned, forged
		t.Errorf("the naive check falls for %d", fallen)
	}
}

// The handler answers on its path alone where it is registered with method and path. The
// naive pattern takes every path that nothing else takes.
func TestAttack52OtherPath(t *testing.T) {
	t.Parallel()
	f := new(calls)
	mux := http.NewServeMux()
	mux.Handle("POST /webhooks", webhooks.NewHandler(newVerifier(t), f.handle))
	naive := http.NewServeMux()
	naive.Handle("/", plain(t, io.ReadAll))
	for _, test := range []struct {
		method, path string
		want         int
	}{
		{http.MethodPost, "/webhooks", 200},
		{http.MethodPost, "/webhooks/other", 404},
		{http.MethodPost, "/", 404},
		{http.MethodGet, "/webhooks", 405},
	} {
		r := signed(t, confirmedBody)
		r.Method, r.URL.Path = test.method, test.path
		if w := post(naive, r.Clone(t.Context())); w.Code != http.StatusOK {
			t.Errorf("%s %s: the naive pattern: %d", test.method, test.path, w.Code)
		}
		r = signed(t, confirmedBody)
		r.Method, r.URL.Path = test.method, test.path
		if w := post(mux, r); w.Code != test.want {
			t.Errorf("%s %s: %d, want %d", test.method, test.path, w.Code, test.want)
		}
	}
	if f.count() != 1 {
		t.Errorf("%d calls", f.count())
	}
}

// A forger learns nothing from the answers: to a wrong signature they are all the same,
// whatever is wrong with it. The naive endpoint tells malformed from wrong, and wrong
// from late.
func TestAttack56AnswersSayNothing(t *testing.T) {
	t.Parallel()
	h := webhooks.NewHandler(newVerifier(t), new(calls).handle)
	stale := sender
	stale.Now = func() time.Time { return signedAt.Add(-time.Hour) }
	future := sender
	future.Now = func() time.Time { return signedAt.Add(time.Hour) }
	malformed := signed(t, confirmedBody)
	malformed.Header.Set(signature.Header, "t=1")
	unsigned := signed(t, confirmedBody)
	unsigned.Header.Del(signature.Header)

	var first string
	answers := map[string]bool{}
	for _, r := range []*http.Request{
		unsigned, malformed, signedBy(t, forger, confirmedBody), signedBy(t, stale, confirmedBody), signedBy(t, future, confirmedBody),
		signedBy(t, forger, "not JSON"),
	} {
		w := post(plain(t, func(io.Reader) ([]byte, error) { return []byte(confirmedBody), nil }), r)
		answers[w.Body.String()] = true
		w = post(h, r)
		answer := fmt.Sprintln(w.Code, w.Header(), w.Body)
		if first == "" {
			first = answer
		}
		if answer != first || w.Code != http.StatusUnauthorized {
			t.Errorf("answers differ: %s and %s", first, answer)
		}
	}
	if len(answers) != 5 {
		t.Errorf("the naive endpoint has %d answers", len(answers))
	}
}
