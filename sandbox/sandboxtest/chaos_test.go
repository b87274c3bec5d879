package sandboxtest_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func params(order string) quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: decimal.RequireFromString("25.00"), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), CustomerReferenceNumber: order,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		Source:           quickstream.FromCard(card()),
	}
}

func card() quickstream.CardDetails { return sandboxtest.Card("4242424242424242") }

var (
	errDeclined = errors.New("declined")
	errHeld     = fmt.Errorf("held: %w", quickstream.ErrOutcomeUnknown)
)

// carefulShop makes no mistake.
type carefulShop struct {
	mu     sync.Mutex
	states map[string]resolve.Case
}

func (s *carefulShop) pay(ctx context.Context, client *quickstream.Client, order string) error {
	var intent quickstream.Intent
	store := quickstream.WithBeforeSend(func(_ context.Context, i quickstream.Intent) error { intent = i; return nil })
	tx, err := client.Transactions.Pay(ctx, params(order), store)
	result := resolve.After(tx, err, intent.MadeAt)
	if result.Status == resolve.ResultOpen {
		s.save(order, *result.Case)
		return errors.Join(errHeld, err)
	}
	return err
}

func (s *carefulShop) settle(ctx context.Context, client *quickstream.Client, order string, now time.Time) error {
	state := s.load(order)
	if !state.Status.Final() && !now.Before(state.NextLook) {
		policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
		state = policy.Next(state, policy.LookUp(ctx, client.Transactions, state), now)
		s.save(order, state)
	}
	switch state.Status {
	case resolve.StatusSettled:
		return ended(state.Outcome)
	default: // not_found, too: absence of evidence is no permission to pay again
		return errHeld
	}
}

func ended(o quickstream.Outcome) error {
	if o == quickstream.OutcomeApproved {
		return nil
	}
	return errDeclined
}

func (s *carefulShop) save(order string, state resolve.Case) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.states == nil {
		s.states = make(map[string]resolve.Case)
	}
	s.states[order] = state
}

func (s *carefulShop) load(order string) resolve.Case {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.states[order]
}

func TestChaosPassesTheCarefulMerchant(t *testing.T) {
	for seed := range uint64(3) {
		synctest.Test(t, func(t *testing.T) {
			shop := &carefulShop{}
			sandboxtest.Chaos(t, sandboxtest.ChaosOptions{Seed: seed, Settle: shop.settle, Sandbox: []sandbox.Option{sandbox.WithAssumptions(sandbox.Unkind)}}, shop.pay)
		})
	}
	t.Run("outside of synctest", func(t *testing.T) {
		shop := &carefulShop{}
		sandboxtest.Chaos(t, sandboxtest.ChaosOptions{
			Seed: 4, Workers: 64, Settle: shop.settle, Sandbox: []sandbox.Option{sandbox.WithAssumptions(sandbox.Unkind)},
			Client: []quickstream.ClientOption{quickstream.WithAttemptTimeout(10 * time.Second)}, // real time, on a machine that may be busy
		}, shop.pay)
	})
	t.Run("without settling", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			sandboxtest.Chaos(t, sandboxtest.ChaosOptions{Seed: 5}, new(carefulShop).pay)
		})
	})
	t.Run("look-up only, at a service that ignores keys", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			shop := &carefulShop{}
			sandboxtest.Chaos(t, sandboxtest.ChaosOptions{
				Settle:  shop.settle,
				Client:  []quickstream.ClientOption{quickstream.WithoutResend()},
				Sandbox: []sandbox.Option{sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.KeyLifetime = 0 })},
			}, shop.pay)
		})
	})
	t.Run("without faults", func(t *testing.T) {
		r := &recorder{TB: t}
		sandboxtest.Chaos(r, sandboxtest.ChaosOptions{Orders: 20, Workers: 1, Faults: -1}, new(carefulShop).pay)
		assert.Empty(t, r.failures)
		require.Len(t, r.logs, 1)
		assert.Contains(t, r.logs[0], "20 orders: 20 paid, 0 not paid, 0 unknown")
	})
}

