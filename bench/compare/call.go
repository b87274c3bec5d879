package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/go-resty/resty/v2"
	"github.com/stripe/stripe-go/v85"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/bench/measure"
)

const receipt = "1000000001"

// calls compares one call without a network: P1 with decoding, P2 without.
func calls(ctx context.Context, s scale) ([]line, error) {
	cases, err := callCases(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.plan().Run(cases...)
	if err != nil {
		return nil, err
	}
	allocs := make(map[string]float64)
	for _, c := range cases {
		allocs[c.Name] = testing.AllocsPerRun(200, func() { err = errors.Join(err, c.Do()) })
	}
	const what = "GET typed"
	own := func(took func(string) float64) float64 { return took("ours, small") - took("decode, small") }
	layer := slower("P2", "own layer / NewRequest + BasicAuth + Do + drain", r, "ours, small", "drained")
	layer.ours = short(time.Duration(r.Over(own)))
	layer.value = r.Over(func(took func(string) float64) float64 { return own(took) / took("drained") })
	return []line{
		slower("P1", what+" / net/http + encoding/json", r, "ours", "net/http").atMost(0.8),
		slower("P1", what+", resty / net/http + encoding/json", r, "resty", "net/http"),
		slower("P1", what+", stripe-go / net/http + encoding/json", r, "stripe-go", "net/http"),
		counted("P1", what+", allocations", allocs["ours"], allocs["net/http"], "allocs").atMost(150),
		layer.atMost(1.6),
		counted("P2", "own layer, allocations", allocs["ours, small"]-allocs["decode, small"], allocs["drained"], "allocs").atMost(28),
	}, err
}

// callCases returns the cases of calls, after they were seen to do the same.
func callCases(ctx context.Context) ([]measure.Case, error) {
	const url = stubBase + "/transactions/" + receipt
	full := &http.Client{Transport: newStub(transactionJSON(stubBase, 1000000001))}
	small := &http.Client{Transport: newStub(smallJSON)}
	stripeClient := stripes("https://service.invalid", &http.Client{Transport: newStub(intentJSON(1))})
	rested := resty.NewWithClient(full)
	client, err := ours(stubBase, quickstream.WithHTTPClient(full))
	if err != nil {
		return nil, err
	}
	smallClient, err := ours(stubBase, quickstream.WithHTTPClient(small))
	if err != nil {
		return nil, err
	}
	mine, err := client.Transactions.Get(ctx, receipt)
	if err != nil {
		return nil, err
	}
	intent, err := stripeClient.V1PaymentIntents.Retrieve(ctx, "pi_1", nil)
	if err != nil {
		return nil, err
	}
	plain := func(t *plainTransaction) error { return plainClient{full}.get(ctx, url, t) }
	byResty := func(t *plainTransaction) error {
		resp, err := rested.R().SetContext(ctx).SetBasicAuth(key, "").SetHeader("Accept", "application/json").SetResult(t).Get(url)
		if err == nil && resp.StatusCode() != http.StatusOK {
			err = errors.New(resp.Status())
		}
		return err
	}
	var theirs, restys plainTransaction
	if err := errors.Join(plain(&theirs), byResty(&restys), same(mine, &theirs), same(mine, &restys), sameIntent(intent, 1)); err != nil {
		return nil, err
	}
	var decoded *quickstream.Transaction
	return []measure.Case{
		{Name: "ours", Do: func() error { _, err := client.Transactions.Get(ctx, receipt); return err }},
		{Name: "net/http", Do: func() error { return plain(new(plainTransaction)) }},
		{Name: "resty", Do: func() error { return byResty(new(plainTransaction)) }},
		{Name: "stripe-go", Do: func() error { _, err := stripeClient.V1PaymentIntents.Retrieve(ctx, "pi_1", nil); return err }},
		{Name: "ours, small", Do: func() error { _, err := smallClient.Transactions.Get(ctx, receipt); return err }},
		{Name: "decode, small", Do: func() error {
			decoded = new(quickstream.Transaction) // on the heap, as that of a call
			return decoded.UnmarshalJSON([]byte(smallJSON))
		}},
		{Name: "drained", Do: func() error { return plainClient{small}.drain(ctx, url) }},
	}, nil
}

// sameIntent returns an error unless stripe-go has understood its payment.
func sameIntent(p *stripe.PaymentIntent, n int) error {
	if p.ID != fmt.Sprintf("pi_%d", n) || p.Amount != intentCents(n) || p.LatestCharge == nil || !p.LatestCharge.Paid ||
		p.Metadata["order"] != fmt.Sprint(n) || p.Status != stripe.PaymentIntentStatusSucceeded {
		return fmt.Errorf("stripe-go has not understood payment %d", n)
	}
	return nil
}
