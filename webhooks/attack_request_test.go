package webhooks_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

var forger = webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: "forger-guess-secret", Now: fixed}

// counting counts the bytes that are read of a body.
type counting struct {
	io.Reader
	n int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

func (c *counting) Close() error { return nil }

// A stranger, or a broken sender, posts more than the largest size of a notification: nothing
// beyond the limit is read, and the answer is 413.
func TestAttack50BodyTooLarge(t *testing.T) {
	t.Parallel()
	h := webhooks.NewHandler(newVerifier(t), new(calls).handle)
	for length, want := range map[int]int{webhooks.MaxBody: 200, webhooks.MaxBody + 1: 413} {
		body := confirmedBody + strings.Repeat(" ", length-len(confirmedBody))
		assert.Equal(t, want, post(h, signed(t, body)).Code, "announced")
		// A sender need not say how long the body is, nor ever end it.
		r := signed(t, body)
		source := &counting{Reader: r.Body}
		if want == 413 {
			source.Reader = io.MultiReader(source.Reader, reading(func(p []byte) (int, error) { return len(p), nil }))
		}
		r.Body, r.ContentLength = source, -1
		assert.Equal(t, want, post(h, r).Code, "unannounced")
		assert.LessOrEqual(t, source.n, length)
	}
}

// Credentials are guessed in part, sent twice, or sent in the place of the signature.
func TestAttack55BasicAuth(t *testing.T) {
	t.Parallel()
	h := webhooks.NewHandler(newVerifier(t), new(calls).handle, webhooks.WithBasicAuth("user", "pass:word"), webhooks.WithBasicAuth("next", "other"))
	empty := webhooks.NewHandler(newVerifier(t), new(calls).handle, webhooks.WithBasicAuth("", ""), webhooks.WithBasicAuth("user", ""))
	basic := func(user, password string) func(*http.Request) {
		return func(r *http.Request) { r.SetBasicAuth(user, password) }
	}
	for name, test := range map[string]struct {
		set  func(*http.Request)
		want int
	}{
		"right":               {basic("user", "pass:word"), 200},
		"right, second pair":  {basic("next", "other"), 200},
		"missing":             {func(*http.Request) {}, 401},
		"wrong user":          {basic("User", "pass:word"), 401},
		"wrong password":      {basic("user", "pass:wore"), 401},
		"prefix of password":  {basic("user", "pass"), 401},
		"password of another": {basic("user", "other"), 401},
		"no password":         {basic("user", ""), 401},
		"both empty":          {basic("", ""), 401},
		"bearer":              {func(r *http.Request) { r.Header.Set("Authorization", "Bearer user") }, 401},
		"not base64":          {func(r *http.Request) { r.Header.Set("Authorization", "Basic user:pass:word") }, 401},
		"sent twice": {func(r *http.Request) {
			r.SetBasicAuth("user", "pass:word")
			r.Header.Add("Authorization", r.Header.Get("Authorization"))
		}, 401},
		// Credentials do not stand in for the signature.
		"right, unsigned": {func(r *http.Request) {
			r.SetBasicAuth("user", "pass:word")
			r.Header.Del(signature.Header)
		}, 401},
		"right, forged": {func(r *http.Request) {
			r.SetBasicAuth("user", "pass:word")
			r.Header.Set(signature.Header, "t=1707312770123,v1="+strings.Repeat("0", 64))
		}, 401},
	} {
		for handler, want := range map[http.Handler]int{h: test.want, empty: 401} {
			r := signed(t, confirmedBody)
			test.set(r)
			assert.Equal(t, want, post(handler, r).Code, name)
		}
	}
}

// A request that can be refused without its body is refused before the body is read.
func TestAttackRow11HeaderBeforeBody(t *testing.T) {
	t.Parallel()
	h := webhooks.NewHandler(newVerifier(t), new(calls).handle, webhooks.WithBasicAuth("user", "password"))
	for name, change := range map[string]func(*http.Request){
		"method":       func(r *http.Request) { r.Method = http.MethodPut },
		"encoding":     func(r *http.Request) { r.Header.Set("Content-Encoding", "br") },
		"no signature": func(r *http.Request) { r.SetBasicAuth("user", "password"); r.Header.Del(signature.Header) },
		"malformed":    func(r *http.Request) { r.SetBasicAuth("user", "password"); r.Header.Set(signature.Header, "t=1") },
		"no Basic":     func(*http.Request) {},
		"length": func(r *http.Request) {
			r.SetBasicAuth("user", "password")
			r.ContentLength = webhooks.MaxBody + 1
		},
	} {
		r := signed(t, confirmedBody)
		source := &counting{Reader: r.Body}
		r.Body = source
		change(r)
		if w := post(h, r); w.Code < 400 || source.n != 0 {
			t.Errorf("%s: answered %d after %d bytes", name, w.Code, source.n)
		}
	}
}
