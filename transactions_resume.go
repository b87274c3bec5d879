package quickstream

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"
)

// resumePause is how long to wait before another look can show more.
const resumePause = time.Minute

// Resume looks up the transaction of an intent: that of an [UnknownOutcomeError], or one stored
// before a crash. It only reads. It returns a settled transaction, approved or not; for a void a
// voided one. Everything else is an UnknownOutcomeError: see its Candidates, Cause and NextLook.
// Nothing found means "not found yet" and does not permit another payment: package resolve says how
// long to look.
//
// GET /transactions/{receiptNumber} if the receipt number is known, else GET
// /transactions/for-reference-number and, for refunds, GET /transactions/{receiptNumber}/refunds.
// See "How a transaction is found" in the package documentation.
func (s *TransactionsService) Resume(ctx context.Context, intent Intent, opts ...CallOption) (*Transaction, error) {
	ctx, opts, err := s.client.looksFor(ctx, intent, resumeName, opts)
	config := s.client.begin(resumeName, opts).config
	look := lookUp{s: s, opts: opts, intent: intent, foreign: config.foreign, scan: config.scan}
	if err = cmp.Or(err, intent.known()); err != nil {
		return nil, look.refused(ctx, err)
	}
	if len(intent.Request) > 0 || intent.ReceiptNumber == "" {
		look.wanted, err = intent.transaction()
	}
	switch {
	case intent.Operation == OperationVoid:
		return look.voided(ctx)
	case err != nil:
		return nil, look.refused(ctx, err)
	case intent.ReceiptNumber != "":
		return look.byReceipt(ctx)
	}
	return look.byReference(ctx)
}

const resumeName Operation = "Transactions.Resume"

type lookUp struct {
	s      *TransactionsService
	opts   []CallOption
	intent Intent
	wanted transactionBody
	// foreign knows the receipts of other intents; nil without WithForeignReceipts.
	foreign func(receiptNumber string) bool
	// scan is searched last; nil without WithScan.
	scan iter.Seq2[*Transaction, error]
}

// open returns the error of a look that settles nothing.
func (l lookUp) open(cause error, candidates ...Candidate) error {
	return l.intent.open(resumeName.info(), cause, candidates)
}

// open returns the error of a look that settles nothing. cause is why the look-up
// failed, or nil.
func (i Intent) open(call CallInfo, cause error, candidates []Candidate) *UnknownOutcomeError {
	return &UnknownOutcomeError{
		CallInfo: call, Intent: &i, Candidates: candidates,
		IdempotencyKey: i.IdempotencyKey, Reference: i.Reference, ReceiptNumber: i.ReceiptNumber,
		FirstSent: i.NotBefore, Attempts: i.Attempts, FindOut: "look again", NextLook: time.Now().Add(resumePause), Cause: cause,
	}
}

func (l lookUp) refused(ctx context.Context, cause error) error {
	return l.s.client.refusedLookUp(ctx, resumeName, l.intent, cause)
}

// looksFor prepares a look-up: it continues the intent's trace, and the requests
// carry the look-up's name.
func (c *Client) looksFor(ctx context.Context, intent Intent, name Operation, opts []CallOption) (context.Context, []CallOption, error) {
	ctx, err := c.observer.resume(ctx, intent.Carrier)
	return ctx, named(name).with(opts), err
}

// refusedLookUp ends a look-up before its first request.
func (c *Client) refusedLookUp(ctx context.Context, name Operation, intent Intent, cause error) error {
	return c.refused(ctx, name, intent.open(name.info(), cause, nil))
}

// refused shows the observer a call that ends before its first request.
func (c *Client) refused(ctx context.Context, name Operation, err error) error {
	call := call{client: c, op: name.row(), ended: err}
	return call.do(ctx, nil)
}

func (l lookUp) voided(ctx context.Context) (*Transaction, error) {
	t, err := l.s.Get(ctx, l.intent.Target, l.opts...)
	switch {
	case err != nil:
		return nil, l.open(err)
	case t.Outcome() != OutcomeVoided:
		return nil, l.open(nil, Candidate{Transaction: t, Matches: true, Reasons: []string{"it is " + string(t.Outcome()) + " and not voided"}})
	}
	return t, nil
}

