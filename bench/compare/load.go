package main

import (
	"context"
	"errors"
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

// load compares the processor time of a call while 32 callers keep the machine busy.
func load(ctx context.Context, s scale) ([]line, error) {
	return withService(ctx, apiBase, func(p peers) ([]line, error) {
		url := p.base + apiBase + "/transactions/" + receipt
		mine, mineFailed := p.ours.Transactions.Get(ctx, receipt)
		intent, intentFailed := p.stripe.V1PaymentIntents.Retrieve(ctx, "pi_1", nil)
		var theirs plainTransaction
		if err := errors.Join(mineFailed, intentFailed, p.plain.get(ctx, url, &theirs)); err != nil {
			return nil, err
		}
		if err := errors.Join(same(mine, &theirs), sameIntent(intent, 1)); err != nil {
			return nil, err
		}
		const callers, each = 32, 8
		crowd := func(name string, call func() error) measure.Case {
			return measure.Case{Name: name, Do: func() error { return together(callers, each, call) }}
		}
		plan := s.plan()
		plan.Clock = measure.CPU()
		r, err := plan.Run(
			crowd("ours", func() error { _, err := p.ours.Transactions.Get(ctx, receipt); return err }),
			crowd("net/http", func() error { return p.plain.get(ctx, url, new(plainTransaction)) }),
			crowd("stripe-go", func() error { _, err := p.stripe.V1PaymentIntents.Retrieve(ctx, "pi_1", nil); return err }),
		)
		if err != nil {
			return nil, err
		}
		const what = "CPU of 256 calls by 32 callers / "
		return []line{slower("P4", what+"net/http", r, "ours", "net/http").atMost(1), slower("P4", what+"stripe-go", r, "ours", "stripe-go").atMost(0.5)}, nil
	})
}
