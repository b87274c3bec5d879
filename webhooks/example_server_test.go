package webhooks_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// newServer returns a server that slow senders cannot exhaust. By default an http.Server waits for
// headers for ever.
func newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,  // the TLS handshake included
		ReadTimeout:       20 * time.Second, // also bodies that no handler reads
		WriteTimeout:      60 * time.Second, // longer than handling takes at most
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
	}
}

// A server for a webhook endpoint limits every wait for the sender. Limit the number of connections
// in a proxy or a listener.
func Example_server() {
	secret := webhooks.NewSecret("the subscription's secret")
	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{secret})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("POST /webhooks/quickstream", webhooks.NewHandler(verifier, func(_ context.Context, n *webhooks.Notification) error {
		fmt.Println("stored", n.EventType)
		return nil
	}))
	server := newServer(mux)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	stopped := make(chan error)
	go func() { stopped <- server.Serve(listener) }() // ServeTLS, or behind a proxy that ends TLS

	signer := webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: secret}
	notification, err := webhooks.NewNotification(webhooks.EventTypePayToPaymentApproved, map[string]string{"receiptNumber": "1000000001"})
	if err != nil {
		fmt.Println(err)
		return
	}
	request, err := signer.NewRequest(context.Background(), "http://"+listener.Addr().String()+"/webhooks/quickstream", notification)
	if err != nil {
		fmt.Println(err)
		return
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	response.Body.Close()
	fmt.Println(response.Status)

	// Let running requests finish, so that they are acknowledged.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fmt.Println(server.Shutdown(ctx), <-stopped)
	// Output:
	// stored payto.payment.approved
	// 200 OK
	// <nil> http: Server closed
}
