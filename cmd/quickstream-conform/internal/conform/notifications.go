package conform

import (
	"io"
	"net/http"
	"slices"
	"strings"
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

// NewReceiver returns a receiver.
func NewReceiver() *Receiver { return &Receiver{} }

// ServeHTTP takes one delivery.
func (r *Receiver) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	if body, invalid := parse(raw); err != nil || invalid != nil || body.get("id").empty() {
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
func (s *session) listen() result {
	if s.cfg.Webhooks == nil {
		return result{}
	}
	s.at(time.Now().Add(3*time.Minute), false, func() {
		header, raw := s.cfg.Webhooks.first()
		if raw == nil {
			s.answered("SignatureHeader", open("no notification arrived"))
			return
		}
		s.answered("SignatureHeader", signatureHeader(header))
		if s.cfg.WebhookSecret != "" {
			s.scheme = "none fits"
			if found, ok := scheme.Find(header, raw, s.cfg.WebhookSecret); ok {
				s.scheme = found.String()
			}
		}
	})
	return result{}
}

func signatureHeader(header string) result {
	var names []string
	for part := range strings.SplitSeq(header, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(part), "=")
		names = append(names, name)
	}
	switch order := strings.Join(names, ","); {
	case order == "t,v1":
		return is("plain")
	case order == "v1,t":
		return is("swapped")
	case len(names) > 2 && names[0] == "t" && slices.Contains(names, "v1"):
		return is("several")
	default:
		return other("parts " + order)
	}
}
