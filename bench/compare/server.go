package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/quickstream-go/quickstream"
)

// The service is played by a child process, so that its processor time and its
// garbage are not the client's.

const (
	apiBase   = "/rest/v1"
	slowBase  = "/slow" + apiBase // pages take a time there
	listRoute = "/transactions/for-settlement-date?settlementDate=2024-02-03"
)

// pageTime is how long the service takes for a page at its slow address.
const pageTime = 10 * time.Millisecond

// serve returns a service that answers from what it has made once.
func serve(base string) http.Handler {
	var made sync.Map
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := made.Load(r.RequestURI)
		if !ok {
			body, _ = made.LoadOrStore(r.RequestURI, bodyOf(base, r))
		}
		text, _ := body.(string)
		if strings.HasPrefix(r.URL.Path, slowBase) {
			<-time.After(pageTime)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		if text == "" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, text) //nolint:gosec // JSON, and not from the request
	})
}

// bodyOf returns the body of an answer, and "" where there is nothing.
func bodyOf(base string, r *http.Request) string {
	number := func(text string, missing int) int {
		if n, err := strconv.Atoi(text); err == nil {
			return n
		}
		return missing
	}
	query := r.URL.Query()
	page, pages := number(query.Get("page"), 0), number(query.Get("pages"), 1)
	route, _, _ := strings.Cut(listRoute, "?")
	switch r.URL.Path {
	case apiBase + route:
		return pageJSON(base+apiBase, listRoute, page, pages)
	case slowBase + route:
		return pageJSON(base+slowBase, listRoute, page, pages)
	case apiBase + "/transactions/" + receipt:
		return transactionJSON(base+apiBase, 1000000001)
	case "/v1/payment_intents/pi_1":
		return intentJSON(1)
	case "/v1/payment_intents":
		last := number(strings.TrimPrefix(query.Get("starting_after"), "pi_"), -1)
		return intentPageJSON((last+1)/pageSize, pages)
	}
	return ""
}

// serveParent is what the child process does: it prints its address, and ends with its parent.
func serveParent(ctx context.Context, in io.Reader, out io.Writer) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	base := "http://" + listener.Addr().String()
	server := &http.Server{Handler: serve(base), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // until it is closed
	if _, err := fmt.Fprintln(out, base); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return errors.Join(err, server.Close())
}

// peers are the clients of one service.
type peers struct {
	base   string // scheme and host
	ours   *quickstream.Client
	plain  plainClient
	stripe *stripe.Client
}

// withService starts the child process, and has clients of it measured.
func withService(ctx context.Context, route string, measured func(peers) ([]line, error)) (lines []line, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-child") //nolint:gosec // this very program
	cmd.Stderr = os.Stderr
	in, inFailed := cmd.StdinPipe()
	out, outFailed := cmd.StdoutPipe()
	if err := errors.Join(inFailed, outFailed, cmd.Start()); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close(), cmd.Wait()) }()
	base, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, err
	}
	base = strings.TrimSpace(base)
	client, err := ours(base + route)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	return measured(peers{base, client, plainClient{&http.Client{Transport: pooled()}}, stripes(base, &http.Client{Transport: pooled()})})
}
