package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/go-resty/resty/v2"
	"github.com/hashicorp/go-retryablehttp"
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
	allocs := func(name string) float64 {
		for _, c := range cases {
			if c.Name == name {
				return testing.AllocsPerRun(200, func() { err = errors.Join(err, c.Do()) })
			}
		}
		return 0
	}
	var lines []line
	for _, name := range []string{"ours", "retryablehttp", "resty", "stripe-go"} {
		g := gate{}
		if name == "ours" {
			g = gate{0.80, atMost}
		}
		lines = append(lines,
			ratio("P1", "GET typed, "+name+" / net/http + encoding/json", r.Took(name), r.Took("raw"), r.Ratio(name, "raw"), g))
	}
	lines = append(lines, counted("P1", "GET typed, allocations", allocs("ours"), allocs("raw"), "allocs", gate{150, atMost}))

	own := func(took func(string) float64) float64 { return took("ours, small") - took("decode, small") }
	share := r.Over(func(took func(string) float64) float64 { return own(took) / took("raw, drained") })
	lines = append(lines,
		ratio("P2", "own layer / NewRequest + BasicAuth + Do + drain", time.Duration(r.Over(own)), r.Took("raw, drained"), share, gate{1.6, atMost}),
		counted("P2", "own layer, allocations", allocs("ours, small")-allocs("decode, small"), allocs("raw, drained"), "allocs", gate{28, atMost}))
	return lines, err
}

// callCases returns the cases of calls, after they were seen to do the same.
func callCases(ctx context.Context) ([]measure.Case, error) {
	full := &http.Client{Transport: newStub(transactionJSON(stubBase, 1000000001))}
	small := &http.Client{Transport: newStub(smallJSON)}
	const url = stubBase + "/transactions/" + receipt
	client, err := ours(stubBase, quickstream.WithHTTPClient(full))
	if err != nil {
		return nil, err
	}
	smallClient, err := ours(stubBase, quickstream.WithHTTPClient(small))
	if err != nil {
		return nil, err
	}
	retrying := retryablehttp.NewClient()
	retrying.HTTPClient, retrying.Logger = full, nil
	rested := resty.NewWithClient(full)
	stripeClient := stripes("https://service.invalid", &http.Client{Transport: newStub(intentJSON(1))})

	intent, err := stripeClient.V1PaymentIntents.Retrieve(ctx, "pi_1", nil)
	if err == nil {
		err = sameIntent(intent, 1)
	}
	if err != nil {
		return nil, err
	}
	mine, err := client.Transactions.Get(ctx, receipt)
	if err != nil {
		return nil, err
	}
	gets := map[string]func(*plainTransaction) error{
		"raw": func(t *plainTransaction) error { return plainClient{full}.get(ctx, url, t) },
		"retryablehttp": func(t *plainTransaction) error {
			req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				return err
			}
			req.SetBasicAuth(key, "")
			req.Header.Set("Accept", "application/json")
			resp, err := retrying.Do(req)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			return decodePlain(resp, t)
		},
		"resty": func(t *plainTransaction) error {
			resp, err := rested.R().SetContext(ctx).SetBasicAuth(key, "").SetHeader("Accept", "application/json").SetResult(t).Get(url)
			if err == nil && resp.StatusCode() != http.StatusOK {
				err = errors.New(resp.Status())
			}
			return err
		},
	}
	var decoded *quickstream.Transaction
	cases := []measure.Case{
		{Name: "ours", Do: func() error { _, err := client.Transactions.Get(ctx, receipt); return err }},
		{Name: "ours, small", Do: func() error { _, err := smallClient.Transactions.Get(ctx, receipt); return err }},
		{Name: "decode, small", Do: func() error {
			decoded = new(quickstream.Transaction) // on the heap, as that of a call
			return decoded.UnmarshalJSON([]byte(smallJSON))
		}},
		{Name: "raw, drained", Do: func() error { return plainClient{small}.drain(ctx, url) }},
		{Name: "stripe-go", Do: func() error {
			_, err := stripeClient.V1PaymentIntents.Retrieve(ctx, "pi_1", nil)
			return err
		}},
	}
	for name, get := range gets {
		t := new(plainTransaction)
		if err := get(t); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := same(mine, t); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		cases = append(cases, measure.Case{Name: name, Do: func() error { return get(new(plainTransaction)) }})
	}
	return cases, nil
}

// sameIntent returns an error unless stripe-go has understood its payment.
func sameIntent(p *stripe.PaymentIntent, n int) error {
	if p.ID != fmt.Sprintf("pi_%d", n) || p.Amount != intentCents(n) || p.LatestCharge == nil || !p.LatestCharge.Paid ||
		p.Metadata["order"] != fmt.Sprint(n) || p.Status != stripe.PaymentIntentStatusSucceeded {
		return fmt.Errorf("stripe-go has not understood payment %d", n)
	}
	return nil
}
