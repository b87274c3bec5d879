package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func main() {
	ctx, clock := context.Background(), sandbox.NewClock(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC)) // 10:00 in Sydney
	box := sandbox.New(sandbox.WithClock(clock))
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box), // in production EnvironmentFromEnv, KeysFromEnv
		append(facility(), quickstream.WithHTTPClient(box.HTTPClient()), quickstream.WithClock(clock.Now))...)
	if err == nil {
		err = client.Check(ctx) // address, network and key: before the first customer
	}
	if err != nil {
		log.Fatal(err)
	}
	shop, err := NewShop(ctx, client, ":memory:", clock.Now)
	if err != nil {
		log.Fatal(err)
	}

	if _, err := shop.DB.ExecContext(ctx, `INSERT INTO orders VALUES ('ORDER-1042', '49.95')`); err != nil {
		log.Fatal(err)
	}
	fault := sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 3} // no answer arrives
	if err := box.Inject(fault); err != nil {
		log.Fatal(err)
	}
	for range 2 { // the customer presses twice
		token, err := sandboxtest.CardToken(ctx, client, "4242424242424242") // in the browser
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(press(ctx, shop, "ORDER-1042", token))
	}
	clock.Advance(time.Hour)
	if err := shop.Resolve(ctx); err != nil { // the job
		log.Fatal(err)
	}
	fmt.Println(shop.State(ctx, "ORDER-1042"), "and charged", len(box.Ledger().Charged("ORDER-1042")), "time(s)")
}

// facility is what your bank says of yours: the business, the currency, and that it retries no declines.
func facility() []quickstream.ClientOption {
	return []quickstream.ClientOption{
		quickstream.WithSupplierBusinessCode(sandbox.DefaultBusiness), quickstream.WithCurrency(quickstream.CurrencyAUD),
		quickstream.WithServiceRetries(false),
	}
}

// NewShop opens the database.
func NewShop(ctx context.Context, client *quickstream.Client, file string, now func() time.Time) (*Shop, error) {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer
	_, err = db.ExecContext(ctx, schema)
	return &Shop{Client: client, DB: db, Policy: resolve.DefaultPolicy(resolve.ServiceRetriesOff()), Now: now}, err
}

// press stands for the customer's browser.
func press(ctx context.Context, shop *Shop, order, token string) string {
	form := url.Values{"singleUseTokenId": {token}}
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/orders/"+order+"/payment", strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.RemoteAddr = "203.0.113.10:1234"
	answer := httptest.NewRecorder()
	shop.Handler().ServeHTTP(answer, request)
	return strings.TrimSpace(answer.Body.String())
}
