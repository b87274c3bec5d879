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
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer receiver.Close()
	subscribed, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("SANDBOX")+"/subscriptions",
		strings.NewReader(fmt.Sprintf(`{"url":%q,"secret":"whsec"}`, receiver.URL+"/")))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(subscribed) //nolint:gosec // on this machine
	if err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil {
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
	return nil
}
