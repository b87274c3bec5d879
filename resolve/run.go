package resolve

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
)

// Service looks up intents, such as Client.Transactions.
type Service interface {
	Resume(ctx context.Context, intent quickstream.Intent, opts ...quickstream.CallOption) (*quickstream.Transaction, error)
	Retries(receiptNumber string, opts ...quickstream.CallOption) quickstream.List[quickstream.Transaction]
}

// LookUp looks up the intent of a case once. For declines that the service may have retried it also
// reads the retries, and those of a retry that is declined: one that is not declined replaces them.
// For a pending PayTo payment it reads the agreement. At the end of a case that would be not_found
// it reads the lists of Policy.Scan.
func (p Policy) LookUp(ctx context.Context, s Service, c Case) Observation {
	var opts []quickstream.CallOption
	scans := c.Step == stepScan && p.scanned(c)
	if scans {
		opts = append(opts, quickstream.WithScan(p.dates(ctx, c.Intent.NotBefore)))
	}
	o, matches := observe(c.own(s.Resume(ctx, c.Intent, opts...)))
	o.Scanned = scans && o.Result == LookupNone
	if o.Result == LookupDoubleCharged && c.Intent.OwnReference && !slices.ContainsFunc(matches, c.isNamedBy) {
		o.Result = LookupAmbiguous // one may be an earlier payment's, whose time is that of its last change
	}
	if o.Retryable && p.mayFollow() > 0 {
		return afterRetries(ctx, s, o, matches)
	}
	if o.Outcome == quickstream.OutcomePending && p.Agreements != nil && len(matches) == 1 && matches[0].PayToData != nil {
		if agreement, err := p.Agreements.Get(ctx, matches[0].PayToData.AgreementToken); err == nil {
			o.Agreement, o.RespondBy = agreement.Status, agreement.RespondByTime.Round(0)
		}
	}
	return o
}

// maxRetried bounds how many lists of retries one look-up reads.
const maxRetried = 50

// afterRetries returns the outcome of the retries of declined attempts, or the decline if all of them
// are declined. A retry that the lists show with two outcomes, or of another amount, proves nothing.
func afterRetries(ctx context.Context, s Service, declined Observation, attempts []*quickstream.Transaction) Observation {
	outcomes := map[string]quickstream.Outcome{}
	var others []*quickstream.Transaction
	for n := 0; n < len(attempts); n++ {
		if n == maxRetried {
			return Observation{Result: LookupFailed}
		}
		retries, err := s.Retries(attempts[n].ReceiptNumber).ReadAll(ctx)
		if err != nil && !saysNone(err) { // which may mean an empty list
			return Observation{Result: LookupFailed}
		}
		for _, retry := range append([]*quickstream.Transaction{attempts[n]}, retries...) {
			outcome := ObserveTransaction(retry).Outcome
			earlier, seen := outcomes[retry.ReceiptNumber]
			outcomes[retry.ReceiptNumber] = outcome
			switch {
			case seen && earlier != outcome, !sameAmount(retry, attempts[n]):
				return Observation{Result: LookupFailed}
			case seen:
			case !tookNoMoney(outcome):
				others = append(others, retry)
			case retry != attempts[n]:
				attempts = append(attempts, retry)
			}
		}
	}
	if len(others) == 0 {
		return declined
	}
	o := among(others)
	o.Retryable = o.Result == LookupPending
	return o
}

// sameAmount reports whether two transactions can be of one amount, as a payment and its retry are:
// whether they have a principal or a total in common, or one shows neither.
func sameAmount(a, b *quickstream.Transaction) bool {
	shown := func(t *quickstream.Transaction) []*quickstream.Amount {
		return slices.DeleteFunc([]*quickstream.Amount{t.PrincipalAmount, t.TotalAmount}, func(m *quickstream.Amount) bool { return m == nil })
	}
	ours, theirs := shown(a), shown(b)
	return len(ours) == 0 || len(theirs) == 0 || slices.ContainsFunc(ours, func(m *quickstream.Amount) bool {
		return slices.ContainsFunc(theirs, func(other *quickstream.Amount) bool { return m.Amount.Equal(other.Amount) })
	})
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
		o := p.LookUp(ctx, service, c)
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
