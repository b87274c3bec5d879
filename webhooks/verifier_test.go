package webhooks_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

var forger = webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: webhooks.NewSecret("forger-guess-secret"), Now: fixed}

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
