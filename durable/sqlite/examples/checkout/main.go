// Command checkout is the program of docs/browser.md: a web checkout with 3D Secure and refunds. Alone it plays a customer. With
// -serve it serves the page, with a sandbox in the process, or for the service that the variable QUICKSTREAM_ENVIRONMENT names.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

func main() {
	serve := flag.String("serve", "", "serve the page at this `address`, such as 127.0.0.1:8080, for a browser")
	flag.Parse()
	ctx := context.Background()
	var err error
	switch {
	case *serve == "":
		err = demonstrate(ctx)
	case os.Getenv("QUICKSTREAM_ENVIRONMENT") == "":
		err = forBrowsers(ctx, *serve)
	default:
		ended, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
		err = forCustomers(ended, *serve, "shop.db")
		stop()
	}
	if err != nil {
		log.Fatal(err)
	}
}

// demonstrate plays a customer who is challenged, and staff.
func demonstrate(ctx context.Context) error {
	box, client, err := sandboxtest.Open()
	if err != nil {
		return err
	}
	defer box.Close()
	return withOrder(ctx, client, func(c *checkout, handler http.Handler) error {
		token, err := sandboxtest.CardToken(ctx, client, sandbox.CardChallenge, sandboxtest.ThreeDS) // what the page's script does
		if err != nil {
			return err
		}
		post := func(path string) string {
			form := url.Values{"token": {token}, "attempt": {"5c1f8f0e-6a3e-4c0e-9a64-0d6b5a1f7c11"}}
			request := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(form.Encode()))
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			return strings.TrimSpace(answer.Body.String())
		}
		fmt.Println("the form:", post("/orders/ORDER-1042/payments"))
		if err := box.AnswerChallenge(token, sandbox.TransStatusAuthenticated); err != nil { // the cardholder, in the bank's frame
			return err
		}
		fmt.Println("after the challenge:", post("/orders/ORDER-1042/payments"))
		fmt.Println("sent again:", post("/orders/ORDER-1042/payments"))
		fmt.Println("charged:", len(box.Ledger().Charged("ORDER-1042")))
		for range 2 {
			fmt.Println("staff:", post("/orders/ORDER-1042/refund"))
		}
		refund, err := c.engine.Wait(ctx, "refund 1 of 5c1f8f0e-6a3e-4c0e-9a64-0d6b5a1f7c11")
		fmt.Println("the refund is", refund.State)
		return err
	})
}

// withOrder calls do with a checkout of one order, and removes its database after that.
func withOrder(ctx context.Context, client *quickstream.Client, do func(c *checkout, handler http.Handler) error) (err error) {
	dir, err := os.MkdirTemp("", "checkout")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	c, err := open(ctx, db, client)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.engine.Stop(context.WithoutCancel(ctx))) }()
	if _, err := db.ExecContext(ctx, `INSERT INTO orders (number, amount, email, line1, city, postcode, state_of_address)
		VALUES ('ORDER-1042', '49.95', 'ann@example.com', '1 George St', 'Sydney', '2000', 'NSW')`); err != nil {
		return err
	}
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{"the secret of your webhooks"})
	if err != nil {
		return err
	}
	handler := c.handler(verifier)
	return do(c, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("X-Real-IP", "203.0.113.10") // the proxy
		handler.ServeHTTP(w, r)
	}))
}

// forBrowsers serves the page, and the sandbox on a free port, which has a stand-in for the service's script.
func forBrowsers(ctx context.Context, address string) error {
	shop, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	service, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	page, script := "http://"+shop.Addr().String(), "http://"+service.Addr().String()
	box, client, err := sandboxtest.Open(sandbox.WithShop(page), sandbox.WithOrigin(script))
	if err != nil {
		return err
	}
	go func() { log.Fatal(http.Serve(service, box)) }() //nolint:gosec // an example
	return withOrder(ctx, client, func(c *checkout, handler http.Handler) error {
		c.Key, c.Script, c.Business = box.Keys().Publishable, script+"/rest/v1/quickstream-api-1.0.min.js", sandbox.DefaultBusiness
		fmt.Println("open", page+"/orders/ORDER-1042")
		return http.Serve(shop, handler) //nolint:gosec // an example
	})
}
