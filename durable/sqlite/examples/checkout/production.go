package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// forCustomers serves the checkout until ctx ends, at the service that the variables name.
func forCustomers(ctx context.Context, address, file string) error {
	environment, err := quickstream.EnvironmentFromEnv()
	if err != nil {
		return err
	}
	business := os.Getenv("SHOP_BUSINESS") // the supplier business code
	client, err := quickstream.NewClient(environment, quickstream.KeysFromEnv(), quickstream.WithSupplierBusinessCode(business),
		quickstream.WithCurrency(quickstream.CurrencyAUD), quickstream.WithFinalDeclines(true)) // as in options
	if err == nil {
		err = client.Check(ctx)
	}
	if err != nil {
		return err
	}
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{os.Getenv("SHOP_WEBHOOK_SECRET")})
	if err != nil {
		return err
	}
	db, err := sqlite.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	c, err := open(ctx, db, client)
	if err != nil {
		return err
	}
	c.Key, c.Script, c.Business = os.Getenv("QUICKSTREAM_PUBLISHABLE_KEY"), string(environment)+"/quickstream-api-1.0.min.js", business
	server := &http.Server{Addr: address, Handler: c.handler(verifier), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.ListenAndServe() }()
	select {
	case err = <-ended:
	case <-ctx.Done(): // requests and payments come to their end
		err = server.Shutdown(context.WithoutCancel(ctx))
	}
	return errors.Join(err, c.engine.Stop(context.WithoutCancel(ctx)))
}
