package otelquickstream_test

import (
	"context"
	"errors"
	"fmt"
	"log"
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

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// The answer to a payment is lost, and so is that to its second request. The payment is
// found by a look-up, which is in the same trace.
func ExampleNewObserver() {
	// A program gives otel.GetTracerProvider() and otel.GetMeterProvider().
	exported := tracetest.NewInMemoryExporter()
	observer, err := otelquickstream.NewObserver(sdktrace.NewTracerProvider(sdktrace.WithSyncer(exported)), sdkmetric.NewMeterProvider())
	check(err)
	box := sandbox.New()
	defer box.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box), quickstream.WithHTTPClient(box.HTTPClient()),
		quickstream.WithRetryWait(time.Millisecond, time.Millisecond), quickstream.WithObserver(observer))
	check(err)
	check(box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()}))

	_, err = client.Transactions.Pay(context.Background(), quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromCard(sandboxtest.Card("4242424242424242")),
		PrincipalAmount: decimal.RequireFromString("49.95"), Currency: quickstream.CurrencyAUD, ECI: quickstream.ECIPhone,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}, quickstream.WithMaxAttempts(2))
	lost, _ := errors.AsType[*quickstream.UnknownOutcomeError](err)
	_, err = client.Transactions.Resume(context.Background(), *lost.Intent) // as a job would, with the stored intent
	check(err)
	for _, span := range exported.GetSpans() {
		fmt.Println(span.SpanContext.TraceID() == exported.GetSpans()[0].SpanContext.TraceID(), span.Name, span.Status.Code)
	}
	// Output:
	// true POST /transactions Error
	// true POST /transactions Error
	// true Transactions.Pay Error
	// true GET /transactions/for-reference-number Unset
	// true Transactions.Resume Unset
}