// byReceipt reads the transaction whose receipt came with an unusable answer. If it is not
// the intent's, it is a candidate, and the search goes on.
func (l lookUp) byReceipt(ctx context.Context) (*Transaction, error) {
	t, err := l.s.Get(ctx, l.intent.ReceiptNumber, l.opts...)
	switch {
	case isAbsent(err) && l.wanted.PaymentReferenceNumber != "":
		return l.byReference(ctx)
	case isAbsent(err):
		return nil, l.open(nil)
	case err != nil:
		return nil, l.open(err)
	case l.wanted.fits(t) != nil:
		return l.byReference(ctx, Candidate{Transaction: t, Reasons: []string{"it came in the answer, and is about something else"}})
	}
	outcome := t.Outcome()
	if l.intent.OwnKey && outcome.tookNoMoney() { // an earlier process may have been approved
		return l.byReference(ctx)
	}
	if !outcome.Final() {
		return nil, l.open(nil, Candidate{Transaction: t, Matches: true, Reasons: []string{"it is " + string(outcome)}})
	}
	return t, nil
}

// byReference searches every list that may have the transaction.
func (l lookUp) byReference(ctx context.Context, others ...Candidate) (*Transaction, error) {
	var found found
	unstable := readWhole(func() ([]string, bool, error) {
		found = l.search(ctx)
		return slices.Sorted(maps.Keys(found.states)), found.whole || found.approved() != nil, found.err
	})
	found.err = cmp.Or(found.err, unstable)
	found.reread(ctx, l)
	found.scanned(ctx, l)
	found.takeFollowUp(ctx, l)
	found.dropUnshown(l)
	if t := found.settled(l.intent.Attempts); t != nil {
		return t, nil
	}
	candidates := make([]Candidate, 0, len(found.matches)+len(found.others)+len(others))
	for _, t := range found.matches {
		reason := "it is " + string(t.Outcome())
		if len(found.matches) > 1 {
			reason += ", and not the only one"
		}
		candidates = append(candidates, Candidate{Transaction: t, Matches: true, Reasons: []string{reason}})
	}
	candidates = append(append(candidates, found.others...), others...)
	return nil, l.open(found.err, candidates...)
}

// readWhole reads a list that may change while it is read page by page. It reads until one
// reading is whole or two agree, four times at most. It repeats a reading that broke off
// after its first items. A reading without items ends with its error.
func readWhole(read func() (seen []string, whole bool, err error)) error {
	var before []string
	last := errShifts
	for reading := range 4 {
		seen, whole, err := read()
		switch {
		case err != nil && len(seen) == 0:
			return err
		case err != nil:
			last = err
		case whole || reading > 0 && slices.Equal(seen, before):
			return nil
		default:
			before, last = seen, errShifts
		}
	}
	return last
}

var errShifts = errors.New("the list changes from one reading to the next, so that nothing can be said about what is not in it")

// unnamedReason is why a match by reference does not count if another one has the intent's
// id.
const unnamedReason = "another one carries the intent's id"

type found struct {
	matches   []*Transaction
	others    []Candidate
	onlyMatch bool        // no other intent can have the matches
	byID      bool        // they carry the id of the intent
	refunds   []Candidate // matches if no other intent has made them
	// states are the outcomes of all receipts. whole is true if every list had one page, because items
	// can be missed between two.
	states   map[string]Outcome
	changing []string // receipts with two outcomes
	whole    bool
	clocks   clocks // at the list that was read last
	err      error
}

// settled returns the transaction that settles the intent: the approved one, or the only
// one if it took no money and the intent was sent once.
func (f found) settled(attempts int) *Transaction {
	if t := f.approved(); t != nil {
		return t
	}
	if f.err == nil && f.onlyMatch && attempts == 1 && len(f.matches) == 1 && f.matches[0].Outcome().tookNoMoney() {
		return f.matches[0]
	}
	return nil
}

