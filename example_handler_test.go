package quickstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"time"

	"github.com/quickstream-go/quickstream"
)

// A browser that closes ends the context of its request. A payment that is on its way
// must not end with it, because its outcome would then be unknown: it gets a context of
// its own, with a limit, and its end is stored whether or not somebody reads the answer.
func Example_httpHandler() {
	box, client := exampleSandbox()
	defer box.Close()
	token := tokenFromBrowser(client, visaCard)

	const longest = 40 * time.Second // for a customer to wait; then it is looked up
	pay := func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), longest)
		defer cancel()
		payment, err := client.Transactions.Pay(ctx, orderParams("ORDER-1", "49.95", token)) // and WithBeforeSend, to store the intent
		switch {
		case errors.Is(err, quickstream.ErrOutcomeUnknown):
			fmt.Println("hold the order") // and give the intent to package resolve
			w.WriteHeader(http.StatusAccepted)
		case err != nil:
			fmt.Println(err)
			w.WriteHeader(http.StatusBadGateway)
		default:
			fmt.Println("store:", payment.Status)
		}
	}
	server := &http.Server{
		Handler:           http.HandlerFunc(pay),
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      longest + 5*time.Second, // or the handler cannot answer
	} // ListenAndServe; Shutdown waits for handlers that are still paying

	browser, closeBrowser := context.WithCancel(context.Background())
	onItsWay := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { closeBrowser() }}
	request := httptest.NewRequestWithContext(httptrace.WithClientTrace(browser, onItsWay), http.MethodPost, "/pay", nil)
	server.Handler.ServeHTTP(httptest.NewRecorder(), request)
	fmt.Println("the browser:", browser.Err())
	// Output:
	// store: Approved
	// the browser: context canceled
}
