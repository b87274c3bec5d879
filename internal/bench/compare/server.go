package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	stubHost  = "https://service.invalid" // where requests go that a stub answers
	apiBase   = "/rest/v1"
	receipt   = "1000000001"
	listRoute = "/transactions/for-settlement-date"
	pageTime  = 10 * time.Millisecond // what the service takes for a page of a slow list
)

// newStub answers every request at once, so that nothing but the client costs time.
func newStub(text string) roundTripper {
	content, header := []byte(text), http.Header{"Content-Type": {"application/json"}}
	return func(req *http.Request) (*http.Response, error) {
		body := new(stubBody)
		body.content.Reset(content)
		return &http.Response{
			StatusCode: http.StatusOK, Header: header, Body: body, ContentLength: int64(len(content)), Request: req,
		}, nil
	}
}

// stubBody can only be read, like the body of a real answer.
type stubBody struct{ content bytes.Reader }

func (b *stubBody) Read(p []byte) (int, error) { return b.content.Read(p) }
func (b *stubBody) Close() error               { return nil }

// serve returns a service that makes each answer once and then repeats it.
func serve(base string) http.Handler {
	mux := http.NewServeMux()
	var made sync.Map
	for path, body := range map[string]func(url.Values) string{
		apiBase + "/transactions/" + receipt: func(url.Values) string { return transactionJSON(base, 1000000001) },
		apiBase + listRoute:                  func(query url.Values) string { return pageJSON(base, query) },
		"/v1/payment_intents/pi_1":           func(url.Values) string { return intentJSON(1) },
		"/v1/payment_intents":                intentPageJSON,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			text, ok := made.Load(r.RequestURI)
			if !ok {
				text, _ = made.LoadOrStore(r.RequestURI, body(r.URL.Query()))
			}
			if strings.Contains(r.URL.RawQuery, "slow") {
				<-time.After(pageTime)
			}
			w.Header().Set("Content-Type", "application/json")
			answer(w, http.StatusOK, text.(string))
		})
	}
	return mux
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// serveParent runs in the child process: it prints its address, and ends with its parent.
func serveParent(ctx context.Context, in io.Reader, out io.Writer) {
	listener := must(new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"))
	base := "http://" + listener.Addr().String()
	server := &http.Server{Handler: serve(base), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // until the process ends
	must(fmt.Fprintln(out, base))
	must(io.Copy(io.Discard, in))
}

// startService starts a process that plays the service, so that its processor time and its
// garbage are not the client's. The peers have as many connections as there are callers, so
// that they are not compared by their settings.
func startService(ctx context.Context) (p peers, stop func()) {
	cmd := exec.CommandContext(ctx, must(os.Executable()), "-child") //nolint:gosec // this very program
	cmd.Stderr = os.Stderr
	in, out := must(cmd.StdinPipe()), must(cmd.StdoutPipe())
	check(cmd.Start())
	base := strings.TrimSpace(must(bufio.NewReader(out).ReadString('\n')))
	pooled := http.Transport{MaxIdleConns: 200, MaxIdleConnsPerHost: 100}
	p = newPeers(base, pooled.Clone(), pooled.Clone())
	return p, func() {
		p.ours.CloseIdleConnections()
		check(in.Close())
		check(cmd.Wait())
	}
}
