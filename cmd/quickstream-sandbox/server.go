package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

const servicePath = "/rest/v1"

// serve makes the sandbox and serves it until ctx ends.
func (s *settings) serve(ctx context.Context, stdout io.Writer, logger *slog.Logger) error {
	if s.token != "" && !tokenForm.MatchString(s.token) {
		return errors.New("-token: a token has at least 16 printable ASCII characters, and neither blanks nor colons")
	}
	if err := errors.Join(checkKey("-secret-key", s.keys.Secret, secretPrefix), checkKey("-publishable-key", s.keys.Publishable, publishablePrefix)); err != nil {
		return err
	}
	l, err := s.listen(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // if it was not served
	origin := s.origin(l.Addr().String())
	clock := sandbox.NewRunningClock(time.Now())
	if s.expose && s.token == "" {
		s.token = rand.Text()
	}
	box := sandbox.New(append(s.options(), sandbox.WithClock(clock), sandbox.WithOrigin(origin), sandbox.WithLogger(logger))...)
	defer box.Close()
	if s.webhook.URL != "" {
		if err := s.webhook.add(box); err != nil {
			return fmt.Errorf("-webhook: %w", err)
		}
	}
	host, _, _ := net.SplitHostPort(strings.TrimPrefix(origin, "http://"))
	handler, err := newHandler(&control{box: box, clock: clock, log: logger}, guard{hosts: append(s.hosts, host), token: s.token})
	if err != nil {
		return err
	}
	if err := announce(stdout, box, origin, s.token); err != nil {
		return err
	}
	return serve(ctx, l, handler, box, logger)
}

// options returns the options of the sandbox that flags set.
func (s *settings) options() []sandbox.Option {
	opts := []sandbox.Option{
		sandbox.WithKeys(s.keys),
		sandbox.WithWebhookHosts(s.webhookHosts...),
		sandbox.WithAnswerBodies(),
		sandbox.WithAssumptions(func(a *sandbox.Assumptions) { *a = s.assumptions }),
	}
	if s.shops != "" {
		opts = append(opts, sandbox.WithShop(strings.Split(s.shops, ",")...))
	}
	return opts
}

// listen opens the port. Only -expose allows an address that is not a loopback address.
func (s *settings) listen(ctx context.Context) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(s.addr); err != nil {
		return nil, fmt.Errorf("-addr: %w", err)
	}
	if !s.expose && !isLoopback(hostOf(s.addr)) {
		return nil, fmt.Errorf("-addr: %q is not a loopback address; -expose allows it", s.addr)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.addr)
	if err != nil {
		return nil, fmt.Errorf("%w: choose another address with -addr; port 0 takes a free one", err)
	}
	return l, nil
}

// origin returns the scheme and the host under which clients reach the sandbox at an address.
func (s *settings) origin(addr string) string {
	host, port, _ := net.SplitHostPort(addr) // it is a listener's
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	if len(s.hosts) > 0 {
		host = s.hosts[0]
	}
	return "http://" + net.JoinHostPort(host, port)
}

// newHandler puts the service, the control endpoints and the pages behind one port.
func newHandler(c *control, g guard) (http.Handler, error) {
	mux := c.routes()
	p, err := newPages(c)
	if err != nil {
		return nil, err
	}
	p.add(mux)
	g.service, g.control, g.log = c.box, mux, c.log
	return g, nil
}

// serve serves until ctx ends. Then it ends calls that hang, and gives the others two seconds.
func serve(ctx context.Context, l net.Listener, h http.Handler, box *sandbox.Sandbox, logger *slog.Logger) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
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
