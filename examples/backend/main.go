// Command backend is a merchant's backend.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	clock := sandbox.NewClock(time.Now())
	box := sandbox.New(sandbox.WithClock(clock))
	defer box.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), quickstream.Keys{
		Secret:      quickstream.NewSecretKey(box.Keys().Secret),
		Publishable: quickstream.NewPublishableKey(box.Keys().Publishable),
	}, quickstream.WithHTTPClient(box.HTTPClient()))
	if err != nil {
		return err
	}
	shop, err := NewShop(client, NewStore(), sandbox.DefaultBusiness, clock.Now)
	if err != nil {
		return err
	}
	browser := Browser{Box: box, Client: client}
	token, err := browser.TypeCard(ctx, sandbox.CardChallenge)
	if err != nil {
		return err
	}
	row, err := shop.PayByCard(ctx, "ORDER-1", decimal.RequireFromString("49.95"), token, browser.Visitor())
	fmt.Println(row.Status(), row.Seen().ReceiptNumber, err)
	return err
}
