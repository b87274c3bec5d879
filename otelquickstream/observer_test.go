package otelquickstream_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const (
	approved = "4242424242424242"
	declined = "4111111111444496"

	server = " server.address=localhost server.port=80"
	post   = "POST /transactions, client, "
)

// TestSpans: a call is a span, and each of its requests a child of it that says what
// became of the request.
func TestSpans(t *testing.T) {
	missing := func(b *bench) error { return second(b.client.Transactions.Get(b.t.Context(), "R-404")) }
	pays := func(card string, opts ...quickstream.CallOption) func(*bench) error {
		return func(b *bench) error { return second(b.pay(b.t.Context(), card, opts...)) }
	}
	answered := []string{
		post + "Unset: http.request.method=POST http.response.status_code=201" + server + " url.template=/transactions",
		"Transactions.Pay, client, Unset: quickstream.attempts=1 quickstream.operation=Transactions.Pay quickstream.result=success",
	}
	lost := sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()}
	for name, c := range map[string]struct {
		faults []sandbox.Fault
		call   func(*bench) error
		want   []string
	}{
		"success":  {call: pays(approved), want: answered},
		"declined": {call: pays(declined), want: answered},
		"lost, then answered": {faults: []sandbox.Fault{{Operation: lost.Operation, Kind: lost.Kind, Times: 1}}, call: pays(approved), want: []string{
			post + "Error: error.type=network_reset http.request.method=POST" + server + " url.template=/transactions",
			post + "Unset: http.request.method=POST http.request.resend_count=1 http.response.status_code=201" + server + " url.template=/transactions",
			"Transactions.Pay, client, Unset: quickstream.attempts=2 quickstream.operation=Transactions.Pay quickstream.result=success",
		}},
		"lost": {faults: []sandbox.Fault{lost}, call: pays(approved, quickstream.WithMaxAttempts(2)), want: []string{
			post + "Error: error.type=network_reset http.request.method=POST" + server + " url.template=/transactions",
			post + "Error: error.type=network_reset http.request.method=POST http.request.resend_count=1" + server + " url.template=/transactions",
			"Transactions.Pay, client, Error: error.type=network_reset quickstream.attempts=2 quickstream.operation=Transactions.Pay quickstream.result=unknown",
		}},
		"lost, then declined": {faults: []sandbox.Fault{{Operation: lost.Operation, Kind: sandbox.ResetBeforeCommit(), Times: 1}}, call: pays(declined), want: []string{
			post + "Error: error.type=network_reset http.request.method=POST" + server + " url.template=/transactions",
			post + "Unset: http.request.method=POST http.request.resend_count=1 http.response.status_code=201" + server + " url.template=/transactions",
			"Transactions.Pay, client, Error: error.type=unsettled quickstream.attempts=2 quickstream.operation=Transactions.Pay quickstream.result=unknown",
		}},
		"refused": {call: missing, want: []string{
			"GET /transactions/{receiptNumber}, client, Error: error.type=404 http.request.method=GET http.response.status_code=404" + server + " url.template=/transactions/{receiptNumber}",
			"Transactions.Get, client, Error: error.type=answer_not_found quickstream.attempts=1 quickstream.operation=Transactions.Get quickstream.result=answered quickstream.trace_code=TRACE",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				require.NoError(t, b.box.Inject(c.faults...))
				err := c.call(b)
				if refused, ok := errors.AsType[*quickstream.APIError](err); ok {
					require.NotEmpty(t, refused.TraceCode)
					c.want[1] = strings.Replace(c.want[1], "=TRACE", "="+refused.TraceCode, 1)
				}
				spans := b.exported.GetSpans()
				last := spans[len(spans)-1]
				for _, request := range spans[:len(spans)-1] {
					assert.Equal(t, last.SpanContext.SpanID(), request.Parent.SpanID())
					assert.False(t, request.StartTime.Before(last.StartTime))
					assert.False(t, request.EndTime.After(last.EndTime))
				}
				assert.Equal(t, c.want, b.lines())
			})
		})
	}
}

// TestMetrics: calls are counted by how they ended, and requests as the conventions say.
// A report that is not ready is no error.
func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		require.NoError(t, b.box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Nth: 2, Times: 1}))
		for range 3 {
			_, err := b.pay(t.Context(), approved)
			require.NoError(t, err)
		}
		_, err := b.client.Transactions.Get(t.Context(), "R-404")
		require.ErrorIs(t, err, quickstream.ErrNotFound)
		_, err = b.client.Transactions.Void(t.Context(), "")
		require.ErrorIs(t, err, quickstream.ErrNotSent)
		assert.Equal(t, []string{
			"1 http.client.request.duration: error.type=404 http.request.method=GET http.response.status_code=404" + server,
			"1 http.client.request.duration: error.type=network_reset http.request.method=POST" + server,
			"1 quickstream.client.call.duration: quickstream.operation=Transactions.Get quickstream.result=answered",
			"1 quickstream.client.call.duration: quickstream.operation=Transactions.Void quickstream.result=not_sent",
			"1 quickstream.client.calls: error.type=answer_not_found quickstream.operation=Transactions.Get quickstream.result=answered",
			"1 quickstream.client.calls: error.type=validation quickstream.operation=Transactions.Void quickstream.result=not_sent",
			"3 http.client.request.duration: http.request.method=POST http.response.status_code=201" + server,
			"3 quickstream.client.call.duration: quickstream.operation=Transactions.Pay quickstream.result=success",
			"3 quickstream.client.calls: quickstream.operation=Transactions.Pay quickstream.result=success",
		}, b.counted())
		b.spans()
		_, err = b.client.Transactions.DownloadReport(t.Context(), io.Discard, quickstream.ReportParams{SettlementDate: quickstream.Date{Year: 2026, Month: time.March, Day: 2}})
		require.ErrorIs(t, err, quickstream.ErrReportNotReady)
		ended := b.lines()
		assert.Equal(t, "Transactions.DownloadReport, client, Unset: quickstream.attempts=1 quickstream.operation=Transactions.DownloadReport quickstream.result=answered", ended[len(ended)-1])
	})
}

// TestSpansOfWrappers: a wrapper may begin a span of its own within the call's. That one
// still ends with the call, and has its requests.
func TestSpansOfWrappers(t *testing.T) {
	b := newBench(t)
	wrapped := b.observer
	var inner trace.Span
	wrapped.Start = func(ctx context.Context, call quickstream.CallInfo) context.Context {
		ctx, inner = b.tracing.Tracer("shop").Start(b.observer.Start(ctx, call), "inner")
		return ctx
	}
	_, err := sandboxtest.Client(t, b.box, quickstream.WithObserver(wrapped)).Transactions.Get(t.Context(), "R-404")
	require.ErrorIs(t, err, quickstream.ErrNotFound)
	assert.True(t, inner.IsRecording(), "the wrapper ends it")
	inner.End()
	spans := b.spans()
	require.Len(t, spans, 3)
	call := named(t, spans, "Transactions.Get")
	assert.Equal(t, codes.Error, call.Status.Code)
	for _, child := range []string{"inner", "GET /transactions/{receiptNumber}"} {
		assert.Equal(t, call.SpanContext.SpanID(), named(t, spans, child).Parent.SpanID(), child)
	}
	assert.Empty(t, named(t, spans, "inner").Attributes)
}

func second[T any](_ T, err error) error { return err }
