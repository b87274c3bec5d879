package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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
)

// worst is a kind of answer with bodies that cost much, of the largest size that is read.
type worst struct {
	kind   string
	limit  int
	bodies func() []string                         // made when needed: what is on the heap makes the collector lazy
	ours   func(body string) (func() error, error) // prepares what is measured, whose error is one of the measurement
}

// padded returns a body of a length, which holds a long text where ~ stands.
func padded(length int, body string) string {
	return strings.Replace(body, "~", strings.Repeat("x", length-len(body)+1), 1)
}

// objectOf returns n members of an object, each with its comma.
func objectOf(n int, value string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%x":%s,`, i, value)
	}
	return b.String()
}

// answered is a client whose service answers everything alike.
func answered(status int, mediaType string, body func() io.Reader) (*quickstream.Client, error) {
	transport := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Header: http.Header{"Content-Type": {mediaType}}, Body: io.NopCloser(body()), ContentLength: -1, Request: r,
		}, nil
	})
	return ours(stubBase, quickstream.WithHTTPClient(&http.Client{Transport: transport}), quickstream.WithMaxAttempts(1))
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// asked has a client answered with a body, and leaves it to the library what becomes of
// that.
func asked(ctx context.Context, status int, call func(context.Context, *quickstream.Client) error) func(string) (func() error, error) {
	return func(body string) (func() error, error) {
		client, err := answered(status, "application/json", func() io.Reader { return strings.NewReader(body) })
		return func() error { _ = call(ctx, client); return nil }, err
	}
}

func worstAnswers(ctx context.Context) []worst {
	get := func(ctx context.Context, c *quickstream.Client) error {
		_, err := c.Transactions.Get(ctx, receipt)
		return err
	}
	look := func(ctx context.Context, c *quickstream.Client) error {
		for _, err := range c.Transactions.ByReference("REF-1").All(ctx) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	items := func(n int, item string) string {
		text := strings.Repeat("x", (successCap-len(item)*n-20)/n)
		return `{"data":[` + strings.TrimSuffix(strings.Repeat(strings.Replace(item, "~", text, 1)+",", n), ",") + `]}`
	}
	return []worst{
		{"object", successCap, func() []string {
			return []string{
				heaptest.Full(successCap, `{"receiptNumber":"R-1","links":[`, `{},`, `]}`),
				heaptest.Full(successCap, `{"receiptNumber":"`, `1`, `"}`),
				padded(successCap, `{"receiptNumber":"R-1",`+objectOf(149_000, `1`)+`"m":"~"}`),
				padded(successCap, `{"receiptNumber":"R-1","metadata":{`+objectOf(149_000, `""`)+`"m":"~"}}`),
			}
		}, asked(ctx, http.StatusOK, get)},
		{"list", successCap, func() []string {
			return []string{
				heaptest.Full(successCap, `{"data":[`, `{},`, `]}`),
				items(4_999, `{"receiptNumber":"1","creditCard":{},"bankAccount":{},"metadata":{"a":""},"principalAmount":1,"responseDescription":"~"}`),
				items(14, `{"receiptNumber":"1","responseDescription":"~","links":[`+strings.Repeat(`{"rel":"a"},`, 4_999)+`{}]}`),
			}
		}, asked(ctx, http.StatusOK, look)},
		{"error", errorCap, func() []string {
			return []string{
				heaptest.Full(errorCap, `{"errors":[`, `{},`, `]}`),
				heaptest.Full(errorCap, `{"new":[`, `[[]],`, `]}`),
				heaptest.Full(errorCap, `{"customerMessage":"`, `\u00e9`, `"}`),
				heaptest.Full(errorCap, `<html>`, `?a `, ``),
				`{` + objectOf(4_900, `1`) + `"customerMessage":"` + strings.Repeat("/?", 80_000) + `"}`,
			}
		}, asked(ctx, http.StatusUnprocessableEntity, get)},
		{"webhook", webhooks.DefaultMaxBody, func() []string {
			return []string{
				heaptest.Full(webhooks.DefaultMaxBody, `{"id":"1","eventType":"x","data":[`, `{},`, `]}`),
				padded(webhooks.DefaultMaxBody, `{"id":"1","eventType":"x","data":{"a":"~"}}`),
				padded(webhooks.DefaultMaxBody, `{"id":"1","eventType":"payto.payment.approved","data":{"receiptNumber":"1","metadata":{`+objectOf(4_900, `""`)+`"m":"~"}}}`),
			}
		}, func(body string) (func() error, error) { return endpoint(ctx, body) }},
		{"CSV, of its longest record", recordCap, func() []string {
			return []string{
				"a" + strings.Repeat(",a", 14) + strings.Repeat("\r\n"+strings.TrimSuffix(strings.Repeat(`"`+strings.Repeat("x", mebibyte-2)+`",`, 15), ","), 4),
				"a,b\r\n\"" + strings.Repeat("x", 4*recordCap),
			}
		}, func(body string) (func() error, error) { return func() error { return readReport(body) }, nil }},
	}
}

// endpoint prepares a delivery, by a sender who has the secret, to an endpoint with a store.
func endpoint(ctx context.Context, body string) (func() error, error) {
	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{webhooks.NewSecret(hookSecret)})
	if err != nil {
		return nil, err
	}
	header, err := signature.Sign(signature.AssumedHMAC{}, hookSecret, time.Now(), []byte(body))
	return func() error {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set(signature.Header, header)
		w := httptest.NewRecorder()
		webhooks.NewHandler(verifier, func(_ context.Context, n *webhooks.Notification) error {
			_, err := n.Event()
			return err
		}, webhooks.WithStore(new(webhooks.MemoryStore))).ServeHTTP(w, r)
		if w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
			return fmt.Errorf("the endpoint answered %d", w.Code)
		}
		return nil
	}, err
}

