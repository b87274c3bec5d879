package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// Delivery is one notification to one subscription.
type Delivery struct {
	ID        string `json:"id"` // the notification's, the same in every attempt
	EventType string `json:"eventType"`
	Body      []byte `json:"body"`
	// State is waiting (for its first or its next attempt), done (answered with 200) or abandoned (after the
	// last attempt failed).
	State    string    `json:"state"`
	Attempts []Attempt `json:"attempts"` // oldest first
}

// Attempt is one POST of a notification.
type Attempt struct {
	Time   time.Time `json:"time"`
	Status int       `json:"status"` // of the answer; 0 if there was none
	Error  string    `json:"error"`  // why there was no answer
	// Signature is the signature header that was sent. SignatureError is what a receiver
	// with the secret and the subscription's clock finds wrong with it; empty if it is valid.
	Signature      string `json:"signature"`
	SignatureError string `json:"signatureError"`
}

type delivery struct {
	Delivery // without its State

	data    func() object // as it is now
	signed  time.Time     // by the receiver's clock; zero before the first attempt
	to      *subscription
	fault   DeliveryFault // of the first attempt
	done    bool
	running int // number of attempts under way
	retries int // number of planned redeliveries
	planned bool
	tried   chan struct{} // closed after the first attempt
	once    sync.Once
}

func (d *delivery) currentState() string {
	switch {
	case d.done:
		return "done"
	case d.planned || d.running > 0:
		return "waiting"
	default:
		return "abandoned"
	}
}

type hooks struct {
	subscriptions []*subscription
	deliveries    []*delivery  // oldest first
	raised        *[]*delivery // by the current operation; nil if there is none
	faults        []DeliveryFault
	busy          int           // number of posts under way
	quiet         chan struct{} // closed when busy falls to 0; nil if no Flush waits

	posting sync.WaitGroup
	life    context.Context // of all posts
	end     context.CancelFunc
}

// close ends the posts under way, and closes the servers of handlers.
func (h *hooks) close() {
	h.end()
	h.posting.Wait()
	for _, sub := range h.subscriptions {
		if sub.server != nil {
			_ = sub.server.Close()
		}
	}
}

func (b *Sandbox) emitAgreement(event string, a *agreement) {
	b.emit(event, func() object { return b.agreementBody(b.background(), a) })
}

func (b *Sandbox) emitPayment(event string, tx *transaction) {
	b.emit(event, func() object { return b.transactionBody(b.background(), tx) })
}

// emit notifies the subscribers of an event, with the data as it is now. The caller holds mu.
func (b *Sandbox) emit(event string, data func() object) {
	isKnown := slices.Contains(knownEvents, event)
	if !isKnown && !b.addsMembers() || b.assume.Events == "never" {
		return
	}
	h := &b.webhooks
	for _, sub := range h.subscriptions {
		if len(sub.EventTypes) > 0 && !slices.Contains(sub.EventTypes, event) {
			continue
		}
		d := &delivery{Delivery: Delivery{ID: randomText(b.ids, textAlphabet, 36), EventType: event}, data: data, to: sub, tried: make(chan struct{})}
		if len(h.faults) > 0 {
			d.fault, h.faults = h.faults[0], h.faults[1:]
		}
		d.fault.Twice = d.fault.Twice || b.assume.Events == "twice"
		d.Body = b.notification(d)
		h.deliveries = append(h.deliveries[max(len(h.deliveries)-maxRecorded+1, 0):], d)
		if h.raised != nil {
			*h.raised = append(*h.raised, d)
		}
		b.dispatch(d)
	}
}

// dispatch posts a notification, or two at once, and uses up its fault. The caller holds mu.
func (b *Sandbox) dispatch(d *delivery) {
	fault := d.fault
	d.fault = DeliveryFault{}
	b.post(d, fault)
	if fault.Twice {
		b.post(d, fault)
	}
}

// post makes an attempt. The caller holds mu.
func (b *Sandbox) post(d *delivery, fault DeliveryFault) {
	if b.closed {
		return
	}
	b.webhooks.busy++
	d.running++
	b.webhooks.posting.Go(func() {
		b.attempt(d, fault)
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.webhooks.busy--; b.webhooks.busy == 0 && b.webhooks.quiet != nil {
			close(b.webhooks.quiet)
			b.webhooks.quiet = nil
		}
	})
}

