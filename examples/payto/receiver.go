package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// receive starts the webhook receiver. The algorithm of the signature is assumed,
// which is why ConfirmWith asks the API before anything is believed.
func (m *merchant) receive(ctx context.Context, listen, secret string) (address string, closeReceiver func(), err error) {
	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{webhooks.NewSecret(secret)})
	if err != nil {
		return "", nil, err
	}
	handle := webhooks.ConfirmWith(m.client, m.inbox.store)
	mux := http.NewServeMux()
	mux.Handle("POST /webhooks/quickstream", webhooks.NewHandler(verifier, handle, webhooks.WithStore(new(webhooks.MemoryStore))))
	server := &http.Server{
		Handler: mux, BaseContext: func(net.Listener) context.Context { return ctx },
		// Without these a slow sender holds a connection for ever.
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return "", nil, err
	}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			m.timeline.note("the webhook receiver stopped: " + err.Error())
		}
	}()
	return listener.Addr().String(), func() { _ = server.Close() }, nil
}

// inbox is where notifications are kept until the collection asks for them. One
// can arrive before the answer to the request that caused it. A merchant's inbox
// is a table.
type inbox struct {
	mu         sync.Mutex
	arrived    chan struct{} // closed and replaced when something arrives
	agreements map[string]*quickstream.Agreement
	payments   map[string]*quickstream.Transaction
	source     string
}

func newInbox() *inbox {
	return &inbox{
		arrived:    make(chan struct{}),
		agreements: map[string]*quickstream.Agreement{}, payments: map[string]*quickstream.Transaction{},
	}
}

func (b *inbox) store(_ context.Context, n *webhooks.Notification) error {
	event, err := n.Event()
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch event := event.(type) {
	case *webhooks.PaymentEvent:
		b.payments[event.Transaction().ReceiptNumber] = event.Transaction()
	case *webhooks.AgreementEvent:
		b.agreements[event.Agreement().AgreementToken] = event.Agreement()
	default: // a kind of event that this program does not use
		return nil
	}
	close(b.arrived)
	b.arrived = make(chan struct{})
	return nil
}

func (b *inbox) lastSource() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.source == "" {
		return "the answer"
	}
	return b.source
}

// next waits for a notification about id, or polls, whichever comes first.
func next[T any](ctx context.Context, every time.Duration, b *inbox, kept map[string]*T, id string, get func(context.Context) (*T, error)) (*T, error) {
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		b.mu.Lock()
		value, ok := kept[id]
		arrived := b.arrived
		if ok {
			delete(kept, id)
			b.source = "event"
		}
		b.mu.Unlock()
		if ok {
			return value, nil
		}
		select {
		case <-arrived:
		case <-timer.C:
			value, err := get(ctx)
			if errors.Is(err, quickstream.ErrNotFound) {
				timer.Reset(every) // not visible yet
				continue
			}
			b.mu.Lock()
			b.source = "poll"
			b.mu.Unlock()
			return value, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
