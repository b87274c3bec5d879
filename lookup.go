package quickstream

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// resumePause is the pause after which another look-up can show more.
const resumePause = time.Minute

const resumeName Operation = "Transactions.Resume"

// Resume looks up the transaction of an intent: that of an [UnknownOutcomeError], or one stored
// before a crash. It only reads. It returns the transaction if it is settled, approved or not, and
// for a void if it is voided. Everything else is an UnknownOutcomeError: see its Candidates, Cause
// and NextLook. Nothing found means "not found yet" and does not permit another payment: package
// resolve says how long to look, and how a transaction is recognised.
//
// GET /transactions/{receiptNumber} if the receipt number is known, else GET
// /transactions/for-reference-number, and for a refund GET /transactions/{receiptNumber}/refunds.
func (s *TransactionsService) Resume(ctx context.Context, intent Intent, opts ...CallOption) (*Transaction, error) {
	ctx, opts, err := s.client.beginLookUp(ctx, intent, resumeName, opts)
	if err = cmp.Or(err, intent.checkFor(s.client)); err != nil {
		return nil, s.client.refusedLookUp(ctx, resumeName, intent, err)
	}
	l, err := intent.lookUp()
	if err != nil {
		return nil, s.client.refusedLookUp(ctx, resumeName, intent, err)
	}
	l.call, l.s, l.opts = resumeName.info(), s, opts
	if intent.Operation != OperationVoid {
		return l.settled(l.search(ctx))
	}
	t, err := s.Get(ctx, intent.Target, opts...)
	if err != nil {
		return nil, l.open(err)
	}
	return l.voided(t)
}

// Match judges a transaction that was read elsewhere, such as the transaction of an event. It
// returns the same as a Resume that finds only this transaction, and sends nothing.
func (i Intent) Match(t *Transaction) (*Transaction, error) {
	l, err := i.lookUp()
	switch {
	case cmp.Or(err, i.checkVersion()) != nil:
		return nil, l.open(cmp.Or(err, i.checkVersion()))
	case i.Operation == OperationVoid && sameText(t.ReceiptNumber, i.Target):
		return l.voided(t)
	case i.Operation == OperationVoid:
	case sameText(t.ReceiptNumber, i.ReceiptNumber):
		l.judgeReceipt(t)
	default:
		l.add(t, false)
	}
	return l.settled(nil)
}

func (i Intent) lookUp() (lookUp, error) {
	l := lookUp{call: i.Operation.info(), intent: i, seen: map[string]Outcome{}}
	if i.Operation == OperationVoid || len(i.Request) == 0 && i.ReceiptNumber != "" {
		return l, nil
	}
	var err error
	l.wanted, err = i.transaction()
	return l, err
}

// lookUp is one look-up of a transaction.
type lookUp struct {
	call   CallInfo // that its error names
	s      *TransactionsService
	opts   []CallOption
	intent Intent
	wanted transactionBody
	// original is the transaction that the wanted one follows; nil before it is read, and if there is none.
	original *Transaction
	// matches are ours. candidates may be, and settle nothing.
	matches    []*Transaction
	byReceipt  bool // the only match has the receipt of the answer
	candidates []Candidate
	seen       map[string]Outcome // by receipt
}

