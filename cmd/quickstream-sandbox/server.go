package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/internal/liveclock"
	"github.com/quickstream-go/quickstream/sandbox"
)

// newHandler puts the service and what surrounds it behind one port, for a server
// that ends when ctx does.
func newHandler(ctx context.Context, box *sandbox.Sandbox, clock *liveclock.Clock) (http.Handler, error) {
	c := &control{box: box, clock: clock}
	mux := c.routes()
	p, err := newPages(c, ctx.Done())
	if err != nil {
		return nil, err
	}
	p.add(mux)
	return guard{service: box, control: mux, origins: box.Assumptions().AllowedOrigins}, nil
}

// listen takes loopback addresses only: whoever reaches the port controls the
// sandbox.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, err
	}
	if !loopbackHost(addr) {
		return nil, fmt.Errorf("%q is not a loopback address", addr)
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", addr)
}

// serve ends when ctx does: it lets go of what hangs and gives the rest a moment.
func serve(ctx context.Context, l net.Listener, h http.Handler, box *sandbox.Sandbox) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	box.Close()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if server.Shutdown(grace) != nil {
		return server.Close()
	}
	return nil
}
