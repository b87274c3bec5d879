package quickstream

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"
)

// resumePause is how long after a look that found nothing final another one can
// tell more.
const resumePause = time.Minute

// intentSkew is how far the service's clock may be behind this machine's. A
// transaction from before the intent is not the intent's, even if it carries the
// same reference: taking a payment that was declined a minute ago for the one
// that was lost now would lead to a second charge. A wider difference of clocks
// makes a transaction "not found yet", which is safe.
const intentSkew = 30 * time.Second

// Resume looks for the transaction of an intent: that of an UnknownOutcomeError, or
// one that was stored before a crash. It sends nothing but reads. It returns the
// transaction when that is settled, approved or not, and for a void when it is
// voided. Everything else is an UnknownOutcomeError, whose Candidates are what was
// found and why it settles nothing, whose Cause is why the look-up failed, and whose
// NextLook is when another look can tell more: nothing found is "not found yet", and
// no permission to pay again. How long to look, and what to believe at the end, is
// for package resolve.
//
// GET /transactions/{receiptNumber} when the receipt number is known, else GET
// /transactions/for-reference-number and, for refunds, GET
// /transactions/{receiptNumber}/refunds, with the secret key. A transaction is the intent's when the
// service echoes the intent's id in its metadata, or echoes none and its payment
// reference, type, amount, currency, business, original receipt and end-to-end
// identifier are the intent's and it is not older. One that carries another id, and for
// the rest is the same, is a candidate that does not match: the order may have been paid
// by another call.
//
// An approval settles the intent. So does a decline when the intent was sent once,
// by its Attempts; otherwise the service may have carried out two requests, and the
// decline is a candidate.
func (s *TransactionsService) Resume(ctx context.Context, intent Intent, opts ...CallOption) (*Transaction, error) {
	ctx, opts, err := s.client.looksFor(ctx, intent, resumeName, opts)
	look := lookUp{s: s, ctx: ctx, opts: opts, intent: intent}
	if err = cmp.Or(err, intent.known()); err != nil {
		return nil, look.refused(err)
	}
	switch {
	case intent.Operation == voidOperation:
		return look.voided()
	case intent.ReceiptNumber != "":
		return look.byReceipt()
	}
	wanted, err := intent.transaction()
	if err != nil {
		return nil, look.refused(err)
	}
	return look.byReference(wanted)
}

const resumeName = "Transactions.Resume"

// lookUp is one look for the transaction of an intent.
type lookUp struct {
	s      *TransactionsService
	ctx    context.Context // a look-up lives as long as its call
	opts   []CallOption
	intent Intent
}

// open returns the error of a look that settles nothing.
func (l lookUp) open(cause error, candidates ...Candidate) error {
	return l.intent.open(resumeName, "/transactions", cause, candidates)
}

// open returns the error of a look that settles nothing. cause is why the look-up
// failed, or nil.
func (i Intent) open(operation, route string, cause error, candidates []Candidate) *UnknownOutcomeError {
	return &UnknownOutcomeError{
		CallInfo: CallInfo{Operation: operation, Method: http.MethodGet, Route: route}, Intent: &i, Candidates: candidates,
		IdempotencyKey: i.IdempotencyKey, Reference: i.Reference, ReceiptNumber: i.ReceiptNumber,
		FirstSent: i.NotBefore, Attempts: i.Attempts, FindOut: "look again", NextLook: time.Now().Add(resumePause), Cause: cause,
	}
}

// refused ends the look before its first request.
func (l lookUp) refused(cause error) error {
	return l.intent.refused(l.ctx, l.s.client, resumeName, "/transactions", cause)
}

// looksFor prepares a look-up: it continues the intent's trace, and the requests
// carry the look-up's name.
func (c *Client) looksFor(ctx context.Context, intent Intent, name string, opts []CallOption) (context.Context, []CallOption, error) {
	ctx, err := c.observer.resume(ctx, intent.Carrier)
	return ctx, named(name).with(opts), err
}

// refused ends a look-up before its first request.
func (i Intent) refused(ctx context.Context, c *Client, operation, route string, cause error) error {
	return c.refused(ctx, CallInfo{operation, http.MethodGet, route}, i.open(operation, route, cause, nil))
}

// refused shows the observer a call that ends before its first request.
func (c *Client) refused(ctx context.Context, info CallInfo, err error) error {
	call := call{client: c, op: operation{name: info.Operation, method: info.Method, route: info.Route}, ended: err}
	return call.do(ctx, nil)
}

// voided looks at the transaction that a void was made to.
func (l lookUp) voided() (*Transaction, error) {
	t, err := l.s.Get(l.ctx, l.intent.Target, l.opts...)
	switch {
	case err != nil:
		return nil, l.open(err)
	case t.outcome() != OutcomeVoided:
		return nil, l.open(nil, Candidate{Transaction: t, Matches: true, Reasons: []string{"it is " + string(t.outcome()) + " and not voided"}})
	}
	return t, nil
}

