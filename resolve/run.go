package resolve

import (
	"context"
	"errors"
	"time"

	"github.com/quickstream-go/quickstream"
)

// Service reads what became of an intent. Client.Transactions is one.
type Service interface {
	Resume(ctx context.Context, intent quickstream.Intent, opts ...quickstream.CallOption) (*quickstream.Transaction, error)
	Retries(receiptNumber string, opts ...quickstream.CallOption) quickstream.List[quickstream.Transaction]
}

// LookUp reads what became of an intent, once. Of a decline that the service may have
// retried by itself it reads the retries too: one that is not declined takes its
// place. Of a pending PayTo payment it reads the agreement.
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

// retries returns what became of the retries of a decline, and the decline when none
// of them is anything else.
func (p Policy) retries(ctx context.Context, s Service, declined Observation) Observation {
	var others []*quickstream.Transaction
	first := true
	for retry, err := range s.Retries(declined.ReceiptNumber).All(ctx) {
		if first && errors.Is(err, quickstream.ErrNotFound) {
			return declined // the service may answer so for an empty list
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

// Run drives a case to its end in this process, which can take 48 hours and longer.
// After every look-up it gives the case to save, which may be nil; when save fails Run
// ends with its error. It returns the last case, with the context's error when the
// context ended first.
//
// It returns as soon as the status is final. A final case that has a NextLook can be
// given to it again: then it watches on, for up to 14 days, and returns when the status
// has changed or all is over, which is when NextLook is zero.
//
// Run does not survive a crash by itself: after one, give it the case that was
// saved last. For many payments or machines drive [Policy.Next] from a queue of
// durable jobs instead.
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

// sleepUntil wakes up every few minutes: timers do not see that a machine was suspended,
// or that its clock was set.
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