// TestChaosCatches checks that each of the usual mistakes fails, and with which text.
func TestChaosCatches(t *testing.T) {
	tests := map[string]struct {
		pay  func(ctx context.Context, client *quickstream.Client, order string) error
		text string
	}{
		"a new key for every attempt": {func(ctx context.Context, client *quickstream.Client, order string) (err error) {
			for range 3 {
				if _, err = client.Transactions.Pay(ctx, params(order), quickstream.WithoutResend()); err == nil || errors.Is(err, quickstream.ErrDeclined) {
					return err
				}
			}
			return err
		}, "was charged 2 times"},
		"the refusal of a later attempt is believed": {func(ctx context.Context, client *quickstream.Client, order string) error {
			_, err := client.Transactions.Pay(ctx, params(order))
			if lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok {
				if refused, ok := errors.AsType[*quickstream.APIError](lost.Cause); ok && refused.StatusCode < 500 {
					return refused
				}
			}
			return err
		}, "was charged, and the merchant said that it was not"},
		"unknown is taken for paid": {func(ctx context.Context, client *quickstream.Client, order string) error {
			_, err := client.Transactions.Pay(ctx, params(order))
			if errors.Is(err, quickstream.ErrOutcomeUnknown) {
				return nil
			}
			return err
		}, "was not charged, and the merchant said that it was"},
		"summary code 2 is taken for a decline": {func(ctx context.Context, client *quickstream.Client, order string) error {
			_, err := client.Transactions.Pay(ctx, params(order))
			if lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok && lost.Transaction != nil {
				return errDeclined
			}
			return err
		}, "was charged, and the merchant said that it was not"},
		"the order is not in the request": {func(ctx context.Context, client *quickstream.Client, _ string) error {
			_, err := client.Transactions.Pay(ctx, params(""))
			return err
		}, "is the order the CustomerReferenceNumber?"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{TB: t}
				sandboxtest.Chaos(r, sandboxtest.ChaosOptions{Orders: 300, Workers: 1, Seed: 1}, tt.pay)
				require.NotEmpty(t, r.failures)
				assert.Contains(t, strings.Join(r.failures, "\n"), tt.text)
				assert.LessOrEqual(t, len(r.failures), 12, "not one failure per order")
				t.Log(r.failures[0])
			})
		})
	}
	t.Run("a payment that is never looked up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{TB: t}
			forgets := func(context.Context, *quickstream.Client, string, time.Time) error { return errHeld }
			sandboxtest.Chaos(r, sandboxtest.ChaosOptions{Seed: 1, Settle: forgets}, new(carefulShop).pay)
			require.NotEmpty(t, r.failures)
			assert.Contains(t, r.failures[0], "was charged and is lost")
		})
	})
}

// TestChaosSaysWhatLittleItShows: most orders end before their payment, because they get no token.
func TestChaosSaysWhatLittleItShows(t *testing.T) {
	byToken := func(ctx context.Context, client *quickstream.Client, order string) error {
		p := params(order)
		token, err := client.SingleUseTokens.Create(ctx, quickstream.CreateSingleUseTokenParams{
			SupplierBusinessCode: p.SupplierBusinessCode, Account: card(),
		})
		if err != nil {
			return err
		}
		p.Source = quickstream.FromSingleUseToken(token.SingleUseTokenID)
		_, err = client.Transactions.Pay(ctx, p)
		return err
	}
	synctest.Test(t, func(t *testing.T) {
		few := sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.TokenQuota = 20 })
		r := &recorder{TB: t}
		sandboxtest.Chaos(r, sandboxtest.ChaosOptions{Faults: -1, Sandbox: []sandbox.Option{few}}, byToken)
		require.Len(t, r.failures, 1)
		assert.Contains(t, r.failures[0], "only 20 of 200 orders reached the service as a payment")
		assert.Contains(t, r.failures[0], "429")
	})
}

// TestChaosReports reads a report to its end.
func TestChaosReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{TB: t}
		sandboxtest.Chaos(r, sandboxtest.ChaosOptions{Orders: 1, Workers: 1, Faults: -1, Sandbox: []sandbox.Option{sandbox.WithAssumptions(sandbox.Unkind)}},
			func(ctx context.Context, client *quickstream.Client, order string) error {
				for range 2 {
					tx, err := client.Transactions.Pay(ctx, params(order))
					if err != nil {
						return err
					}
					if _, err := client.Transactions.Get(ctx, tx.ReceiptNumber); !errors.Is(err, quickstream.ErrNotFound) {
						return errors.New("the sandbox shows a transaction at once")
					}
				}
				return errDeclined
			})
		require.Len(t, r.failures, 1)
		for _, part := range []string{
			"seed 0", "order CHAOS-00001 was charged 2 times", "last word: not paid: declined", "PAYMENT approved, 25.00 AUD, receipt ",
			"request 1: POST /transactions, key ", "succeeded true, answered 201", "request 4: GET /transactions/{receiptNumber}, ", "answered 404",
		} {
			assert.Contains(t, r.failures[0], part)
		}
	})
}

// recorder is a test that records only that it failed.
type recorder struct {
	testing.TB
	failures, logs []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Logf(format string, args ...any) {
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}
