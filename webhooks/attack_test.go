package webhooks_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// blanks is a body of white space that counts how much of it was read.
type blanks struct{ read, left int }

func (b *blanks) Read(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.read, b.left = b.read+n, b.left-n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (b *blanks) Close() error { return nil }

// strangers sends a handler bodies of the largest size under headers that cannot be
// right, and returns how much of them it read.
func strangers(t *testing.T, h http.Handler) (read int) {
	t.Helper()
	for range 20 {
		for _, values := range [][]string{
			nil,
			{""},
			{"x"},
			{"t=1707312770123"},
			{"v1=00"},
			{"t=1707312770,v1=00"},
			{"t=1707312770123,v1="},
			{"t=1707312770123,v1=00", "t=1707312770123,v1=00"},
			{"t=1707312770123" + strings.Repeat(",v1=00", 6)},
			{strings.Repeat(" ", 1<<14)},
		} {
			body := &blanks{left: webhooks.DefaultMaxBody}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, body)
			if err != nil {
				t.Fatal(err)
			}
			r.Header[signature.Header] = values
			if w := post(h, r); w.Code != http.StatusUnauthorized {
				t.Errorf("%q: answered %d", values, w.Code)
			}
			read += body.read
		}
	}
	return read
}

// 200 strangers at once made a handler hold 253 MiB when it read their bodies before it
// looked at the form of the header.
func TestAttackRow11HeaderBeforeBody(t *testing.T) {
	t.Parallel()
	verifier := newVerifier(t)
	naive := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, webhooks.DefaultMaxBody))
		if err == nil {
			_, err = verifier.VerifyBody(r.Header, body)
		}
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
	if read := strangers(t, http.HandlerFunc(naive)); read != 200<<20 {
		t.Errorf("the naive endpoint read %d bytes", read)
	}
	if read := strangers(t, webhooks.NewHandler(verifier, new(calls).handle)); read != 0 {
		t.Errorf("%d bytes were read", read)
	}
}
