package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream/internal/loopback"
	"github.com/quickstream-go/quickstream/sandbox/internal/memnet"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// The event types. The first and the last public one are the contract's, the others are those of the vendor's
// public pages. Two made-up names stand for those that are not public.
const (
	eventAgreementConfirmed = "payto.agreement.confirmed"
	eventAgreementDeclined  = "payto.agreement.declined"
	eventAgreementExpired   = "payto.agreement.expired"
	eventAgreementRecalled  = "payto.agreement.recalled"
	eventPaymentApproved    = "payto.payment.approved"

	eventAgreementUnknown = "payto.agreement.added_later"
	eventPaymentUnknown   = "payto.payment.added_later"
)

var knownEvents = []string{ //nolint:gochecknoglobals // an immutable table
	eventAgreementConfirmed, eventAgreementDeclined, eventAgreementExpired, eventAgreementRecalled, eventPaymentApproved,
}

// Subscription is an endpoint that is notified of events. At the service it is set up in the
// portal.
type Subscription struct {
	// URL is the address that notifications are posted to. It must be a loopback address, or
	// on a host of [WithWebhookHosts]. Either URL or Handler is required.
	URL string
	// Handler receives the notifications in memory, through an HTTP server. It works inside
	// a testing/synctest bubble.
	Handler http.Handler
	// Secret and Scheme sign each attempt. Both are required.
	Secret string
	Scheme signature.Scheme
	// Clock gives the times of the signatures. The default is the sandbox's clock. Use
	// time.Now for a receiver outside a testing/synctest bubble if the sandbox has a
	// [Clock]: the receiver judges signatures by its own time.
	Clock func() time.Time
	// EventTypes are the wanted event types. Empty is all, with those that are not public.
	EventTypes []string
	// BasicUser and BasicPassword are sent as Basic authorisation, unless both are empty.
	BasicUser, BasicPassword string
}

type subscription struct {
	Subscription
	target    string
	transport *http.Transport
	server    *http.Server // for a Handler
}

// Subscribe adds a subscription. Every later event is posted to it until the sandbox is closed.
func (b *Sandbox) Subscribe(s Subscription) error {
	if _, err := signature.Sign(s.Scheme, s.Secret, b.Now(), nil); err != nil {
		return fmt.Errorf("sandbox: subscription: %w", err)
	}
	for _, event := range s.EventTypes {
		if !slices.Contains(knownEvents, event) {
			return fmt.Errorf("sandbox: subscription: no event type %q", event)
		}
	}
	if s.Clock == nil {
		s.Clock = b.clock.Now
	}
	s.EventTypes = slices.Clone(s.EventTypes)
	sub := &subscription{Subscription: s, target: s.URL}
	switch {
	case (s.URL == "") == (s.Handler == nil):
		return errors.New("sandbox: subscription: exactly one of URL and Handler must be given")
	case s.Handler == nil:
		if err := b.checkTarget(s.URL); err != nil {
			return fmt.Errorf("sandbox: subscription: %w", err)
		}
		dialer := &net.Dialer{Control: loopback.Control}
		if b.namedHost(s.URL) {
			dialer.Control = nil // wherever the name leads
		}
		sub.transport = &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}
	}

	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errClosed
	}
	if s.Handler != nil {
		b.serveSubscription(sub)
	}
	b.webhooks.subscriptions = append(b.webhooks.subscriptions, sub)
	return nil
}

func (b *Sandbox) serveSubscription(sub *subscription) {
	listener := memnet.NewListener()
	sub.target = "http://" + memnet.Host + "/webhooks"
	sub.transport = &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return listener.Dial(ctx) },
		DisableKeepAlives: true,
	}
	sub.server = newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !b.enter() {
			panic(http.ErrAbortHandler)
		}
		defer b.handling.Done()
		sub.Handler.ServeHTTP(w, r)
	}))
	// A handler that does not read the body does not notice a closed connection: Close ends its context.
	sub.server.BaseContext = func(net.Listener) context.Context { return b.webhooks.life }
	b.serving.Go(func() { _ = sub.server.Serve(listener) })
}

// checkTarget checks the text of an address. A host name is checked when it is dialled.
func (b *Sandbox) checkTarget(target string) error {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return errors.New("the URL must be an absolute http or https address; credentials belong in BasicUser and BasicPassword")
	}
	if net.ParseIP(u.Hostname()) != nil && !loopback.IsHost(u.Hostname()) && !b.namedHost(target) {
		return errors.New("the URL is not on a loopback address, nor on a host that was named for webhooks")
	}
	return nil
}

func (b *Sandbox) notification(d *delivery) []byte {
	return b.background().jsonOf(object{
		"id": d.ID, "timestamp": b.timestamp(b.clock.Now()), "eventType": d.EventType, "data": d.data(),
	})
}

// DeliveryFault is a fault of the first attempt of a delivery. The zero value is no
// fault.
type DeliveryFault struct {
	Twice    bool          // posts the notification two times at once
	Tampered bool          // changes the body after it was signed
	Shift    time.Duration // moves the time of the signature: negative is the past, as in a replay
}

// NextDelivery sets the faults of the next deliveries, one each, in order.
func (b *Sandbox) NextDelivery(faults ...DeliveryFault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.webhooks.faults = append(b.webhooks.faults, faults...)
}
