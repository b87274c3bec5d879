package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// newHandler puts the service and what surrounds it behind one port.
func newHandler(box *sandbox.Sandbox, clock *liveClock) (http.Handler, error) {
	c := &control{box: box, clock: clock}
	mux := c.routes()
	p, err := newPages(c)
	if err != nil {
		return nil, err
	}
	p.add(mux)
	// The control endpoints take no key, so that other sites' pages in the same
	// browser must not reach them.
	guarded := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.HasPrefix(r.URL.Path, controlPath+"/"):
			box.ServeHTTP(w, r)
		case !loopbackHost(r.Host):
			http.Error(w, "only by a loopback name", http.StatusForbidden)
		default:
			guarded.ServeHTTP(w, r)
		}
	}), nil
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

// loopbackHost judges a host with or without a port, by its text.
func loopbackHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return ip.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// serve ends when ctx does: it lets go of what hangs and gives the rest a moment.
func serve(ctx context.Context, l net.Listener, h http.Handler, box *sandbox.Sandbox) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
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
