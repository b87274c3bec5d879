package conform

import (
	"io"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/scheme"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// Receiver keeps the first notification of a run: serve it at the address of a subscription, and give
// it to [Config]. It answers 200 to everything, and takes notifications with any signature.
type Receiver chan notification

type notification struct {
	header string
	raw    []byte
}

// NewReceiver returns a receiver.
func NewReceiver() Receiver { return make(Receiver, 1) }

// ServeHTTP takes one delivery.
func (r Receiver) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	if body, invalid := parse(raw); err != nil || invalid != nil || body.get("id").text() == "" {
		return // no notification
	}
	select {
	case r <- notification{req.Header.Get(signature.Header), raw}:
	default:
	}
}

// webhookScheme finds how the notifications about what was made are signed. It is empty if none arrives.
func (s *session) webhookScheme() string {
	if s.cfg.Webhooks == nil || s.err != nil {
		return ""
	}
	select {
	case n := <-s.cfg.Webhooks:
		if found, ok := scheme.Find(n.header, n.raw, s.cfg.WebhookSecret); ok {
			return found.String()
		}
		return "none fits"
	case <-time.After(3 * time.Minute):
	case <-s.ctx.Done():
	}
	return ""
}
