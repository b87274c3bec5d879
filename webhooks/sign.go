package webhooks

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// A Signer makes the requests that the service would make, for tests of an
// endpoint.
type Signer struct {
	// Scheme and Secret are those of the endpoint's [Verifier].
	Scheme signature.Scheme
	Secret Secret
	// User and Password are the Basic credentials. Without a user name none are
	// sent.
	User     string
	Password Secret
	// Now gives the time of signing; [time.Now] when nil.
	Now func() time.Time
}

// NewRequest returns a signed delivery of a notification to an address. Called
// again for the same notification it returns a duplicate, as a redelivery would
// be. The request can be sent with an [http.Client] or given to a handler.
func (s Signer) NewRequest(ctx context.Context, target string, n *Notification) (*http.Request, error) {
	body, err := n.body()
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	return s.NewRequestWithBody(ctx, target, body)
}

// NewRequestWithBody returns a signed request with any body.
func (s Signer) NewRequestWithBody(ctx context.Context, target string, body []byte) (*http.Request, error) {
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	value, err := signature.Sign(s.Scheme, s.Secret.text(), now(), body)
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(signature.Header, value)
	if s.User != "" {
		r.SetBasicAuth(s.User, s.Password.text())
	}
	return r, nil
}
