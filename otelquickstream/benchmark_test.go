package otelquickstream_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/otelquickstream"
)

// stub answers every request alike, so that nearly all that is measured is the client's.
type stub struct{}

func (stub) RoundTrip(*http.Request) (*http.Response, error) {
	const body = `{"receiptNumber":"R-1"}`
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

// BenchmarkCall compares a call without an observer with one under providers that do
// nothing, and under those of the SDK that export nothing.
func BenchmarkCall(b *testing.B) {
	noop, err := otelquickstream.NewObserver(tracenoop.NewTracerProvider(), metricnoop.NewMeterProvider())
	sdk, sdkErr := otelquickstream.NewObserver(sdktrace.NewTracerProvider(), sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())))
	if err := errors.Join(err, sdkErr); err != nil {
		b.Fatal(err)
	}
	for _, way := range []struct {
		name     string
		observer quickstream.Observer
	}{{"none", quickstream.Observer{}}, {"noop", noop}, {"sdk", sdk}} {
		b.Run(way.name, func(b *testing.B) {
			keys := quickstream.Keys{Secret: quickstream.NewSecretKey("SECRET_KEY_1")}
			client, err := quickstream.NewClient(quickstream.CustomURL("https://api.invalid/rest/v1"), keys,
				quickstream.WithHTTPClient(&http.Client{Transport: stub{}}), quickstream.WithObserver(way.observer))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.Transactions.Get(b.Context(), "R-1"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
