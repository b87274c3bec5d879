package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/stripe/stripe-go/v85"

	"github.com/quickstream-go/quickstream"
)

// key is what the compared clients authorise with.
const key = "test-key-for-nothing"

// peers are the clients of one service.
type peers struct {
	base   string // scheme and host
	ours   *quickstream.Client
	plain  plainClient
	v2     plainClient // decodes with encoding/json/v2 while it reads
	stripe *stripe.Client
}

// newPeers returns the clients. stripe-go's logs nothing and reports nothing.
func newPeers(base string, plain, forStripe http.RoundTripper, opts ...quickstream.ClientOption) peers {
	merchants := &http.Client{Transport: plain}
	return peers{base, ours(base, opts...), plainClient{merchants, whole(json.Unmarshal)}, plainClient{merchants, readV2}, stripe.NewClient(key, stripe.WithBackends(
		stripe.NewBackendsWithConfig(&stripe.BackendConfig{
			URL: stripe.String(base), HTTPClient: &http.Client{Transport: forStripe}, MaxNetworkRetries: stripe.Int64(0),
			EnableTelemetry: stripe.Bool(false), LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
		})))}
}

// ours returns a client of the library.
func ours(base string, opts ...quickstream.ClientOption) *quickstream.Client {
	keys := quickstream.Keys{Secret: quickstream.NewSecretKey(key)}
	return must(quickstream.NewClient(quickstream.CustomURL(base+apiBase), keys, opts...))
}

// gets returns the cases that read one object each, after it has checked that they read the same.
func (p peers) gets(ctx context.Context) []work {
	url := p.base + apiBase + "/transactions/" + receipt
	for _, client := range append([]plainClient{p.plain}, ifV2(p.v2)...) {
		var theirs plainTransaction
		check(client.get(ctx, url, &theirs))
		check(same(must(p.ours.Transactions.Get(ctx, receipt)), &theirs))
	}
	check(sameIntent(must(p.stripe.V1PaymentIntents.Retrieve(ctx, "pi_1", nil)), 1))
	cases := []work{
		{"ours", func() error { _, err := p.ours.Transactions.Get(ctx, receipt); return err }},
		{"net/http", func() error { return p.plain.get(ctx, url, new(plainTransaction)) }},
		{"stripe-go", func() error { _, err := p.stripe.V1PaymentIntents.Retrieve(ctx, "pi_1", nil); return err }},
	}
	if onV2 {
		inPlace := plainClient{p.plain.http, whole(unmarshalV2)}
		cases = append(cases,
			work{"json/v2", func() error { return inPlace.get(ctx, url, new(plainTransaction)) }},
			work{"json/v2 reads", func() error { return p.v2.get(ctx, url, new(plainTransaction)) }})
	}
	return cases
}

// sameIntent returns an error unless stripe-go has understood its payment.
func sameIntent(p *stripe.PaymentIntent, n int) error {
	if p.ID != fmt.Sprintf("pi_%d", n) || p.Amount != intentCents(n) || p.LatestCharge == nil || !p.LatestCharge.Paid {
		return fmt.Errorf("stripe-go has not understood payment %d", n)
	}
	return nil
}

// calls compares one call without a network: P1 and P1b with decoding, P2 without.
func calls(ctx context.Context, m plan) []line {
	const url = stubHost + apiBase + "/transactions/" + receipt
	full := newStub(transactionJSON(stubHost, 1000000001))
	small := &http.Client{Transport: newStub(smallJSON)}
	p := newPeers(stubHost, full, newStub(intentJSON(1)), quickstream.WithHTTPClient(&http.Client{Transport: full}))
	drained := plainClient{small, drain}
	smallClient := ours(stubHost, quickstream.WithHTTPClient(small))
	var decoded *quickstream.Transaction
	cases := append(
		p.gets(ctx),
		work{"ours, small", func() error { _, err := smallClient.Transactions.Get(ctx, receipt); return err }},
		work{"decode, small", func() error {
			decoded = new(quickstream.Transaction) // on the heap, as in a call
			return decoded.UnmarshalJSON([]byte(smallJSON))
		}},
		work{"drained", func() error { return drained.get(ctx, url, nil) }},
	)
	r := m.run(cases...)
	allocs := make(map[string]float64)
	for _, c := range cases {
		allocs[c.name] = testing.AllocsPerRun(200, func() { check(c.do()) })
	}
	for round, took := range r["ours, small"] {
		r["own layer"] = append(r["own layer"], took-r["decode, small"][round])
	}
	return slices.Concat([]line{
		slower("P1", "GET typed / net/http + encoding/json", r, "ours", "net/http").atMost(0.60, 0.92),
		slower("P1", "GET typed, stripe-go / net/http + encoding/json", r, "stripe-go", "net/http"),
		counted("P1", "GET typed, allocations", "allocs", allocs["ours"]).atMost(75),
	}, ifV2(
		slower("P1b", "GET typed / net/http + ReadAll + encoding/json/v2", r, "ours", "json/v2").atMost(1.1),
		slower("P1b", "GET typed / net/http + encoding/json/v2 UnmarshalRead", r, "ours", "json/v2 reads"),
	), []line{
		slower("P2", "own layer / NewRequest + BasicAuth + Do + drain", r, "own layer", "drained").atMost(2.4),
		counted("P2", "own layer, allocations", "allocs", allocs["ours, small"]-allocs["decode, small"]).atMost(25),
	})
}

// load compares the processor time of a call while 32 callers keep the machine busy.
func load(ctx context.Context, m plan) []line {
	p, stop := startService(ctx)
	defer stop()
	cases := p.gets(ctx)
	for i, c := range cases {
		cases[i].do = func() error { return together(32, 8, c.do) }
	}
	m.clock = cpu
	r := m.run(cases...)
	return []line{
		slower("P4", "CPU of 256 calls by 32 callers / net/http", r, "ours", "net/http").atMost(0.95, 1.0),
		slower("P4", "CPU of 256 calls by 32 callers / stripe-go", r, "ours", "stripe-go").atMost(0.45, 0.55),
	}
}

// together does something in many callers at once, each so many times.
func together(callers, times int, do func() error) error {
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for range times {
				if errs[i] = do(); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
