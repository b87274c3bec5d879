package conform

import (
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// Receiver receives notifications for a run: serve it at the address of a subscription that nothing
// else needs, and give it to [Config]. While a run asks about notifications, the receiver keeps all
// that arrive in memory. It answers some of them after 3 seconds, and answers confirmations of
// agreements with 500 for some seconds, so that they are posted again. At all other times it
// answers 200 and keeps nothing. It takes notifications with any signature.
type Receiver struct {
	mu       sync.Mutex
	received []notification
	answer   func(n notification) (status int)
}

// notification is a delivery as it arrived.
type notification struct {
	header, event, id, token string
	raw                      []byte
	at                       time.Time
}

// NewReceiver returns a receiver, which does nothing until a run uses it.
func NewReceiver() *Receiver { return &Receiver{} }

// ServeHTTP takes one delivery.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	if err != nil {
		return // the sender has gone
	}
	n := notification{header: req.Header.Get(signature.Header), raw: raw}
	if body, err := parse(raw); err == nil {
		n.event, n.id, n.token = body.get("eventType").text, body.get("id").text, body.get("data", "agreementToken").text
	}
	r.mu.Lock()
	answer := r.answer
	r.mu.Unlock()
	if answer == nil || n.id == "" {
		return
	}
	w.WriteHeader(answer(n))
}

// expect has the next deliveries answered by a function, and kept.
func (r *Receiver) expect(answer func(notification) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.received = nil
	r.answer = func(n notification) int {
		n.at = time.Now()
		r.mu.Lock()
		r.received = append(r.received, n)
		r.mu.Unlock()
		return answer(n)
	}
}

// of returns the deliveries about an agreement.
func (r *Receiver) of(token string) []notification {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.received), func(n notification) bool { return token == "" || n.token != token })
}

func (r *Receiver) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer, r.received = nil, nil
}
