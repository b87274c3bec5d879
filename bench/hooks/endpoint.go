package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const path = "/webhooks/quickstream"

// loseAnswer is the header of requests whose answer is to be lost.
const loseAnswer = "X-Lose-Answer"

// merchant returns an endpoint as a merchant has it.
func merchant(s settings, handle webhooks.Func) (http.Handler, error) {
	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{webhooks.NewSecret(secret)})
	if err != nil {
		return nil, err
	}
	store := &webhooks.MemoryStore{MaxIDs: s.ids}
	return webhooks.NewHandler(verifier, handle, webhooks.WithStore(store)), nil
}

// endpoint is the server of an endpoint.
type endpoint struct {
	server  *http.Server
	address string
	stopped chan error
}

// listen serves a handler with the limits that package webhooks advises.
func listen(ctx context.Context, handler http.Handler) (*endpoint, error) {
	mux := http.NewServeMux()
	mux.Handle(path, handler)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &endpoint{
		server: &http.Server{
			Handler:           lossy(mux),
			ReadHeaderTimeout: 5 * time.Second,
			ReadTimeout:       20 * time.Second,
			WriteTimeout:      60 * time.Second,
			IdleTimeout:       60 * time.Second,
			MaxHeaderBytes:    16 << 10,
		},
		address: listener.Addr().String(),
		stopped: make(chan error, 1),
	}
	go func() { e.stopped <- e.server.Serve(listener) }()
	return e, nil
}

// close ends the server when all that it handles has been handled.
func (e *endpoint) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	err := e.server.Shutdown(ctx)
	if served := <-e.stopped; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// lossy is a network that loses answers: the connection ends in their place.
func lossy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		if r.Header.Get(loseAnswer) != "" {
			panic(http.ErrAbortHandler)
		}
	})
}

// errOnPurpose is what the function fails with.
var errOnPurpose = errors.New("failing on purpose")

// function is the merchant's function: it takes its time, as a commit does, and
// fails when the book says so, by an error and by a panic in turn.
func function(b *book, work time.Duration) webhooks.Func {
	return func(ctx context.Context, n *webhooks.Notification) error {
		number, ok := numberOf(n.ID)
		if !ok || !b.isOpen(number) || !bytes.Equal(n.Raw(), body(genuineID, number)) {
			b.reached()
			return nil
		}
		err := store(ctx, n, work)
		if err != nil {
			b.done(number, err)
			return err
		}
		which, fails := b.call(number)
		if !fails {
			b.done(number, nil)
			return nil
		}
		b.done(number, errOnPurpose)
		if which%2 == 0 {
			panic(errOnPurpose)
		}
		return errOnPurpose
	}
}

// store stands for storing the notification, which is not done for a sender that
// has gone away.
func store(ctx context.Context, n *webhooks.Notification, work time.Duration) error {
	if _, err := n.Event(); err != nil {
		return fmt.Errorf("a genuine notification: %w", err)
	}
	if work <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(work)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
