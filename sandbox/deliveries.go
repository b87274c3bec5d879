package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
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
	// State is waiting (for its first or its next attempt), held (by [Sandbox.HoldDeliveries]), done (answered
	// with 200) or abandoned (after the last attempt failed).
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
	fault   DeliveryFault
	done    bool
	held    bool
	ended   bool // forgotten, or its subscription is: no further attempt
	running int  // number of attempts under way
	retries int  // number of planned redeliveries
	planned bool
	tried   chan struct{} // closed after the first attempt, or when held
	once    sync.Once
}

func (d *delivery) currentState() string {
	switch {
	case d.done:
		return "done"
	case d.held:
		return "held"
	case d.planned || d.running > 0:
		return "waiting"
	default:
		return "abandoned"
	}
}

// hooks are the subscriptions with their deliveries.
type hooks struct {
	subscriptions []*subscription
	subscribed    int          // number of ids that were given
	deliveries    []*delivery  // oldest first
	raised        *[]*delivery // by the current operation; nil if there is none
	faults        []DeliveryFault
	holding       bool
	busy          int           // number of posts under way
	quiet         chan struct{} // closed when busy falls to 0; nil if nobody waits

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

func (h *hooks) add(d *delivery) {
	if len(h.deliveries) >= maxRecorded {
		h.deliveries = slices.Delete(h.deliveries, 0, maxRecorded/10)
	}
	h.deliveries = append(h.deliveries, d)
	if h.raised != nil {
		*h.raised = append(*h.raised, d)
	}
}

func (h *hooks) nextFault() DeliveryFault {
	if len(h.faults) == 0 {
		return DeliveryFault{}
	}
	next := h.faults[0]
	h.faults = slices.Delete(h.faults, 0, 1)
	return next
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
	for _, sub := range b.webhooks.subscriptions {
		if !sub.wants(event) {
			continue
		}
		d := &delivery{Delivery: Delivery{ID: newUUID(b.ids), EventType: event}, data: data, to: sub, tried: make(chan struct{}), fault: b.webhooks.nextFault()}
		d.fault.Twice = d.fault.Twice || b.assume.Events == "twice"
		d.Body = b.notification(d)
		b.webhooks.add(d)
		b.dispatch(d)
	}
}

// dispatch posts a notification, or holds it. The caller holds mu.
func (b *Sandbox) dispatch(d *delivery) {
	if b.webhooks.holding {
		d.held = true
		d.once.Do(func() { close(d.tried) })
		return
	}
	for _, p := range d.postings() {
		b.post(p)
	}
}

type posting struct {
	*delivery
	fault DeliveryFault
}

// postings are the attempts that are due, one or two. Their fault is used up.
func (d *delivery) postings() []posting {
	list := []posting{{d, d.fault}}
	if d.fault.Twice {
		list = append(list, list[0])
	}
	d.fault = DeliveryFault{}
	return list
}

// post makes attempts, one after another. The caller holds mu.
func (b *Sandbox) post(list ...posting) {
	list = slices.DeleteFunc(list, func(p posting) bool { return p.ended })
	if b.closed || len(list) == 0 {
		return
	}
	b.webhooks.busy++
	for _, p := range list {
		p.running++
	}
	b.webhooks.posting.Go(func() {
		for _, p := range list {
			b.attempt(p)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.webhooks.busy--; b.webhooks.busy == 0 && b.webhooks.quiet != nil {
			close(b.webhooks.quiet)
			b.webhooks.quiet = nil
		}
	})
}

// attempt posts once, without a lock, and plans the next attempt if this one fails.
func (b *Sandbox) attempt(p posting) {
	now, dated := b.clock.Now(), p.to.Clock()
	b.mu.Lock()
	body := p.Body
	if !p.signed.IsZero() && b.assume.Redelivery == "fresher" {
		body = b.notification(p.delivery)
	}
	if p.signed.IsZero() || b.assume.Redelivery != "same" {
		p.signed = dated
	}
	signed := p.signed
	if p.fault.Shift != 0 {
		signed = dated.Add(p.fault.Shift)
	}
	b.mu.Unlock()
	result := b.deliver(p, signed, body)
	result.Time = now

	b.mu.Lock()
	defer b.mu.Unlock()
	p.running--
	p.Attempts = append(p.Attempts, result)
	p.once.Do(func() { close(p.tried) })
	if result.Status == http.StatusOK {
		p.done = true
	}
	b.logAttempt(p.delivery, result)
	if p.done || p.ended || p.planned || p.retries >= len(b.assume.RedeliverAfter) || b.closed {
		return
	}
	p.planned = true
	wait := b.assume.RedeliverAfter[p.retries]
	p.retries++
	b.after(wait, func() {
		p.planned = false
		if !p.done {
			b.dispatch(p.delivery)
		}
	})
}

// headerForm writes a signature header in another form with the same meaning.
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

// webhookTimeout is how long a receiver may take to answer.
const webhookTimeout = 10 * time.Second

// maxAnswer is how much of a receiver's answer is read.
const maxAnswer = 64 << 10

var errTimedOut = errors.New("timed out")

// deliver signs and posts a notification.
func (b *Sandbox) deliver(p posting, signed time.Time, body []byte) Attempt {
	header, err := signature.Sign(p.to.Scheme, p.to.Secret, signed, body)
	if err != nil {
		return Attempt{Error: err.Error()}
	}
	header = headerForm(header, b.assume.SignatureHeader)
	if p.fault.Tampered {
		body = forged(body, p.ID)
	}
	made := Attempt{Signature: header, SignatureError: p.to.check(header, body)}
	if made.Status, err = b.postTo(p, header, body); err != nil {
		made.Error = err.Error()
	}
	return made
}

func (b *Sandbox) postTo(p posting, header string, body []byte) (status int, err error) {
	ctx, cancel := context.WithCancelCause(b.webhooks.life)
	defer cancel(nil)
	stop := b.clock.afterFunc(webhookTimeout, func() { cancel(errTimedOut) })
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.to.target, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "quickstream-sandbox")
	r.Header.Set(signature.Header, header)
	if p.to.BasicUser != "" || p.to.BasicPassword != "" {
		r.SetBasicAuth(p.to.BasicUser, p.to.BasicPassword)
	}
	client := &http.Client{
		Transport:     p.to.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r)
	if err == nil {
		defer resp.Body.Close()
		if _, err = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)); err == nil {
			return resp.StatusCode, nil
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return 0, cause
	}
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err // without the address, which may be secret
	}
	return 0, err
}

