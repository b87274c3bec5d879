package resolve

import (
	"context"
	"errors"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// Service looks up intents, such as Client.Transactions.
type Service interface {
	Resume(ctx context.Context, intent quickstream.Intent, opts ...quickstream.CallOption) (*quickstream.Transaction, error)
	Retries(receiptNumber string, opts ...quickstream.CallOption) quickstream.List[quickstream.Transaction]
}

// LookUp looks up the intent of a case once. For declines that the service may have retried it also reads the
// retries, and the retries of a declined retry. A retry that is not declined replaces them in the result.
func (p Policy) LookUp(ctx context.Context, s Service, c Case) Observation {
	o, matches := observe(s.Resume(ctx, c.Intent))
	if o.Retryable && p.mayFollow() > 0 {
		return afterRetries(ctx, s, o, matches)
	}
	return o
}

// maxRetried bounds how many lists of retries one look-up reads.
const maxRetried = 50

// afterRetries returns the outcome of the retries of declined attempts, or the decline if all of them
// are declined. A retry that the lists show with two outcomes, or of another amount than its decline's, proves nothing.
func afterRetries(ctx context.Context, s Service, declined Observation, attempts []*quickstream.Transaction) Observation {
	failed := Observation{Result: LookupFailed}
	seen := map[string]quickstream.Outcome{}
	var others []*quickstream.Transaction
	for n := 0; n < len(attempts); n++ {
		if n == maxRetried {
			return failed
		}
		retries, err := s.Retries(attempts[n].ReceiptNumber).ReadAll(ctx)
		if err != nil && !(errors.Is(err, quickstream.ErrNotFound) && errors.Is(err, wire.ErrFromService)) { // which may mean an empty list
			return failed
		}
		for _, retry := range append([]*quickstream.Transaction{attempts[n]}, retries...) {
			outcome, receipt := retry.Outcome(), folded(retry.ReceiptNumber)
			earlier, again := seen[receipt]
			seen[receipt] = outcome
			switch {
			case again && earlier != outcome, another(observed(retry).Amount, declined.Amount):
				return failed
			case again:
			case !outcome.Final() || outcome == quickstream.OutcomeApproved:
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

// another reports whether both amounts are shown and differ. A retry has the amount of its payment.
func another(a, b *quickstream.Amount) bool { return a != nil && b != nil && !a.Amount.Equal(b.Amount) }
