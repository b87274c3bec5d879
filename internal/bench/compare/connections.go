package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	"github.com/quickstream-go/quickstream"
)

// counter is a server over TLS that counts the connections made to it.
type counter struct {
	*httptest.Server
	connections atomic.Int64
}

func count(handler http.HandlerFunc) *counter {
	c := &counter{Server: httptest.NewUnstartedServer(handler)}
	c.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			c.connections.Add(1)
		}
	}
	c.Config.ErrorLog = log.New(io.Discard, "", 0) // of callers that hang up
	c.StartTLS()
	return c
}

// roots trust the server.
func (c *counter) roots() *x509.CertPool {
	return c.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
}

// ours returns a client of the library with its default settings.
func (c *counter) ours(opts ...quickstream.ClientOption) *quickstream.Client {
	return ours(c.URL, append(opts, quickstream.WithRootCAs(c.roots()))...)
}

// usual returns a client with the default settings of net/http, which discards the bodies of answers.
func (c *counter) usual() plainClient {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig.RootCAs = c.roots()
	return plainClient{&http.Client{Transport: transport}, drain}
}

// crowds compares how much 64 callers get done over TLS.
func crowds(ctx context.Context, m plan) []line {
	return append(crowd(ctx, m, 0, 15), crowd(ctx, m, 10*time.Millisecond, 3)...)
}

func crowd(ctx context.Context, m plan, takes time.Duration, bound float64) []line {
	handler := func(w http.ResponseWriter, _ *http.Request) {
		if takes > 0 {
			<-time.After(takes)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, smallJSON)
	}
	mine, theirs := count(handler), count(handler)
	defer mine.Close()
	defer theirs.Close()
	client, usual := mine.ours(), theirs.usual()
	const callers, each = 64, 4
	url := theirs.URL + apiBase + "/transactions/" + receipt
	get := func() error {
		return together(callers, each, func() error { _, err := client.Transactions.Get(ctx, receipt); return err })
	}
	check(together(1, 5, get)) // until it is warm
	warm := mine.connections.Load()
	r := m.long().run(
		work{"ours", get},
		work{"usual", func() error {
			return together(callers, each, func() error { return usual.get(ctx, url, nil) })
		}},
	)
	what := fmt.Sprintf("4 calls of 64 callers over TLS, %d ms handler", takes.Milliseconds())
	return []line{
		faster("P15", what+" / http.DefaultTransport", r, "ours", "usual").atLeast(bound),
		counted("P15", what+", new connections once warm", "new", float64(mine.connections.Load()-warm)).atMost(0),
	}
}

// lostConnections counts the connections that could not be used for another request. Its answers lose the
// connection of a client that does not read them to the end.
func lostConnections(ctx context.Context, _ plan) []line {
	awkward := []struct {
		status int
		body   string
	}{
		{http.StatusUnprocessableEntity, `{"status":422,"developerMessage":"test","errors":[]}`},
		{http.StatusNotFound, `<html>` + strings.Repeat("0", 2000) + `</html>`},
		{http.StatusInternalServerError, ``},
		{http.StatusOK, smallJSON},
		{http.StatusNoContent, ``},
		{http.StatusAccepted, `{"status":"PENDING"}`},
	}
	turn := 0
	mine := count(func(w http.ResponseWriter, _ *http.Request) {
		a := awkward[turn%len(awkward)]
		turn++
		w.Header().Set("Content-Type", "application/json")
		if a.status != http.StatusOK {
			answer(w, a.status, a.body)
			return
		}
		_, _ = io.WriteString(w, a.body)          // of unknown length, its end in a write of its own
		_ = http.NewResponseController(w).Flush() // its failure shows at the client
		<-time.After(200 * time.Microsecond)
	})
	defer mine.Close()
	client := mine.ours(quickstream.WithMaxAttempts(1))
	const answers = 1000
	for i := range answers {
		var resp quickstream.Response
		_, err := client.Transactions.Get(ctx, receipt, quickstream.WithResponseInto(&resp))
		if want := awkward[i%len(awkward)].status; resp.StatusCode != want {
			check(fmt.Errorf("status %d in place of %d: %w", resp.StatusCode, want, err))
		}
	}
	what := fmt.Sprintf("connections lost over %d error, chunked, 204 and 202 answers", answers)
	return []line{counted("P16", what, "lost", float64(mine.connections.Load()-1)).atMost(0)}
}