// forged returns a body with another id, so that a receiver that does not verify takes it for
// another notification.
func forged(body []byte, id string) []byte {
	other := "0" + id[1:]
	if other == id {
		other = "1" + id[1:]
	}
	return bytes.Replace(body, []byte(id), []byte(other), 1)
}

// awaitAttempts waits until each notification was posted once, if events arrive before the
// answer of the call that caused them.
func (b *Sandbox) awaitAttempts(list []*delivery, gone <-chan struct{}) {
	if b.assume.Events != "before" {
		return
	}
	for _, d := range list {
		select {
		case <-d.tried:
		case <-gone:
			return
		case <-b.closing:
			return
		}
	}
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

// Redeliver posts a notification again now, in any state, with at most one fault. It is an
// error if no delivery with the id is kept.
func (b *Sandbox) Redeliver(id string, fault ...DeliveryFault) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.webhooks.find(id)
	switch {
	case b.closed:
		return errClosed
	case d == nil:
		return fmt.Errorf("sandbox: no delivery %q", id)
	case d.ended:
		return fmt.Errorf("sandbox: the subscription of delivery %q was deleted", id)
	case len(fault) > 1:
		return errors.New("sandbox: one attempt takes one fault")
	case len(fault) == 1:
		d.fault = fault[0]
	}
	b.dispatch(d)
	return nil
}

func (h *hooks) find(id string) *delivery {
	i := slices.IndexFunc(h.deliveries, func(d *delivery) bool { return d.ID == id })
	if i < 0 {
		return nil
	}
	return h.deliveries[i]
}

// HoldDeliveries holds notifications, and attempts that become due, until
// [Sandbox.ReleaseDeliveries].
func (b *Sandbox) HoldDeliveries() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.webhooks.holding = true
}

// ReleaseDeliveries posts the held notifications, one after another: first those with the
// ids, in that order, then the others in their own order. It is an error, and nothing is
// released, if an id is not held.
func (b *Sandbox) ReleaseDeliveries(first ...string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var order []*delivery
	for _, id := range first {
		d := b.webhooks.find(id)
		if d == nil || !d.held || slices.Contains(order, d) {
			return fmt.Errorf("sandbox: delivery %q is not held", id)
		}
		order = append(order, d)
	}
	for _, d := range b.webhooks.deliveries {
		if d.held && !slices.Contains(order, d) {
			order = append(order, d)
		}
	}
	b.webhooks.holding = false
	var due []posting
	for _, d := range order {
		d.held = false
		due = append(due, d.postings()...)
	}
	b.post(due...)
	return nil
}

// Flush waits until no notification is being posted. It does not wait for later redeliveries
// or held notifications. Inside a testing/synctest bubble synctest.Wait does the same.
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