// attempt posts once, without a lock, and plans the next attempt if this one fails.
func (b *Sandbox) attempt(d *delivery, fault DeliveryFault) {
	now, dated := b.clock.Now(), d.to.Clock()
	b.mu.Lock()
	body := d.Body
	if !d.signed.IsZero() && b.assume.Redelivery == "fresher" {
		body = b.notification(d)
	}
	if d.signed.IsZero() || b.assume.Redelivery != "same" {
		d.signed = dated
	}
	signed := d.signed
	if fault.Shift != 0 {
		signed = dated.Add(fault.Shift)
	}
	posted := body
	if fault.Tampered { // with another id: a receiver that does not verify takes it for another notification
		posted = bytes.Replace(body, []byte(d.ID), []byte(randomText(b.dice, textAlphabet, 36)), 1)
	}
	b.mu.Unlock()
	result := b.deliver(d, signed, body, posted)
	result.Time = now

	b.mu.Lock()
	defer b.mu.Unlock()
	d.running--
	d.Attempts = append(d.Attempts, result)
	d.once.Do(func() { close(d.tried) })
	d.done = d.done || result.Status == http.StatusOK
	b.served.logger.Info("delivery", "event", d.EventType, "id", d.ID, "attempt", len(d.Attempts), "status", result.Status,
		"failed", result.Error, "signature", result.SignatureError)
	if d.done || d.planned || d.retries >= len(b.assume.RedeliverAfter) || b.closed {
		return
	}
	d.planned = true
	d.retries++
	b.after(b.assume.RedeliverAfter[d.retries-1], func() {
		d.planned = false
		if !d.done {
			b.dispatch(d)
		}
	})
}

func headerForm(header, form string) string {
	t, v1, _ := strings.Cut(header, ",")
	switch form {
	case "swapped":
		return v1 + "," + t
	case "several":
		return t + ",v0=0,v1=" + strings.Repeat("0", 64) + "," + v1
	default:
		return header
	}
}

const (
	webhookTimeout = 10 * time.Second // of a receiver
	maxAnswer      = 64 << 10         // what is read of its answer
)

var errTimedOut = errors.New("timed out")

// deliver posts a body with the signature of another one, which is the same unless the notification is tampered with.
func (b *Sandbox) deliver(d *delivery, signed time.Time, body, posted []byte) Attempt {
	header, err := signature.Sign(d.to.Scheme, d.to.Secret, signed, body)
	if err != nil {
		return Attempt{Error: err.Error()}
	}
	header = headerForm(header, b.assume.SignatureHeader)
	made := Attempt{Signature: header, SignatureError: d.to.check(header, posted)}
	if made.Status, err = b.postTo(d.to, header, posted); err != nil {
		made.Error = err.Error()
	}
	return made
}

func (b *Sandbox) postTo(to *subscription, header string, body []byte) (status int, err error) {
	ctx, cancel := context.WithCancelCause(b.webhooks.life)
	defer cancel(nil)
	stop := b.clock.afterFunc(webhookTimeout, func() { cancel(errTimedOut) })
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.target, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "quickstream-sandbox")
	r.Header.Set(signature.Header, header)
	if to.BasicUser != "" || to.BasicPassword != "" {
		r.SetBasicAuth(to.BasicUser, to.BasicPassword)
	}
	resp, err := to.transport.RoundTrip(r) // which follows no redirects
	if err == nil {
		defer resp.Body.Close()
		if _, err = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)); err == nil {
			return resp.StatusCode, nil
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return 0, cause
	}
	return 0, err
}

// Deliveries returns the notifications, oldest first: at most about the last ten thousand.
func (b *Sandbox) Deliveries() []Delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Delivery, 0, len(b.webhooks.deliveries))
	for _, d := range b.webhooks.deliveries {
		shown := d.Delivery
		shown.Body, shown.State, shown.Attempts = slices.Clone(d.Body), d.currentState(), slices.Clone(d.Attempts)
		out = append(out, shown)
	}
	return out
}

// Redeliver posts a notification again now, in any state. It is an error if no delivery with the
// id is kept.
func (b *Sandbox) Redeliver(id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.webhooks.deliveries, func(d *delivery) bool { return d.ID == id })
	if i < 0 {
		return fmt.Errorf("sandbox: no delivery %q", id)
	}
	b.dispatch(b.webhooks.deliveries[i])
	return nil
}

// Flush waits until no notification is being posted. It does not wait for later
// redeliveries. Inside a testing/synctest bubble synctest.Wait does the same.
func (b *Sandbox) Flush(ctx context.Context) error {
	for {
		b.mu.Lock()
		if b.webhooks.busy == 0 {
			b.mu.Unlock()
			return nil
		}
		if b.webhooks.quiet == nil {
			b.webhooks.quiet = make(chan struct{})
		}
		quiet := b.webhooks.quiet
		b.mu.Unlock()
		select {
		case <-quiet:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
