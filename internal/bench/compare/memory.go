package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/csvreport"
	"github.com/quickstream-go/quickstream/internal/heaptest"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const (
	mebibyte   = 1 << 20
	successCap = 8 * mebibyte
	errorCap   = mebibyte
	recordCap  = 16 * mebibyte
	longReport = 256 * mebibyte // as long as reports of some days
)

// memory measures the peaks of the heap above what the caller holds, as multiples of the largest body that is read. No body is made before
// its turn: a large heap makes the collector lazy. A report that is downloaded is not bounded: its row has mebibytes.
func memory(ctx context.Context, _ plan) []line {
	get := func(status int) func(string) {
		return func(body string) {
			_, _ = respond(status, body).Transactions.Get(ctx, receipt) // the body may be refused
		}
	}
	look := func(body string) {
		_ = each(respond(http.StatusOK, body).Transactions.ByReference("REF-1").All(ctx), 0, nil) // may be refused too
	}
	items := func(n int, item string) string {
		return heaptest.Full(successCap, `{"data":[`, padded((successCap-20)/n, item+","), `]}`)
	}
	lines := slices.Concat(
		worst("object", successCap, get(http.StatusOK), padded(successCap, `{"receiptNumber":"R-1","metadata":{`+members(149_000, `""`)+`"m":"~"}}`)),
		worst(
			"list", successCap, look,
			items(4_999, `{"receiptNumber":"1","creditCard":{},"bankAccount":{},"metadata":{"a":""},"principalAmount":1,"responseDescription":"~"}`),
			items(14, `{"receiptNumber":"1","responseDescription":"~","links":[`+strings.Repeat(`{"rel":"a"},`, 4_999)+`{}]}`),
		),
		worst("error", errorCap, get(http.StatusUnprocessableEntity), padded(errorCap, `{"~":"m"}`)),
		worst("webhook", webhooks.MaxBody, func(body string) { deliver(ctx, body) }, padded(
			webhooks.MaxBody, `{"id":"1","eventType":"payto.payment.approved","data":{"receiptNumber":"1","metadata":{`+members(4_900, `""`)+`"m":"~"}}}`,
		)),
		worst("CSV, of its longest record", recordCap, readReport, "a"+strings.Repeat(",a", 14)+strings.Repeat("\r\n"+longest(), 4)),
	)
	for _, report := range []endless{0, 0xff} {
		client := answered(http.StatusOK, "text/plain", func() io.Reader { return io.LimitReader(report, longReport) })
		peak := heaptest.Least(0, func() {
			must(client.Transactions.DownloadReport(ctx, io.Discard, quickstream.ReportParams{SettlementDate: quickstream.NewDate(2026, time.March, 2)}))
		})
		what := fmt.Sprintf("report of %d MiB, each byte %#x: peak", longReport/mebibyte, byte(report))
		lines = append(lines, counted("P17", what, "MiB", float64(peak)/mebibyte).atMost(1))
	}
	return lines
}

// worst measures bodies of the largest size that is read: those that were found to cost most. Tests of the packages
// bound the cost of others. The texts of the bodies are UTF-8 first, and then they are not.
func worst(name string, limit int, read func(body string), bodies ...string) (lines []line) {
	for _, text := range []struct {
		name string
		is   []string
	}{{"", []string{"xx"}}, {" that is no UTF-8", []string{"\xff\xff", "\xffa"}}} {
		var peak int64
		for _, body := range bodies {
			for _, is := range text.is {
				changed := strings.ReplaceAll(body, "xx", is)
				peak = max(peak, heaptest.Least(peak, func() { read(changed) })) // a cheaper body than the worst needs no second run
			}
		}
		what := fmt.Sprintf("worst %s%s: peak in MiB, as a multiple of its cap", name, text.name)
		lines = append(lines, counted("P17", what, "", float64(peak)/float64(limit)).atMost(8))
	}
	return lines
}

// endless repeats one byte.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// padded returns a body of a length, in which a long text replaces the ~.
func padded(length int, body string) string {
	return strings.Replace(body, "~", strings.Repeat("x", length-len(body)+1), 1)
}

// answered returns a client whose service gives every request the same answer.
func answered(status int, mediaType string, body func() io.Reader) *quickstream.Client {
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {mediaType}}, Body: io.NopCloser(body()), ContentLength: -1, Request: r,
		}, nil
	})
	return ours(stubHost, quickstream.WithHTTPClient(&http.Client{Transport: transport}), quickstream.WithMaxAttempts(1))
}

func respond(status int, body string) *quickstream.Client {
	return answered(status, "application/json", func() io.Reader { return strings.NewReader(body) })
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// deliver sends a notification, signed with the right secret, to an endpoint with a store.
func deliver(ctx context.Context, body string) {
	verifier := must(signature.NewVerifier(signature.AssumedHMAC{}, []string{hookSecret}))
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set(signature.Header, must(signature.Sign(signature.AssumedHMAC{}, hookSecret, time.Now(), []byte(body))))
	w := httptest.NewRecorder()
	webhooks.NewHandler(verifier, func(_ context.Context, n *webhooks.Notification) error {
		_, _ = n.Event() // a text that is no UTF-8 may be refused
		return nil
	}, webhooks.WithStore(new(webhooks.MemoryStore))).ServeHTTP(w, r)
	if w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
		check(fmt.Errorf("the endpoint answered %d", w.Code))
	}
}

// longest is a record of 15 cells.
func longest() string {
	return strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("x", mebibyte-2)+`",`, 15), ",")
}

// readReport keeps a copy of each row.
func readReport(body string) {
	for row, err := range must(csvreport.NewReader(strings.NewReader(body))).Rows() {
		if err == nil { // a text that is no UTF-8 is refused
			_ = row.Clone()
		}
	}
}

// members returns n members of an object, each with its comma.
func members(n int, value string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%x":%s,`, i, value)
	}
	return b.String()
}
