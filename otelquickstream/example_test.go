package otelquickstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/shopspring/decimal"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/otelquickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// The answer to a payment is lost, and so is that to its second request. The payment is
// found by a look-up, which is in the same trace.
func ExampleNewObserver() {
	// A program gives otel.GetTracerProvider() and otel.GetMeterProvider().
	exported := tracetest.NewInMemoryExporter()
	observer, err := otelquickstream.NewObserver(
		sdktrace.NewTracerProvider(sdktrace.WithSyncer(exported)), sdkmetric.NewMeterProvider())
	if err != nil {
		fmt.Println(err)
		return
	}
	clock := sandbox.NewClock(time.Now())
	box := sandbox.New(sandbox.WithClock(clock))
	defer box.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box), quickstream.WithHTTPClient(box.HTTPClient()),
		quickstream.WithRetryWait(time.Millisecond, time.Millisecond), quickstream.WithObserver(observer))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := payAndLook(context.Background(), box, clock, client); err != nil {
		fmt.Println(err)
	}
	trace := exported.GetSpans()[2].SpanContext.TraceID() // that of the payment; the token came before
	for _, span := range exported.GetSpans() {
		if span.SpanContext.TraceID() == trace {
			fmt.Println(span.Name, span.Status.Code)
		}
	}
	// Output:
	// POST /transactions Error
	// POST /transactions Error
	// Transactions.Pay Error
	// GET /transactions/for-reference-number Unset
	// Transactions.Resume Unset
}

func payAndLook(ctx context.Context, box *sandbox.Sandbox, clock *sandbox.Clock, client *quickstream.Client) error {
	token, err := sandboxtest.CardToken(ctx, client, "4242424242424242")
	if err != nil {
		return err
	}
	if err := box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()}); err != nil {
		return err
	}
	_, err = client.Transactions.Pay(ctx, quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard),
		PrincipalAmount: decimal.RequireFromString("49.95"), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), // the customer's
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}, quickstream.WithMaxAttempts(2))
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	if !ok {
		return fmt.Errorf("not lost: %w", err)
	}
	clock.Advance(time.Minute)
	_, err = quickstream.RequireApproved(client.Transactions.Resume(ctx, *lost.Intent)) // as a job would, with the stored intent
	return err
}