// readReport keeps a copy of each row.
func readReport(body string) error {
	reader, err := csvreport.NewReader(strings.NewReader(body))
	if err != nil {
		return err
	}
	for row, err := range reader.Rows() {
		if _, damaged := errors.AsType[*csvreport.Error](err); err != nil {
			if damaged {
				return nil
			}
			return err
		}
		_ = row.Clone()
	}
	return nil
}

// memory measures the peaks of the heap over what the caller has, as multiples of what
// is read of a body at most. A report that is downloaded is not bounded: its row has
// mebibytes.
func memory(ctx context.Context, _ scale) ([]line, error) {
	var lines []line
	for _, kind := range worstAnswers(ctx) {
		var mine int64
		for _, body := range kind.bodies() {
			ours, failed := kind.ours(body)
			if failed != nil {
				return nil, failed
			}
			mine = max(mine, heaptest.Least(0, func() { failed = errors.Join(failed, ours()) }))
			if failed != nil {
				return nil, failed
			}
		}
		what := fmt.Sprintf("worst %s: peak in MiB, as a multiple of its cap", kind.kind)
		l := counted("P17", what, float64(mine)/mebibyte, float64(kind.limit)/mebibyte, "").atMost(8)
		l.value = float64(mine) / float64(kind.limit)
		lines = append(lines, l)
	}
	report := func() io.Reader { return io.LimitReader(zeros{}, longReport) }
	client, err := answered(http.StatusOK, "text/plain", report)
	if err != nil {
		return nil, err
	}
	mine := heaptest.Least(0, func() {
		_, err = client.Transactions.DownloadReport(ctx, io.Discard, quickstream.ReportParams{SettlementDate: quickstream.Date{Year: 2026, Month: time.March, Day: 2}})
	})
	return append(lines, counted("P17", fmt.Sprintf("report of %d MiB: peak", longReport/mebibyte), float64(mine)/mebibyte, longReport/mebibyte, "MiB").atMost(1)), err
}

// longReport is as long as reports of some days.
const longReport = 256 * mebibyte

// zeros is a text without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
