package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// requests gives the sandbox's page something to show: payments, and events for a program that takes
// them. The environment is what the sandbox's command prints.
func requests(ctx context.Context) error {
	received := make(chan bool, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { received <- true }))
	defer receiver.Close()
	if err := control(ctx, "/subscriptions", fmt.Sprintf(`{"url":%q,"secret":"whsec"}`, receiver.URL+"/")); err != nil {
		return err
	}
	client, err := quickstream.NewClient(quickstream.CustomURL(os.Getenv("QUICKSTREAM_ENVIRONMENT")), quickstream.KeysFromEnv())
	if err != nil {
		return err
	}
	for i, card := range []string{"4242424242424242", "4111111111444496", "5163200000000008"} {
		if _, err := client.Transactions.Pay(ctx, quickstream.PayParams{
			SupplierBusinessCode: sandbox.DefaultBusiness, CustomerReferenceNumber: fmt.Sprintf("ORDER-%d", 1042+i), ECI: quickstream.ECIPhone,
			Source: quickstream.FromCard(sandboxtest.Card(card)), PrincipalAmount: decimal.RequireFromString("49.95"), Currency: quickstream.CurrencyAUD,
			StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		}); err != nil {
			return err
		}
	}
	if err := control(ctx, "/trigger/payto.agreement.declined", ""); err != nil {
		return err
	}
	select {
	case <-received:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// control asks the sandbox's command for something.
func control(ctx context.Context, path, body string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("SANDBOX")+path, strings.NewReader(body)) //nolint:gosec // on this machine
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r) //nolint:gosec // on this machine
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
