// Command shop is a small shop in a browser, with a sandbox in place of the payments service:
//
//	go -C examples/shop run .
//
// It sells one mug, by card with 3D Secure or once by PayTo. Each order has a page that says what became of its payment, and
// stays up to date. On the page "Trouble" answers get lost, the service cannot be reached or hangs, the payment engine is
// killed, and two days pass. A bar compares what the pages say with what the service has charged. The console of package
// durable is behind a password, which the program prints.
//
// Everything is in memory or in a temporary folder, and is gone when the program ends. It listens on this machine only.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	address := flag.String("addr", "127.0.0.1:8080", "serve the shop at this `address` of this machine")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *address)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

// run serves the shop until ctx ends.
func run(ctx context.Context, address string) (err error) {
	folder, err := os.MkdirTemp("", "shop")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	pages, err := listen(ctx, address)
	if err != nil {
		return err
	}
	service, err := listen(ctx, "127.0.0.1:0") // for the browser: it gets the service's script there, and the bank's frame
	if err != nil {
		return err
	}
	s, err := openShop(ctx, filepath.Join(folder, "shop.db"), origin(pages), origin(service), slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	defer s.close()
	fmt.Printf("open %s\nThe console's password is %s\n", origin(pages), s.password)
	return serve(ctx, map[net.Listener]http.Handler{pages: s.handler(), service: s.box})
}

// listen opens a port, on this machine only: anybody who reaches the shop can break it.
func listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if at, isTCP := l.Addr().(*net.TCPAddr); !isTCP || !at.IP.IsLoopback() {
		return nil, errors.Join(errors.New("the shop is a demonstration, and listens on this machine only, such as at 127.0.0.1:8080"), l.Close())
	}
	return l, nil
}

func origin(l net.Listener) string { return "http://" + l.Addr().String() }

// serve serves each handler on its listener until ctx ends, or one of them fails.
func serve(ctx context.Context, handlers map[net.Listener]http.Handler) error {
	failed := make(chan error, len(handlers))
	var servers []*http.Server
	for l, handler := range handlers {
		server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
		servers = append(servers, server)
		go func() { failed <- server.Serve(l) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	for _, server := range servers {
		_ = server.Close() // streams would never end by themselves
	}
	return err
}
