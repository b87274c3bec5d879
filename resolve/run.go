package resolve

import (
	"context"
	"errors"
	"time"

	"github.com/quickstream-go/quickstream"
)

// Service looks up intents, such as Client.Transactions.
type Service interface {
	Resume(ctx context.Context, intent quickstream.Intent, opts ...quickstream.CallOption) (*quickstream.Transaction, error)
	Retries(receiptNumber string, opts ...quickstream.CallOption) quickstream.List[quickstream.Transaction]
}

// LookUp looks up an intent once. For a decline that the service may have retried it also reads the
// retries: one that is not declined replaces it. For a pending PayTo payment it reads the
// agreement.
func (p Policy) LookUp(ctx context.Context, s Service, intent quickstream.Intent) Observation {
	o, t := observe(s.Resume(ctx, intent))
	if o.Retryable && p.mayFollow() > 0 {
		return p.retries(ctx, s, o)
	}
	if o.Outcome == quickstream.OutcomePending && p.Agreements != nil && t.PayToData != nil {
		if agreement, err := p.Agreements.Get(ctx, t.PayToData.AgreementToken); err == nil {
			o.Agreement, o.RespondBy = agreement.Status, agreement.RespondByTime.Round(0)
		}
	}
	return o
}

// retries returns the outcome of a decline's retries, or the decline if all of them are declined.
func (p Policy) retries(ctx context.Context, s Service, declined Observation) Observation {
	var others []*quickstream.Transaction
	first := true
	for retry, err := range s.Retries(declined.ReceiptNumber).All(ctx) {
		if first && errors.Is(err, quickstream.ErrNotFound) {
			return declined // may mean an empty list
		}
		if err != nil {
			return Observation{Result: LookupFailed}
		}
		first = false
		if !tookNoMoney(ObserveTransaction(retry).Outcome) {
			others = append(others, retry)
		}
	}
	if len(others) == 0 {
		return declined
	}
	o := among(others)
	o.Retryable = o.Result == LookupPending
	return o
}

// Run drives a case until its status is final, which can take 48 hours or more. After every look-up
// it calls save, which may be nil. It returns the last case, with save's error if that fails, or
// the context's if that ends.
//
// A final case with a NextLook can be passed again: Run then watches for up to 14 days, and returns
// when the status changes or the case is over (NextLook is zero).
//
// Run does not survive a crash: pass the last saved case to it afterwards. For many payments or
// machines drive [Policy.Next] from a queue of durable jobs.
func Run(ctx context.Context, service Service, p Policy, c Case, save func(Case) error) (Case, error) {
	if !p.ServiceRetries.said {
		return c, errors.New("resolve: the policy does not say whether the service retries declines")
	}
	if err := c.known(); err != nil {
		return c, err
	}
	for begun := c.Status; !c.NextLook.IsZero() && (!c.Status.Final() || c.Status == begun); {
		if err := sleepUntil(ctx, c.NextLook); err != nil {
			return c, err
		}
		o := p.LookUp(ctx, service, c.Intent)
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		c = p.Next(c, o, time.Now())
		if save == nil {
			continue
		}
		if err := save(c); err != nil {
			return c, err
		}
	}
	return c, nil
}

// sleepUntil wakes every few minutes: timers do not notice that a machine was suspended or its
// clock was set.
func sleepUntil(ctx context.Context, t time.Time) error {
	for left := time.Until(t); left > 0; left = time.Until(t) {
		timer := time.NewTimer(min(left, 10*time.Minute))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
	return ctx.Err()
}
