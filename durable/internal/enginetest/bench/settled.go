package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// waits are the times of callers who wait for the outcome of each payment, sorted.
type waits struct {
	times  []time.Duration
	second float64 // payments in one
}

// untilSettled has so many callers make payments one after the other and wait for each. The service is
// in this process, on the same processors.
func (s subject[TTx]) untilSettled(ctx context.Context, engine *durable.Engine[TTx], client *quickstream.Client, callers, payments int) (w waits, err error) {
	tokens := make([]string, payments)
	for i := range tokens {
		if tokens[i], err = sandboxtest.CardToken(ctx, client, sandbox.CardAttempted); err != nil {
			return w, err
		}
	}
	w.times = make([]time.Duration, payments)
	errs := make([]error, callers)
	var next atomic.Int64
	var working sync.WaitGroup
	begun := time.Now()
	for i := range callers {
		working.Go(func() {
			for errs[i] == nil {
				n := int(next.Add(1)) - 1
				if n >= payments {
					return
				}
				begun := time.Now()
				errs[i] = s.settleOne(ctx, engine, tokens[n])
				w.times[n] = time.Since(begun)
			}
		})
	}
	working.Wait()
	w.second = float64(payments) / time.Since(begun).Seconds()
	slices.Sort(w.times)
	return w, errors.Join(errs...)
}

func (s subject[TTx]) settleOne(ctx context.Context, engine *durable.Engine[TTx], token string) error {
	w := newWrite()
	err := s.commit(ctx, func(tx database.Tx) error {
		_, _, err := engine.Pay(ctx, s.Leave(tx), w, payment(token))
		return err
	})
	if err != nil {
		return err
	}
	settled, err := engine.Wait(ctx, w.ID)
	if err == nil && !settled.Common().Paid() {
		err = fmt.Errorf("a payment is %s: %s", settled.Common().Text(), settled.Common().Problem)
	}
	return err
}

// settledRows prints how many payments a second are settled for some numbers of callers.
func (s subject[TTx]) settledRows(ctx context.Context, name string, client *quickstream.Client) (err error) {
	off := resolve.ServiceRetriesOff()
	engine, err := durable.New(ctx, s.Database, client, durable.Options[TTx]{
		Installation: "bench", ServiceRetries: &off, OnOutcome: func(context.Context, TTx, durable.OutcomeChange) error { return nil },
	})
	if err != nil {
		return err
	}
	if err := engine.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Stop(ctx)) }()
	limited, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	var failed error
	for _, of := range []struct {
		callers, payments int
		least             float64
	}{{1, 200, 40}, {16, 1600, 240}, {64, 1600, 240}} {
		w, err := s.untilSettled(limited, engine, client, of.callers, of.payments)
		if err != nil {
			return err
		}
		p99 := quantile(w.times, 0.99)
		failed = errors.Join(failed, row("P19c", name, fmt.Sprintf("payments settled for %d callers", of.callers),
			fmt.Sprintf("%.0f/s, p99 %s", w.second, p99.Round(time.Millisecond)), fmt.Sprintf(">= %.0f/s, <= 1s", of.least), w.second >= of.least && p99 <= time.Second))
	}
	return failed
}
