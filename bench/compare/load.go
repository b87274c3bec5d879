package main

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/quickstream-go/quickstream/bench/measure"
)

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

// load compares the processor time of a call while 32 callers keep the machine
// busy.
func load(ctx context.Context, s scale) (lines []line, err error) {
	base, stop, err := startService(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	client, err := ours(base + apiBase)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	plain := plainClient{&http.Client{Transport: pooled()}}
	stripeClient := stripes(base, &http.Client{Transport: pooled()})

	url := base + apiBase + "/transactions/" + receipt
	mine, err := client.Transactions.Get(ctx, receipt)
	if err != nil {
		return nil, err
	}
	var theirs plainTransaction
	if err := plain.get(ctx, url, &theirs); err != nil {
		return nil, err
	}
	intent, err := stripeClient.V1PaymentIntents.Retrieve(ctx, "pi_1", nil)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(same(mine, &theirs), sameIntent(intent, 1)); err != nil {
		return nil, err
	}

	const callers, each = 32, 8
	plan := s.plan()
	plan.Clock = measure.CPU()
	r, err := plan.Run(
		measure.Case{Name: "ours", Do: func() error {
			return together(callers, each, func() error { _, err := client.Transactions.Get(ctx, receipt); return err })
		}},
		measure.Case{Name: "raw", Do: func() error {
			return together(callers, each, func() error { return plain.get(ctx, url, new(plainTransaction)) })
		}},
		measure.Case{Name: "stripe-go", Do: func() error {
			return together(callers, each, func() error { _, err := stripeClient.V1PaymentIntents.Retrieve(ctx, "pi_1", nil); return err })
		}},
	)
	if err != nil {
		return nil, err
	}
	const calls = callers * each
	mineTook := r.Took("ours") / calls
	return []line{
		ratio("P4", "CPU per call, 32 callers / net/http", mineTook, r.Took("raw")/calls, r.Ratio("ours", "raw"), gate{1.0, atMost}),
		ratio("P4", "CPU per call, 32 callers / stripe-go", mineTook, r.Took("stripe-go")/calls, r.Ratio("ours", "stripe-go"), gate{0.50, atMost}),
	}, nil
}