func (f found) approved() *Transaction {
	var approved *Transaction
	for _, t := range f.matches {
		outcome := t.Outcome()
		if outcome == OutcomeApproved && approved == nil {
			approved = t
		} else if !outcome.tookNoMoney() {
			return nil
		}
	}
	return approved
}

// maxFound bounds what a look-up keeps of a list that does not end.
const maxFound = 1000

var errFound = errors.New("too many transactions may be the intent's")

// add reads a list to its end, past items that cannot be read. It returns false for a 404, which
// the service may answer for an empty list.
func (f *found) add(ctx context.Context, l lookUp, list List[Transaction], compare matcher) bool {
	pages := newPages(l.s.client.config.now)
	for t, err := range list.noting(pages).All(ctx) {
		f.clocks = pages.clocks
		switch {
		case isAbsent(err):
			return false
		case err != nil:
			f.err = cmp.Or(f.err, err)
		case !f.has(t):
			f.take(l, t, compare)
		}
		if len(f.matches)+len(f.others)+len(f.refunds) > maxFound {
			f.err = cmp.Or(f.err, errFound)
			break
		}
	}
	f.whole = f.whole && pages.count <= 1
	return true
}

// dropUnshown makes candidates of matches without an id, if the service shows ids and another payment
// may have the reference. It judges after the lists, so that their order decides nothing.
func (f *found) dropUnshown(l lookUp) {
	if f.onlyMatch {
		return
	}
	f.matches = slices.DeleteFunc(f.matches, func(t *Transaction) bool {
		unshown := l.unshown(t)
		if unshown {
			f.others = append(f.others, Candidate{Transaction: t, Reasons: []string{unshownReason}})
		}
		return unshown
	})
}

// take judges a transaction that was not seen before.
func (f *found) take(l lookUp, t *Transaction, compare matcher) {
	l.s.client.seeID(t, l.intent.MetadataName)
	if t.ReceiptNumber == l.wanted.OriginalReceiptNumber {
		return
	}
	m := compare(t, l.wanted, f.clocks)
	if related := m.matches || m.refund || len(m.reasons) > 0; !related {
		return
	}
	if l.foreign != nil && l.foreign(t.ReceiptNumber) {
		m = l.intent.shared(t, m)
	}
	switch {
	case m.matches && f.byID && !m.byID:
		f.others = append(f.others, Candidate{Transaction: t, Reasons: []string{unnamedReason}})
	case m.matches:
		if m.byID && !f.byID { // which nothing else can be as well
			for _, other := range f.matches {
				f.others = append(f.others, Candidate{Transaction: other, Reasons: []string{unnamedReason}})
			}
			f.matches, f.onlyMatch, f.byID = nil, true, true
		}
		f.matches, f.onlyMatch = append(f.matches, t), f.onlyMatch && m.onlyMatch
	case m.refund:
		f.refunds = append(f.refunds, Candidate{Transaction: t, Reasons: m.reasons})
	case len(m.reasons) > 0:
		f.others = append(f.others, Candidate{Transaction: t, Reasons: m.reasons})
	}
}

// takeFollowUp takes a refund or capture of the same original and amount for the intent's, if the
// lists were read whole, it is the only one, and the caller knows that no other intent made it.
func (f *found) takeFollowUp(ctx context.Context, l lookUp) {
	byAmount := l.wanted.TransactionType == TransactionTypeRefund || l.wanted.TransactionType == TransactionTypeCapture
	if !byAmount || l.foreign == nil || f.err != nil || len(f.matches) > 0 || len(f.refunds) != 1 {
		f.others = append(f.others, f.refunds...)
		return
	}
	refund := f.refunds[0].Transaction
	if reference := refund.PaymentReferenceNumber; reference != "" { // another refund's, or its payment's
		original, err := l.s.Get(ctx, l.wanted.OriginalReceiptNumber, l.opts...)
		if err != nil || !sameText(reference, original.PaymentReferenceNumber) {
			f.err = cmp.Or(f.err, err)
			return
		}
	}
	f.matches, f.onlyMatch = append(f.matches, refund), false
}