// beginLookUp prepares a look-up: it continues the intent's trace, and the requests
// carry the look-up's name.
func (c *Client) beginLookUp(ctx context.Context, intent Intent, name Operation, opts []CallOption) (context.Context, []CallOption, error) {
	ctx, err := c.observer.resume(ctx, intent.Carrier)
	return ctx, madeBy(name).with(opts), err
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

// voided judges the transaction of a void. If it is still approved, that says nothing about a lost void.
func (l *lookUp) voided(t *Transaction) (*Transaction, error) {
	switch outcome := t.Outcome(); outcome {
	case OutcomeVoided:
		return t, nil
	case OutcomeApproved:
		return nil, l.open(nil)
	default:
		return nil, l.open(nil, Candidate{Transaction: t, Reasons: []string{"it is " + string(outcome) + ", and neither approved nor voided"}})
	}
}

// search reads one list after another until a transaction matches.
func (l *lookUp) search(ctx context.Context) error {
	if err := l.readReceipt(ctx); err != nil || len(l.matches) > 0 {
		return err
	}
	var unread error // of the original, which is read before transactions that may follow it are judged
	if receipt := l.wanted.OriginalReceiptNumber; receipt != "" {
		l.original, unread = l.s.Get(ctx, receipt, l.opts...)
	}
	if reference := l.wanted.PaymentReferenceNumber; reference != "" {
		if err := l.list(ctx, reference); err != nil || len(l.matches) > 0 {
			return err
		}
	}
	if l.wanted.OriginalReceiptNumber != "" {
		if err := l.follows(ctx, unread); err != nil || len(l.matches) > 0 {
			return err
		}
	}
	if customer := l.wanted.CustomerReferenceNumber; customer != "" && l.intent.OwnReference {
		return l.list(ctx, customer)
	}
	return nil
}

// readReceipt reads the transaction under the intent's receipt number, if it has one.
func (l *lookUp) readReceipt(ctx context.Context) error {
	if l.intent.ReceiptNumber == "" {
		return nil
	}
	t, err := l.s.Get(ctx, l.intent.ReceiptNumber, l.opts...)
	if isAbsent(err) {
		return nil
	}
	if err == nil {
		l.judgeReceipt(t)
	}
	return err
}

// judgeReceipt judges the transaction under the intent's receipt number.
func (l *lookUp) judgeReceipt(t *Transaction) {
	switch facts := l.wanted.compare(t).facts; {
	case len(facts) > 0:
		l.candidates = append(l.candidates, Candidate{Transaction: t, Reasons: reasonsFor(facts)})
	case !l.intent.Answered && l.wanted.fits(t) != nil:
		l.candidates = append(l.candidates, Candidate{Transaction: t, Reasons: []string{"it came in the answer, and is about something else"}})
	case l.intent.OwnKey && t.Outcome().tookNoMoney():
		// A payment by an earlier process may be approved: it has the same reference.
	default:
		l.matches, l.byReceipt = append(l.matches, t), true
	}
}

// errForeignList is for a list that does not fit the query, such as one from a gateway or a cache.
var errForeignList = errors.New("the list for a reference shows only transactions without it")

// list looks a reference up, in the form in which it was sent.
func (l *lookUp) list(ctx context.Context, reference string) error {
	items, err := l.s.ByReference(reference, l.opts...).ReadAll(ctx)
	if isAbsent(err) {
		return nil
	}
	if err == nil && len(items) > 0 && !slices.ContainsFunc(items, func(t *Transaction) bool { return t.carries(reference) }) {
		err = errForeignList
	}
	return cmp.Or(err, l.judgeAll(ctx, items, false))
}

// carries reports whether the service may have found a transaction by a reference.
func (t *Transaction) carries(reference string) bool {
	shown := []string{t.ReceiptNumber, t.PaymentReferenceNumber, t.CustomerReferenceNumber}
	if t.PayToData != nil {
		shown = append(shown, t.PayToData.EndToEndID)
	}
	return slices.ContainsFunc(shown, func(text string) bool { return sameText(text, reference) })
}

// follows judges what may follow the same original: its refunds, and transactions with its reference.
func (l *lookUp) follows(ctx context.Context, unread error) error {
	if unread != nil {
		return unread
	}
	if l.wanted.TransactionType == TransactionTypeRefund {
		refunds, err := l.s.Refunds(l.wanted.OriginalReceiptNumber, l.opts...).ReadAll(ctx)
		if err != nil && !isAbsent(err) { // a 404 of a payment that can be read means that there are none
			return err
		}
		if err := l.judgeAll(ctx, refunds, true); err != nil || len(l.matches) > 0 {
			return err
		}
	}
	reference := l.original.PaymentReferenceNumber
	if reference == "" || sameText(reference, l.wanted.PaymentReferenceNumber) {
		return nil
	}
	return l.list(ctx, reference)
}

// judgeAll judges the items of a list. If a receipt number comes again with another outcome, its
// transaction is read, so that the order of the list decides nothing.
func (l *lookUp) judgeAll(ctx context.Context, items []*Transaction, refunds bool) (err error) {
	for _, t := range items {
		receipt := strings.ToLower(strings.TrimSpace(t.ReceiptNumber))
		outcome, again := l.seen[receipt]
		l.seen[receipt] = t.Outcome()
		switch {
		case again && outcome == t.Outcome():
			continue
		case again:
			is := func(other *Transaction) bool { return sameText(other.ReceiptNumber, t.ReceiptNumber) }
			l.matches = slices.DeleteFunc(l.matches, is)
			l.candidates = slices.DeleteFunc(l.candidates, func(c Candidate) bool { return is(c.Transaction) })
			if t, err = l.s.Get(ctx, t.ReceiptNumber, l.opts...); err != nil {
				return err
			}
		}
		if l.add(t, refunds) == another {
			delete(l.seen, receipt) // the next list may show that it follows the original
		}
	}
	return nil
}

// add judges one transaction.
func (l *lookUp) add(t *Transaction, refunds bool) verdict {
	verdict, differs := l.judge(t, refunds)
	switch verdict {
	case ours:
		l.matches = append(l.matches, t)
	case candidate:
		l.candidates = append(l.candidates, Candidate{Transaction: t, Reasons: differs})
	case another:
	}
	return verdict
}

// verdict is the judgement of a transaction that was found.
type verdict uint8

const (
	another verdict = iota
	candidate
	ours
)

// generatedID is the form of the ids that this package makes.
var generatedID = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// judge says whether a transaction is the intent's, and how a candidate differs. It is the table in
// docs/how-a-payment-is-found.md.
func (l *lookUp) judge(t *Transaction, refunds bool) (verdict, []string) {
	i := l.intent
	differs := reasonsFor(l.wanted.compare(t).facts)
	id := t.Metadata[i.MetadataName]
	hasID, hasReference, generated := i.ID != "" && id == i.ID, sameText(t.PaymentReferenceNumber, i.Reference), !i.OwnReference
	switch {
	case sameText(t.ReceiptNumber, l.wanted.OriginalReceiptNumber): // the original itself
		return another, nil
	case hasID && len(differs) == 0:
		return ours, nil
	case hasID:
		return candidate, differs
	case id == "" && hasReference && generated && len(differs) == 0: // no other transaction can have this reference
		return ours, nil
	case l.isSibling(t, id, refunds || hasReference, differs):
		return candidate, []string{"it follows the same transaction, and does not show the intent's id"}
	case generatedID.MatchString(id) && !generated:
		return another, nil
	case hasReference && id != "":
		return candidate, append(differs, "its id is another")
	case hasReference:
		return candidate, append(differs, "it shows no id, and another transaction may have its reference")
	}
	return another, nil
}

// isSibling reports whether a transaction follows the same original with the same type and amount,
// and has no id of its own. A transaction with our reference counts as following it.
func (l *lookUp) isSibling(t *Transaction, id string, follows bool, differs []string) bool {
	if l.wanted.OriginalReceiptNumber == "" || len(differs) > 0 {
		return false
	}
	original := l.original
	follows = follows || sameText(t.OriginalReceiptNumber, l.wanted.OriginalReceiptNumber) ||
		original != nil && original.PaymentReferenceNumber != "" && sameText(t.PaymentReferenceNumber, original.PaymentReferenceNumber)
	return follows && (id == "" || original != nil && id == original.Metadata[l.intent.MetadataName])
}

// settled concludes a look-up. err is the reason why it failed, or nil.
func (l *lookUp) settled(err error) (*Transaction, error) {
	var approved, tookNothing []*Transaction
	for _, t := range l.matches {
		switch outcome := t.Outcome(); {
		case outcome == OutcomeApproved:
			approved = append(approved, t)
		case outcome.tookNoMoney():
			tookNothing = append(tookNothing, t)
		}
	}
	all := len(approved)+len(tookNothing) == len(l.matches)
	switch {
	case all && len(approved) == 1:
		approved[0].candidates = l.candidates
		return approved[0], nil
	case err == nil && all && len(tookNothing) == 1 && (l.intent.Attempts == 1 || l.byReceipt):
		tookNothing[0].candidates = l.candidates
		return tookNothing[0], nil
	}
	found := make([]Candidate, 0, len(l.matches)+len(l.candidates))
	for _, t := range l.matches {
		differs := []string{"it is " + string(t.Outcome())}
		if len(l.matches) > 1 {
			differs = append(differs, "it is not the only one")
		}
		found = append(found, Candidate{Transaction: t, Matches: true, Reasons: differs})
	}
	return nil, l.open(err, append(found, l.candidates...)...)
}

// open returns the error of a look-up that settles nothing. cause is why it failed, or nil.
func (l *lookUp) open(cause error, candidates ...Candidate) error {
	return l.intent.open(l.call, cause, candidates)
}

// open returns the error of a look-up that settles nothing. cause is why it failed, or nil.
func (i Intent) open(call CallInfo, cause error, candidates []Candidate) *UnknownOutcomeError {
	return &UnknownOutcomeError{
		CallInfo: call, Intent: &i, Candidates: candidates,
		IdempotencyKey: i.IdempotencyKey, Reference: i.Reference, ReceiptNumber: i.ReceiptNumber,
		FirstSent: i.MadeAt, Attempts: i.Attempts, FindOut: "look again", NextLook: time.Now().Add(resumePause), Cause: cause,
	}
}

// notOurs says why an answer does not show what became of the request. It shows no value.
type notOurs string

func (n notOurs) Error() string { return "the answer " + string(n) }

// fits refuses an answer about another transaction: its facts differ, it carries another id, or another
// member differs and neither id nor reference is ours. With the caller's own key, the service may answer
// with an earlier transaction of that key: then the answer has to show amount, currency and reference.
func (b transactionBody) fits(t *Transaction) error {
	amount := cmp.Or(t.PrincipalAmount, t.TotalAmount)
	if b.ownKey && (t.PaymentReferenceNumber == "" || b.PrincipalAmount != nil && (amount == nil || amount.Currency == "")) {
		return notOurs("does not show amount, currency and reference, and the caller's key may have named another transaction before")
	}
	found, isShown := b.compare(t), func(answered, sent string) bool { return answered != "" && sameText(answered, sent) }
	id := t.Metadata[b.intentName]
	shown := id != "" || isShown(t.PaymentReferenceNumber, b.PaymentReferenceNumber) ||
		t.PayToData != nil && b.PayToData != nil && isShown(t.PayToData.EndToEndID, b.PayToData.EndToEndID)
	differs := reasonsFor(append(found.facts, found.others...))
	switch {
	case id != "" && id != b.Metadata[b.intentName]:
		differs = append(differs, "its id is another")
	case b.OriginalReceiptNumber != "" && sameText(t.ReceiptNumber, b.OriginalReceiptNumber):
		differs = append(differs, "it is the original")
	case len(found.facts) == 0 && (len(found.others) == 0 || shown):
		return nil
	}
	return notOurs("is about another transaction than the one that was sent: " + strings.Join(differs, ", "))
}

// compare names the members in which a transaction differs from the one that was sent. A member that the
// transaction leaves out says nothing.
func (b transactionBody) compare(t *Transaction) (c comparison) {
	c.fact("transactionType", string(t.TransactionType), string(b.TransactionType))
	switch kind := AuthorisationType(strings.ToUpper(string(t.AuthorisationType))); kind { // another word says nothing
	case AuthorisationTypeIncremental, AuthorisationTypeExtension, AuthorisationTypeReauthorisation:
		if b.TransactionType != "" { // the request is known
			c.fact("authorisationType", string(kind), cmp.Or(string(b.AuthorisationType), "none"))
		}
	}
	c.fact("originalReceiptNumber", t.OriginalReceiptNumber, b.OriginalReceiptNumber)
	c.member("paymentReferenceNumber", t.PaymentReferenceNumber, b.PaymentReferenceNumber)
	c.member("customerReferenceNumber", t.CustomerReferenceNumber, b.CustomerReferenceNumber)
	c.member("supplierBusinessCode", t.SupplierBusinessCode, b.SupplierBusinessCode)
	account, customer := t.account()
	c.member("accountToken", account, b.AccountToken)
	c.member("customerId", customer, b.CustomerID)
	if t.PayToData != nil && b.PayToData != nil {
		c.fact("payToData.agreementToken", t.PayToData.AgreementToken, b.PayToData.AgreementToken)
		c.member("payToData.endToEndId", t.PayToData.EndToEndID, b.PayToData.EndToEndID)
	}
	amount := cmp.Or(t.PrincipalAmount, t.TotalAmount)
	if amount == nil || b.PrincipalAmount == nil {
		return c
	}
	c.fact("currency", string(amount.Currency), string(b.Currency))
	if b.amountIsFact() && !isPrincipal(t, b.PrincipalAmount.Decimal()) {
		c.facts = append(c.facts, "principalAmount")
	}
	return c
}

// account returns the token and the customer of the account that a transaction shows, "" for none.
func (t *Transaction) account() (token, customerID string) {
	if a := t.CreditCard; a != nil {
		token, customerID = a.AccountToken, a.CustomerID
	}
	if a := t.BankAccount; a != nil {
		token, customerID = cmp.Or(token, a.AccountToken), cmp.Or(customerID, a.CustomerID)
	}
	if a := t.NZBankAccount; a != nil {
		token, customerID = cmp.Or(token, a.AccountToken), cmp.Or(customerID, a.CustomerID)
	}
	return token, customerID
}

// amountIsFact reports whether the answer shows the amount that was sent. The service may answer a
// change of a pre-authorisation with the amount that is held after it.
func (b transactionBody) amountIsFact() bool {
	return b.AuthorisationType == "" && b.TransactionType != TransactionTypePreauthCancellation
}

// isPrincipal reports whether an amount is the principal of a transaction, which may show the total in its
// place.
func isPrincipal(t *Transaction, sent decimal.Decimal) bool {
	principal, total, surcharge := t.PrincipalAmount, t.TotalAmount, t.SurchargeAmount
	switch {
	case principal != nil && principal.Amount.Equal(sent):
		return true
	case total == nil || principal != nil && !principal.Amount.Equal(total.Amount):
		return false
	case surcharge == nil:
		return total.Amount.Equal(sent)
	}
	return total.Amount.Sub(surcharge.Amount).Equal(sent)
}

// sameText compares identifiers without regard to case and to blanks around them. The service
// compares references so, and does not publish how it echoes them.
func sameText(shown, sent string) bool {
	return strings.EqualFold(strings.TrimSpace(shown), strings.TrimSpace(sent))
}

// tookNoMoney reports whether a transaction with this outcome has taken no money.
func (o Outcome) tookNoMoney() bool {
	return o == OutcomeDeclined || o == OutcomeRejected || o == OutcomeVoided
}

// isAbsent reports whether an error is a 404 with the service's error body. A gateway's 404 proves nothing.
func isAbsent(err error) bool {
	return errors.Is(err, ErrNotFound) && errors.Is(err, wire.ErrFromService)
}
