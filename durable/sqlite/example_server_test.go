package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/console"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// A web server with an engine: the page of an order, the webhook endpoint, the console, the health check,
// the comparison of each day, and a graceful stop.
func Example_server() {
	box := sandbox.New()
	defer box.Close()
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background()) // signal.NotifyContext in a program
	go func() {
		defer stop()
		visit("http://" + listener.Addr().String())
	}()
	if err := runServer(ctx, box, filepath.Join(dir, "shop.db"), listener); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 200 /ready
	// 200 /orders/ORDER-1
	// 403 /payments/
	// 405 /webhooks
}

func runServer(ctx context.Context, box *sandbox.Sandbox, file string, listener net.Listener) error {
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box), quickstream.WithHTTPClient(box.HTTPClient()))
	if err != nil {
		return err
	}
	db, err := sqlite.Open(file)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := durable.MigrateUp(ctx, sqlite.DB(db)); err != nil {
		return err
	}
	off := resolve.ServiceRetriesOff()
	engine, err := durable.New(ctx, sqlite.DB(db), client, durable.Options[*sql.Tx]{
		Installation: "shop-example", ServiceRetries: &off, OnOutcome: markOrder, OnEvent: keepEvent, CompareAt: &resolve.TimeOfDay{Hour: 4},
	})
	if err != nil {
		return err
	}
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{"from the portal"})
	if err != nil {
		return err
	}
	office, err := console.New(engine, sqlite.DB(db), console.Options{Authorize: staff})
	if err != nil {
		return err
	}
	return serve(ctx, engine, verifier, office, listener)
}

// serve works until ctx ends, as on SIGTERM, and then lets what is under way come to its end.
func serve(ctx context.Context, engine *durable.Engine[*sql.Tx], verifier *signature.Verifier, office *console.Handler, listener net.Listener) error {
	mux := http.NewServeMux()
	mux.Handle("/webhooks", engine.Inbox(verifier))
	mux.Handle("/payments/", http.StripPrefix("/payments", office)) // behind your login
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, r *http.Request) {
		if err := engine.Ready(r.Context()); err != nil {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("GET /orders/{order}", func(w http.ResponseWriter, r *http.Request) {
		payment, err := engine.PaymentOf(r.Context(), r.PathValue("order"))
		if err != nil && !errors.Is(err, durable.ErrNoWrite) {
			http.Error(w, "try again", http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, forCustomer(payment, err))
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	server.RegisterOnShutdown(office.Close)
	if err := engine.Start(ctx); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute) // longer than Options.LongestPay
	defer cancel()
	return errors.Join(err, server.Shutdown(last), engine.Stop(last))
}

// forCustomer is what the customer reads. OnOutcome is not notified of a payment that is under way, so ask the engine.
func forCustomer(p durable.Payment, missing error) string {
	switch {
	case missing != nil:
		return "You can pay."
	case p.Paid():
		return "It is paid."
	case p.Blocks(): // queued, sending, resolving, not_found, escalated
		return "We are finding out. Do not pay again."
	case p.Approved(): // voided, returned
		return "Your money has come back. You can pay again." // with the id of another attempt
	default: // declined, refused, not_sent
		return "It was not paid. You can pay again."
	}
}

// staff says who may use the console, by the merchant's login.
func staff(*http.Request) (console.Person, error) {
	return console.Person{}, errors.New("not logged in")
}

// keepEvent is the shop's OnEvent: it stores the state that the API has confirmed. It may get the same state twice.
func keepEvent(ctx context.Context, tx *sql.Tx, n *webhooks.Notification) error {
	event, err := n.Event()
	if e, ok := event.(*webhooks.AgreementEvent); ok {
		_, err = tx.ExecContext(ctx, "INSERT INTO agreements (token, status) VALUES (?, ?) ON CONFLICT (token) DO UPDATE SET status = excluded.status",
			e.Agreement().AgreementToken, e.Agreement().Status)
	}
	return err
}

func visit(address string) {
	for _, path := range []string{"/ready", "/orders/ORDER-1", "/payments/", "/webhooks"} {
		response, err := http.Get(address + path)
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = response.Body.Close()
		fmt.Println(response.StatusCode, path)
	}
}
