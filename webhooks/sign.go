package webhooks

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// A Signer makes signed requests like the service's, for tests of an endpoint.
type Signer struct {
	// Scheme and Secret are those of the endpoint's [signature.Verifier]. Required.
	Scheme signature.Scheme
	Secret string
	// User and Password are the Basic credentials. They are sent if User is not empty.
	User     string
	Password string
	// Now returns the time of signing; [time.Now] if nil.
	Now func() time.Time
}

// NewRequest returns a signed POST of a notification to target. A second call for the same
// notification returns a redelivery. Send it with an [http.Client], or pass it to a handler.
func (s Signer) NewRequest(ctx context.Context, target string, n *Notification) (*http.Request, error) {
	body, err := n.body()
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	return s.NewRequestWithBody(ctx, target, body)
}

// NewRequestWithBody returns a signed POST with any body.
func (s Signer) NewRequestWithBody(ctx context.Context, target string, body []byte) (*http.Request, error) {
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	value, err := signature.Sign(s.Scheme, s.Secret, now(), body)
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
		r.SetBasicAuth(s.User, s.Password)
	}
	return r, nil
}