func (l lookUp) byReceipt() (*Transaction, error) {
	t, err := l.s.Get(l.ctx, l.intent.ReceiptNumber, l.opts...)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, l.open(nil)
	case err != nil:
		return nil, l.open(err)
	}
	return l.judge(t)
}

// judge returns the intent's transaction if that is settled.
func (l lookUp) judge(t *Transaction) (*Transaction, error) {
	candidate := Candidate{Transaction: t, Matches: true}
	switch outcome := t.outcome(); outcome {
	case OutcomeApproved, OutcomeVoided:
		return t, nil
	case OutcomeDeclined, OutcomeRejected:
		if l.intent.Attempts == 1 || l.intent.ReceiptNumber != "" {
			return t, nil
		}
		candidate.Reasons = []string{"it is " + string(outcome) + ", and another attempt's may turn up beside it"}
	default:
		candidate.Reasons = []string{"it is " + string(outcome)}
	}
	return nil, l.open(nil, candidate)
}

func (l lookUp) byReference(wanted transactionBody) (*Transaction, error) {
	lists := []List[Transaction]{l.s.ByReference(wanted.PaymentReferenceNumber, l.opts...)}
	if wanted.TransactionType == TransactionTypeRefund && wanted.OriginalReceiptNumber != "" {
		lists = append(lists, l.s.Refunds(wanted.OriginalReceiptNumber, l.opts...))
	}
	matches, others, err := l.matching(wanted, lists)
	switch {
	case err != nil:
		return nil, l.open(err)
	case len(matches) == 0:
		return nil, l.open(nil, others...)
	case len(matches) == 1:
		return l.judge(matches[0])
	}
	candidates := make([]Candidate, len(matches))
	for i, t := range matches {
		candidates[i] = Candidate{Transaction: t, Matches: true, Reasons: []string{"it is " + string(t.outcome()) + ", and not the only one"}}
	}
	return nil, l.open(nil, candidates...)
}

// matching returns the transactions of the lists that are the intent's, each once: by
// its id where the transaction carries one, and else by all that was sent. The others
// differ in the id alone: somebody may have called Pay instead of submitting the plan.
func (l lookUp) matching(wanted transactionBody, lists []List[Transaction]) (matches []*Transaction, others []Candidate, err error) {
	seen := map[string]bool{}
	for _, list := range lists {
		for transaction, err := range list.All(l.ctx) {
			if errors.Is(err, ErrNotFound) {
				break // the service may answer so for an empty list
			}
			if err != nil {
				return nil, nil, err
			}
			if seen[transaction.ReceiptNumber] {
				continue
			}
			seen[transaction.ReceiptNumber] = true
			id := transaction.Metadata[l.intent.MetadataName]
			known := l.intent.ID != "" && id != ""
			switch {
			case known && id == l.intent.ID, !known && l.intent.alike(transaction, wanted):
				matches = append(matches, transaction)
			case known && l.intent.rivals(transaction, wanted):
				others = append(others, Candidate{Transaction: transaction, Reasons: []string{"it carries another intent's id, and the same reference and amount"}})
			}
		}
	}
	return matches, others, nil
}

// rivals reports whether a transaction of another intent may have taken the money of
// this one.
func (i Intent) rivals(t *Transaction, wanted transactionBody) bool {
	switch t.outcome() {
	case OutcomeDeclined, OutcomeRejected, OutcomeVoided:
		return false
	default:
		return i.alike(t, wanted)
	}
}

// alike compares a transaction with all that was sent. Members that the specification
// does not promise in an answer count only when they are there.
func (i Intent) alike(t *Transaction, wanted transactionBody) bool {
	agrees := func(answered, intended string) bool { return answered == "" || answered == intended }
	switch {
	case t.PaymentReferenceNumber != wanted.PaymentReferenceNumber, t.TransactionType != wanted.TransactionType:
		return false
	case !agrees(t.OriginalReceiptNumber, wanted.OriginalReceiptNumber):
		return false
	case wanted.SupplierBusinessCode != "" && !agrees(t.SupplierBusinessCode, wanted.SupplierBusinessCode):
		return false
	case t.PayToData != nil && wanted.PayToData != nil && !agrees(t.PayToData.EndToEndID, wanted.PayToData.EndToEndID):
		return false
	case !t.TransactionTime.IsZero() && t.TransactionTime.Before(i.NotBefore.Add(-intentSkew)):
		return false
	}
	if wanted.PrincipalAmount == nil {
		return true // a verification has no amount
	}
	return t.PrincipalAmount != nil && t.PrincipalAmount.Amount.Equal(wanted.PrincipalAmount.Decimal()) && t.PrincipalAmount.Currency == wanted.Currency
}
