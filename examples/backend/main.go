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
	ctx := context.Background()
	shop, box, err := open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, card := range []string{"4111111111444496", "4242424242424242", "4242424242424242"} { // the first has no funds
		fmt.Println(press(ctx, shop, "ORDER-1", card))
	}
	fmt.Println("charged:", len(box.Ledger().Charged("ORDER-1")))
}

// open returns a shop with one order, and the simulated service.
func open(ctx context.Context) (*Shop, *sandbox.Sandbox, error) {
	box := sandbox.New()
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box),
		append(facility(), quickstream.WithHTTPClient(box.HTTPClient()))...)
	if err != nil {
		return nil, nil, err
	}
	shop, err := NewShop(ctx, client, ":memory:")
	if err != nil {
		return nil, nil, err
	}
	_, err = shop.DB.ExecContext(ctx, `INSERT INTO orders VALUES ('ORDER-1', '49.95')`)
	return shop, box, err
}

// facility holds what your bank says: your business, your currency, and that it retries no declines.
func facility() []quickstream.ClientOption {
	return []quickstream.ClientOption{
		quickstream.WithSupplierBusinessCode(sandbox.DefaultBusiness), quickstream.WithCurrency(quickstream.CurrencyAUD),
		quickstream.WithFinalDeclines(true),
	}
}

// NewShop opens the database.
func NewShop(ctx context.Context, client *quickstream.Client, file string) (*Shop, error) {
	db, err := sql.Open("sqlite", file)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // SQLite has one writer
	_, err = db.ExecContext(ctx, schema)
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff()) // change it with WithFinalDeclines in facility
	return &Shop{Client: client, DB: db, Policy: policy, Now: time.Now}, err
}

// press pays as the customer's browser does: it makes a token, and sends the form.
func press(ctx context.Context, shop *Shop, order, card string) string {
	token, err := sandboxtest.CardToken(ctx, shop.Client, card)
	if err != nil {
		return err.Error()
	}
	return submit(ctx, shop, order, token)
}

func submit(ctx context.Context, shop *Shop, order, token string) string {
	form := url.Values{"token": {token}}
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/orders/"+order+"/payments", strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.RemoteAddr = "203.0.113.10:1234"
	answer := httptest.NewRecorder()
	shop.Handler().ServeHTTP(answer, request)
	return strings.TrimSpace(answer.Body.String())
}
