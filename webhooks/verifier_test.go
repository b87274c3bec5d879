package webhooks_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

var forger = webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: webhooks.NewSecret("forger-guess-secret"), Now: fixed}

func TestVerifyRotation(t *testing.T) {
	t.Parallel()
	old := sender
	old.Secret = webhooks.NewSecret(previousSecret)
	base64 := sender
	base64.Scheme = signature.AssumedHMAC{Base64: true}
	for _, s := range []webhooks.Signer{sender, old, base64} {
		if _, err := newVerifier(t).Verify(signedBy(t, s, confirmedBody)); err != nil {
			t.Error(err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// counting counts what is read of a body.
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

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// What can be refused without the body is refused before it is read.
func TestAttackRow11HeaderBeforeBody(t *testing.T) {
	t.Parallel()
	basic := webhooks.WithBasicAuth("user", webhooks.NewSecret("password"))
	for name, change := range map[string]func(*http.Request){
		"method":       func(r *http.Request) { r.Method = http.MethodPut },
		"encoding":     func(r *http.Request) { r.Header.Set("Content-Encoding", "br") },
		"no signature": func(r *http.Request) { r.SetBasicAuth("user", "password"); r.Header.Del(signature.Header) },
		"malformed":    func(r *http.Request) { r.SetBasicAuth("user", "password"); r.Header.Set(signature.Header, "t=1") },
		"no Basic":     func(*http.Request) {},
		"length": func(r *http.Request) {
			r.SetBasicAuth("user", "password")
			r.ContentLength = webhooks.DefaultMaxBody + 1
		},
	} {
		r := signed(t, confirmedBody)
		source := &counting{Reader: r.Body}
		r.Body = source
		change(r)
		if _, err := newVerifier(t, basic).Verify(r); err == nil || source.n != 0 {
			t.Errorf("%s: got %v after %d bytes", name, err, source.n)
		}
	}
}

func TestSignerSendsBasicAuth(t *testing.T) {
	t.Parallel()
	s := sender
	s.User, s.Password = "user", webhooks.NewSecret("password")
	v := newVerifier(t, webhooks.WithBasicAuth("user", s.Password))
	if _, err := v.Verify(signedBy(t, s, confirmedBody)); err != nil {
		t.Error(err)
	}
}

func TestNewVerifierRefuses(t *testing.T) {
	t.Parallel()
	assumed := signature.AssumedHMAC{}
	secret := webhooks.NewSecret(currentSecret)
	for name, test := range map[string]struct {
		scheme  signature.Scheme
		secrets []webhooks.Secret
		opts    []webhooks.VerifierOption
		want    string
	}{
		"empty secret":         {assumed, []webhooks.Secret{secret, webhooks.NewSecret("")}, nil, "empty secret"},
		"longest body":         {assumed, []webhooks.Secret{secret}, []webhooks.VerifierOption{webhooks.WithMaxBody(0)}, "positive length"},
		"nil option":           {assumed, []webhooks.Secret{secret}, []webhooks.VerifierOption{nil}, "nil option"},
		"Basic without user":   {assumed, []webhooks.Secret{secret}, []webhooks.VerifierOption{webhooks.WithBasicAuth("", secret)}, "user name"},
		"Basic without secret": {assumed, []webhooks.Secret{secret}, []webhooks.VerifierOption{webhooks.WithBasicAuth("user", webhooks.Secret{})}, "password"},
		"colon in user":        {assumed, []webhooks.Secret{secret}, []webhooks.VerifierOption{webhooks.WithBasicAuth("us:er", secret)}, "colon"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := webhooks.NewVerifier(test.scheme, test.secrets, test.opts...)
			if v != nil || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, %v", v, err)
			}
			assert.NotContains(t, err.Error(), currentSecret)
		})
	}
}

func TestSignerRefuses(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]webhooks.Signer{
		"no scheme": {Secret: webhooks.NewSecret(currentSecret)},
		"no secret": {Scheme: signature.AssumedHMAC{}},
	} {
		if r, err := s.NewRequestWithBody(t.Context(), address, nil); r != nil || err == nil {
			t.Errorf("%s: got %v, %v", name, r, err)
		}
	}
	if r, err := sender.NewRequestWithBody(t.Context(), "http://a b/", nil); r != nil || err == nil {
		t.Errorf("bad address: got %v, %v", r, err)
	}
}

// Without a clock of one's own both sides use the time of day.
func TestSignerAndVerifierByTheTimeOfDay(t *testing.T) {
	t.Parallel()
	s := webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: webhooks.NewSecret(currentSecret)}
	v, err := webhooks.NewVerifier(s.Scheme, []webhooks.Secret{s.Secret})
	require.NoError(t, err)
	n, err := webhooks.NewNotification(webhooks.EventTypePayToPaymentApproved, map[string]string{"receiptNumber": "1000000001"})
	require.NoError(t, err)
	for range 2 { // the notification and its duplicate
		r, err := s.NewRequest(t.Context(), address, n)
		require.NoError(t, err)
		got, err := v.Verify(r)
		if err != nil || got.ID != n.ID || got.Digest() != n.Digest() || !bytes.Equal(got.Raw(), n.Raw()) {
			t.Errorf("sent %s, received %v, %v", n.Raw(), got, err)
		}
	}
}
