package webhooks

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// StoreTolerance is how old a signature may be if notifications are remembered for longer: see
// [NewInbox] and [WithStore]. The service may sign a notification once and deliver it for days.
const StoreTolerance = 7 * 24 * time.Hour

// presize bounds the memory allocated for an announced body.
const presize = 16 << 10

// Verify checks the signature of a body that was already read, as in functions without an
// [http.Request], and only then decodes it. Body must be the exact bytes that were sent. Names in
// header must have the form of [http.Header.Set]. The error is one of package signature or a
// [ParseError]; do not disclose it to the sender.
func Verify(verifier *signature.Verifier, header http.Header, body []byte) (*Notification, error) {
	return verify(verifier, signature.DefaultTolerance, header, body)
}

func verify(verifier *signature.Verifier, past time.Duration, header http.Header, body []byte) (*Notification, error) {
	signed, err := verifier.VerifyWithin(past, header.Values(signature.Header), body)
	if err != nil {
		return nil, err
	}
	n, err := Parse(body)
	if err != nil {
		return nil, err
	}
	n.signed, n.arrived = signed, verifier.Now()
	return n, nil
}

// refused is the reason why a request is refused before its signature is checked. It repeats nothing of it.
type refused struct {
	status int
	reason string
}

func (r refused) Error() string { return "webhooks: " + r.reason }

// admit checks everything that needs no body, so that bodies of strangers are not read.
func (h *handler) admit(r *http.Request) error {
	switch {
	case r.Method != http.MethodPost:
		return refused{http.StatusMethodNotAllowed, "the method is not POST"}
	case slices.ContainsFunc(r.Header["Content-Encoding"], func(e string) bool { return e != "" && e != "identity" }):
		// The service is not known to use one, and decompressing would precede verifying.
		return refused{http.StatusUnsupportedMediaType, "the body has a content encoding"}
	case !h.config.basic.admits(r.Header):
		return refused{http.StatusUnauthorized, "the Basic credentials are missing or wrong"}
	}
	if err := signature.CheckHeader(r.Header.Values(signature.Header)); err != nil {
		return err
	}
	if r.ContentLength > MaxBody {
		return tooLarge()
	}
	return nil
}

func tooLarge() error { return refused{http.StatusRequestEntityTooLarge, "the body is too large"} }

// readBody reads a body to its end. If it is too large, w closes the connection.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	var body bytes.Buffer
	body.Grow(int(min(max(r.ContentLength, 0), presize)) + bytes.MinRead)
	if r.Body == nil { // not in a request that a server received
		return nil, nil
	}
	_, err := io.Copy(&body, http.MaxBytesReader(w, r.Body, MaxBody))
	var timeout interface{ Timeout() bool }
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, tooLarge()
	} else if errors.As(err, &timeout) && timeout.Timeout() {
		return nil, refused{http.StatusRequestTimeout, "the body took too long"}
	} else if err != nil {
		return nil, refused{http.StatusBadRequest, "the body broke off"}
	}
	return body.Bytes(), nil
}
