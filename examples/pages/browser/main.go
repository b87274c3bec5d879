// Command browser is the program of docs/browser.md. With -serve a browser can use it.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"html/template"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

//go:embed checkout.html
var page string

// checkout serves the page and takes the token that its script has made.
type checkout struct {
	client *quickstream.Client
	// The publishable key may be seen. The script is the service's: {environment}/quickstream-api-1.0.min.js.
	Key, Script, Business string
}

func (c *checkout) handler() http.Handler {
	mux := http.NewServeMux()
	shown := template.Must(template.New("").Parse(page))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _ = shown.Execute(w, c) })
	mux.HandleFunc("POST /payment", func(w http.ResponseWriter, r *http.Request) {
		status, text, err := c.pay(r.Context(), r.PostFormValue("singleUseTokenId"))
		if err != nil {
			log.Print(err)
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, text)
	})
	return mux
}

// pay is called with the browser's token, and again after a challenge. It never reads a result that the browser
// claims, nor knows whether the order was paid before: a shop stores each attempt, as the quick start does. 402 lets
// the customer try again.
func (c *checkout) pay(ctx context.Context, token string) (status int, text string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	amount := decimal.RequireFromString("49.95")
	result, err := c.client.SingleUseTokens.Authenticate(ctx, token, quickstream.AuthenticateParams{
		MessageCategory: quickstream.ThreeDSMessageCategoryPayment, Purpose: quickstream.ThreeDSPurposePayment,
		PrincipalAmount: &amount, Currency: quickstream.CurrencyAUD, Email: "ann@example.com",
		BillingAddress: quickstream.ThreeDSAddress{Line1: "1 George St", City: "Sydney", PostCode: "2000", State: "NSW", Country: "036"},
	})
	if err != nil {
		return http.StatusPaymentRequired, "Your card could not be checked. Look at your order before you try again.", err // this call charged nothing
	}
	switch result.TransStatus.Next() {
	case quickstream.ThreeDSStepProceed:
	case quickstream.ThreeDSStepChallenge:
		return http.StatusOK, "challenge", nil
	default:
		return http.StatusPaymentRequired, "Your bank did not confirm that it is you.", nil
	}
	_, err = c.client.Transactions.Pay(ctx, quickstream.PayParams{
		Source: quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard), ThreeDS2: new(true),
		PrincipalAmount: amount, ECI: quickstream.ECIInternet, CustomerReferenceNumber: "ORDER-1042",
		IPAddress: netip.MustParseAddr("203.0.113.10"), // the customer's, from the request
	})
	switch {
	case err == nil:
		return http.StatusOK, "Thank you.", nil
	case errors.Is(err, quickstream.ErrDeclined):
		return http.StatusPaymentRequired, "The card was declined.", nil
	case errors.Is(err, quickstream.ErrPending), errors.Is(err, quickstream.ErrOutcomeUnknown):
		return http.StatusAccepted, "We are checking your payment. Do not pay again.", err
	default:
		return http.StatusPaymentRequired, "This attempt took nothing. Look at your order before you try again.", err // another one may have paid
	}
}

func main() {
	serve := flag.String("serve", "", "serve the page at this `address`, such as 127.0.0.1:8080, for a browser")
	flag.Parse()
	if err := run(context.Background(), *serve); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, serve string) error {
	if serve != "" {
		return forBrowsers(ctx, serve)
	}
	box, client, err := sandboxtest.Open()
	if err != nil {
		return err
	}
	defer box.Close()
	c := &checkout{client: client}
	token, err := sandboxtest.CardToken(ctx, client, sandbox.CardChallenge, sandboxtest.ThreeDS) // what the script does
	if err != nil {
		return err
	}
	fmt.Println("first:", post(ctx, c, token))
	if err := box.AnswerChallenge(token, sandbox.ThreeDSAuthenticated); err != nil { // the cardholder, in the bank's frame
		return err
	}
	fmt.Println("then:", post(ctx, c, token))
	return nil
}

// forBrowsers serves the page, and the sandbox on a free port: it has a stand-in of the service's script.
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
	c := &checkout{client: client, Key: box.Keys().Publishable, Script: script + "/rest/v1/quickstream-api-1.0.min.js", Business: sandbox.DefaultBusiness}
	go func() { log.Fatal(http.Serve(service, box)) }() //nolint:gosec // an example
	fmt.Println("open", page)
	return http.Serve(shop, c.handler()) //nolint:gosec // an example
}

// post is what the page's script sends.
func post(ctx context.Context, c *checkout, token string) string {
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/payment", strings.NewReader(url.Values{"singleUseTokenId": {token}}.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer := httptest.NewRecorder()
	c.handler().ServeHTTP(answer, request)
	return answer.Body.String()
}
