package signature_test

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// confirmed is a scheme for an algorithm that the vendor has confirmed, such as HMAC-SHA512 of the
// body and then the timestamp, in base64.
type confirmed struct{}

func (confirmed) Key(secret string) (signature.Key, error) {
	return confirmedKey{func() []byte { return []byte(secret) }}, nil
}

type confirmedKey struct{ secret func() []byte }

func (k confirmedKey) sum(timestamp string, body []byte) []byte {
	mac := hmac.New(sha512.New, k.secret())
	mac.Write(body)
	mac.Write([]byte(timestamp))
	return mac.Sum(nil)
}

func (k confirmedKey) Sign(timestamp string, body []byte) (string, error) {
	return base64.StdEncoding.EncodeToString(k.sum(timestamp, body)), nil
}

func (k confirmedKey) Verify(timestamp string, body []byte, values []string) bool {
	want := k.sum(timestamp, body)
	for _, value := range values {
		if got, err := base64.StdEncoding.DecodeString(value); err == nil && hmac.Equal(got, want) {
			return true
		}
	}
	return false
}

func ExampleScheme() {
	verifier, err := signature.NewVerifier(confirmed{}, []string{"confirmed-secret"})
	if err != nil {
		fmt.Println(err)
		return
	}
	body := []byte(`{"id":"8e3c"}`)
	header, err := signature.Sign(confirmed{}, "confirmed-secret", time.Now(), body)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(verifier.Verify([]string{header}, body))
	err = verifier.Verify([]string{header}, []byte(`{"id":"9f00"}`))
	fmt.Println(errors.Is(err, signature.ErrMismatch), err)
	// Output:
	// <nil>
	// true webhook signature: no signature matches
}
