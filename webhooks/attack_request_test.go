package webhooks_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// A stranger, or a broken sender, posts more than a notification can be: nothing beyond
// the limit is read, and it is answered 413.
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
			// A sender need not say how long the body is, nor ever end it.
			r := signed(t, body)
			source := &counting{Reader: r.Body}
			if test.want != nil {
				source.Reader = io.MultiReader(source.Reader, endless{})
			}
			r.Body, r.ContentLength = source, -1
			if _, err := v.Verify(r); !errors.Is(err, test.want) {
				t.Errorf("unannounced: got %v, want %v", err, test.want)
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

// Credentials are guessed in part, sent twice, or sent in the place of the signature.
func TestAttack55BasicAuth(t *testing.T) {
	t.Parallel()
	v := newVerifier(t, webhooks.WithBasicAuth("user", webhooks.NewSecret("pass:word")),
		webhooks.WithBasicAuth("next", webhooks.NewSecret("other")))
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
}
