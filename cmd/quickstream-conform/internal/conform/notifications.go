package conform

import (
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/scheme"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// Receiver keeps the first notification of a run: serve it at the address of a subscription, and give
// it to [Config]. It answers 200 to everything, and takes notifications with any signature.
type Receiver struct {
	mu     sync.Mutex
	header string
	raw    []byte
}

// ServeHTTP takes one delivery.
func (r *Receiver) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	if body, invalid := parse(raw); err != nil || invalid != nil || body.get("id").text() == "" {
		return // no notification
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.raw == nil {
		r.header, r.raw = req.Header.Get(signature.Header), raw
	}
}

// first is the first notification, if there is one.
func (r *Receiver) first() (header string, raw []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.header, r.raw
}

// listen looks after three minutes at what has arrived about the agreement that was made.
func (s *session) listen() {
	if s.cfg.Webhooks == nil {
		return
	}
	s.at(time.Now().Add(3*time.Minute), func() {
		header, raw := s.cfg.Webhooks.first()
		if raw == nil {
			return
		}
		s.scheme = "none fits"
		if found, ok := scheme.Find(header, raw, s.cfg.WebhookSecret); ok {
			s.scheme = found.String()
		}
	})
}
