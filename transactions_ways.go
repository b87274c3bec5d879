package quickstream

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// The ways in which a lost transaction is searched. The contract does not say in which form the
// service stores a reference, nor under which reference it lists what follows a transaction.

// WithScan gives Resume more transactions to search if it finds nothing that matches: the complete
// lists of the settlement dates in question. Resume reads a match again before it settles the
// intent, so the lists may be hours old. Package resolve fills it.
func WithScan(transactions iter.Seq2[*Transaction, error]) CallOption {
	return callOption(func(c *callConfig) error {
		if transactions == nil {
			return errors.New("WithScan: the sequence is nil")
		}
		c.scan = transactions
		return nil
	})
}

// matcher is one of the match methods of an intent.
type matcher func(*Transaction, transactionBody, clocks) match

// search reads the lists once: more of them as long as nothing matches.
func (l lookUp) search(ctx context.Context) found {
	f := found{onlyMatch: true, whole: true, states: map[string]Outcome{}, clocks: clocks{now: l.s.client.config.now}}
	compare := l.intent.match
	if l.wanted.OriginalReceiptNumber != "" {
		compare = l.intent.matchRefund
	}
	reference := l.wanted.PaymentReferenceNumber
	f.add(ctx, l, l.s.ByReference(reference, l.opts...), compare)
	if l.wanted.TransactionType == TransactionTypeRefund && l.wanted.OriginalReceiptNumber != "" {
		f.refundsOf(ctx, l, compare)
	}
	f.byForms(ctx, l, forms(reference)[1:], compare)
	if l.wanted.TransactionType != TransactionTypeRefund && l.wanted.OriginalReceiptNumber != "" {
		f.atOriginal(ctx, l, compare)
	}
	if customer := l.wanted.CustomerReferenceNumber; customer != "" {
		f.byForms(ctx, l, forms(customer), l.intent.matchListed)
	}
	f.dropUnshown(l)
	return f
}

// done reports whether more lists are of no use.
func (f *found) done() bool { return f.err != nil || len(f.matches) > 0 }

// byForms searches by one form after the other until something matches.
func (f *found) byForms(ctx context.Context, l lookUp, forms []string, compare matcher) {
	for _, form := range forms {
		if f.done() {
			return
		}
		f.add(ctx, l, l.s.ByReference(form, l.opts...), compare)
	}
}

// forms returns the forms in which the service may have stored a reference, first as it was sent.
func forms(reference string) []string {
	forms := []string{reference}
	trimmed := strings.TrimSpace(reference)
	for _, form := range []string{trimmed, strings.ToUpper(trimmed), strings.ToLower(trimmed), strings.ToUpper(reference), strings.ToLower(reference)} {
		if form != "" && !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return forms
}

// refundsOf reads the refunds of the payment. A 404 can mean that there are none, but only of a
// payment that can be read.
func (f *found) refundsOf(ctx context.Context, l lookUp, compare matcher) {
	if f.add(ctx, l, l.s.Refunds(l.wanted.OriginalReceiptNumber, l.opts...), compare) {
		return
	}
	_, err := l.s.Get(ctx, l.wanted.OriginalReceiptNumber, l.opts...)
	f.err = cmp.Or(f.err, err)
}

// atOriginal searches under the receipt and the reference of the pre-authorisation.
func (f *found) atOriginal(ctx context.Context, l lookUp, compare matcher) {
	if f.done() {
		return
	}
	original, err := l.s.Get(ctx, l.wanted.OriginalReceiptNumber, l.opts...)
	if err != nil {
		f.err = err
		return
	}
	f.byForms(ctx, l, []string{l.wanted.OriginalReceiptNumber}, compare)
	if reference := original.PaymentReferenceNumber; reference != "" && !sameText(reference, l.wanted.PaymentReferenceNumber) {
		f.byForms(ctx, l, forms(reference), compare)
	}
}

// scanned searches the lists of WithScan, and reads again what it found there.
func (f *found) scanned(ctx context.Context, l lookUp) {
	if l.scan == nil || f.done() {
		return
	}
	already := len(f.refunds)
	for t, err := range l.scan {
		if err != nil {
			f.err = cmp.Or(f.err, err)
		} else if !f.has(t) {
			f.take(l, t, l.intent.matchListed)
		}
	}
	for _, t := range f.matches {
		f.changing = append(f.changing, t.ReceiptNumber)
	}
	f.reread(ctx, l)
	for i := range f.refunds[already:] {
		refund := &f.refunds[already+i]
		current, err := l.s.Get(ctx, refund.Transaction.ReceiptNumber, l.opts...)
		if f.err = cmp.Or(f.err, err); err == nil {
			refund.Transaction = current
		}
	}
}

// matchListed compares a transaction of a list that was not searched by the intent's own reference.
// Without that or the intent's id, it is a candidate only if it agrees in everything.
func (i Intent) matchListed(t *Transaction, wanted transactionBody, clocks clocks) match {
	compare := i.match
	if wanted.OriginalReceiptNumber != "" {
		compare = i.matchRefund
	}
	m := compare(t, wanted, clocks)
	if m.matches || i.isCarriedBy(t) {
		return m
	}
	reference, id := t.PaymentReferenceNumber, t.Metadata[i.MetadataName]
	if may, _ := altered(id, i.ID); id != "" && !may {
		return match{}
	}
	wanted.PaymentReferenceNumber = ""
	if reference != "" && t.OriginalReceiptNumber == "" || len(wanted.differs(t)) > 0 || i.older(t, clocks) {
		return match{}
	}
	return m
}

// isCarriedBy reports whether a transaction has the intent's reference or id.
func (i Intent) isCarriedBy(t *Transaction) bool {
	return i.isNamedBy(t) || i.Reference != "" && sameText(t.PaymentReferenceNumber, i.Reference)
}

func (i Intent) isNamedBy(t *Transaction) bool {
	return i.ID != "" && t.Metadata[i.MetadataName] == i.ID
}

// shared judges what another intent of the merchant has the receipt of. If it carries this intent's
// reference or id and agrees, it may be either's. A decline under a reused reference is the other's.
func (i Intent) shared(t *Transaction, m match) match {
	if !i.isNamedBy(t) && (!m.matches || t.Outcome().tookNoMoney()) {
		return match{}
	}
	return match{reasons: append([]string{"another intent has its receipt"}, m.reasons...)}
}

// isAbsent reports whether an error is a 404 in the service's own words. A gateway's says nothing.
func isAbsent(err error) bool { return errors.Is(err, ErrNotFound) && errors.Is(err, wire.ErrOwn) }
