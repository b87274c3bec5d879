package quickstream

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// How much older than the intent a transaction may seem, by the service's clock. If only
// this intent carries the reference, the clocks may differ. If another payment may carry
// it, they may differ by the whole seconds of the Date header.
const (
	oldForMade = 2 * time.Hour
	oldForOwn  = 2 * time.Second
)

// maxSkew is how far two clocks may be apart. A Date further off is not a clock's, and would
// make an earlier payment look like the one that was sent.
const maxSkew = 24 * time.Hour

// errAnother is for an answer that is about something else than the request.
var errAnother = errors.New("the answer is about another transaction than the one that was sent")

// errNotShown is for an answer to a call that an earlier process may have made with the same key.
var errNotShown = errors.New("the answer does not show the amount, currency and reference of the transaction, which the caller's key may have named before")

// fits refuses an answer that is not about what was sent: its facts differ, it carries another
// intent's id, or something else differs and nothing shows that it is this one. Under a key of the
// caller's, the service may answer with what the key named before: then what was sent has to be shown.
func (b transactionBody) fits(t *Transaction) error {
	amount := cmp.Or(t.PrincipalAmount, t.TotalAmount)
	if b.ownKey && (t.PaymentReferenceNumber == "" || b.PrincipalAmount != nil && (amount == nil || amount.Currency == "")) {
		return errNotShown
	}
	facts, others := b.compare(t)
	id, own := t.Metadata[b.intentName], b.Metadata[b.intentName]
	may, _ := altered(id, own)
	foreign := id != own && id != "" && !may
	shown := id != "" && id == own || isShown(t.PaymentReferenceNumber, b.PaymentReferenceNumber) ||
		t.PayToData != nil && b.PayToData != nil && isShown(t.PayToData.EndToEndID, b.PayToData.EndToEndID)
	if foreign || len(facts) > 0 || len(others) > 0 && !shown || b.OriginalReceiptNumber != "" && t.ReceiptNumber == b.OriginalReceiptNumber {
		return errAnother
	}
	return nil
}

func isShown(answered, sent string) bool { return answered != "" && sameText(answered, sent) }

// differs says in what a transaction differs from the one that was sent.
func (b transactionBody) differs(t *Transaction) []string {
	facts, others := b.compare(t)
	return reasonsFor(append(facts, others...))
}

// compare names the members in which a transaction differs from the one that was sent, of those that
// the specification echoes: facts, and what the service may show in another form. A member that the
// transaction leaves out says nothing.
func (b transactionBody) compare(t *Transaction) (facts, others []string) {
	differ := func(list *[]string, member, answered, sent string) {
		if answered != "" && sent != "" && !sameText(answered, sent) {
			*list = append(*list, member)
		}
	}
	differ(&facts, "transactionType", string(t.TransactionType), string(b.TransactionType))
	differ(&facts, "originalReceiptNumber", t.OriginalReceiptNumber, b.OriginalReceiptNumber)
	differ(&others, "paymentReferenceNumber", t.PaymentReferenceNumber, b.PaymentReferenceNumber)
	differ(&others, "customerReferenceNumber", t.CustomerReferenceNumber, b.CustomerReferenceNumber)
	differ(&others, "supplierBusinessCode", t.SupplierBusinessCode, b.SupplierBusinessCode)
	account, customer := t.account()
	differ(&facts, "accountToken", account, b.AccountToken)
	differ(&facts, "customerId", customer, b.CustomerID)
	switch kind := AuthorisationType(strings.ToUpper(string(t.AuthorisationType))); kind { // another word says nothing
	case AuthorisationTypeIncremental, AuthorisationTypeExtension, AuthorisationTypeReauthorisation:
		differ(&facts, "authorisationType", string(kind), string(b.AuthorisationType))
	}
	if t.PayToData != nil && b.PayToData != nil {
		differ(&others, "payToData.endToEndId", t.PayToData.EndToEndID, b.PayToData.EndToEndID)
		differ(&facts, "payToData.agreementToken", t.PayToData.AgreementToken, b.PayToData.AgreementToken)
	}
	if b.PrincipalAmount == nil {
		return facts, others
	}
	if amount := cmp.Or(t.PrincipalAmount, t.TotalAmount); amount != nil {
		differ(&facts, "currency", string(amount.Currency), string(b.Currency))
	}
	if b.AuthorisationType != "" || b.TransactionType == TransactionTypePreauthCancellation {
		return facts, others // the service may answer what is held after the change
	}
	if !isPrincipal(t, b.PrincipalAmount.Decimal()) {
		facts = append(facts, "principalAmount")
	}
	return facts, others
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

// isPrincipal reports whether an amount is the principal of a transaction. The transaction
// may leave the principal out, or show the total in its place if its own parts add up.
func isPrincipal(t *Transaction, sent decimal.Decimal) bool {
	principal, total, surcharge := t.PrincipalAmount, t.TotalAmount, t.SurchargeAmount
	if principal != nil && principal.Amount.Equal(sent) {
		return true
	}
	if principal == nil && (total == nil || surcharge == nil) {
		return total == nil || !total.Amount.LessThan(sent)
	}
	return total != nil && surcharge != nil && total.Amount.Sub(surcharge.Amount).Equal(sent) &&
		(principal == nil || principal.Amount.Equal(total.Amount))
}

// sameText compares identifiers in any case and without blanks around them. The service
// compares references so, and does not say how it echoes them.
func sameText(answered, sent string) bool {
	return strings.EqualFold(strings.TrimSpace(answered), strings.TrimSpace(sent))
}

// beginsWith reports whether a reference is a longer one, which a search by beginnings lists too.
func beginsWith(longer, reference string) bool {
	longer, reference = strings.ToLower(strings.TrimSpace(longer)), strings.ToLower(strings.TrimSpace(reference))
	return strings.HasPrefix(longer, reference)
}

// altered reports whether an id in metadata may be the intent's own, echoed in another case, with
// blanks or quotes, cut or masked, and whether it shows enough of it to be no other one.
func altered(id, own string) (may, shows bool) {
	if id == own {
		return false, false
	}
	own = strings.ToLower(own)
	parts := mask.Split(strings.ToLower(strings.Trim(id, " \t\"'`\\")), -1)
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		may = len(first) >= shortestCut && strings.Contains(own, first)
		return may, may
	}
	may = strings.HasPrefix(own, first) && strings.HasSuffix(own, last)
	return may, may && len(first)+len(last) >= shortestCut
}

// shortestCut is the length from which a part of an id is no accident.
const shortestCut = 4

// mask is what ids are masked or cut with.
var mask = regexp.MustCompile(`[*#•….]+|x{4,}`)

type match struct {
	matches bool
	// onlyMatch is true if it cannot be another intent's, and byID if it carries the
	// intent's id.
	onlyMatch, byID bool
	// refund is true if it is a match as long as no other intent of the merchant made it.
	refund bool
	// reasons say why a candidate is not a match. A transaction that does not match and
	// has no reasons has nothing to do with the intent.
	reasons []string
}

// match compares a transaction with the intent. A transaction with another intent's id may have taken this
// intent's money, if a program called Pay instead of submitting the plan.
func (i Intent) match(t *Transaction, wanted transactionBody, clocks clocks) match {
	reasons := append(wanted.differs(t), i.age(t, clocks)...)
	id := t.Metadata[i.MetadataName]
	switch may, shows := altered(id, i.ID); {
	case i.ID != "" && id == i.ID:
		if t.TransactionType != "" && !sameText(string(t.TransactionType), string(wanted.TransactionType)) {
			return match{reasons: []string{"it carries the intent's id, and its type is another"}}
		}
		if another := len(wanted.differs(t)) > 1 && t.PaymentReferenceNumber != "" && !sameText(t.PaymentReferenceNumber, i.Reference); another && wanted.OriginalReceiptNumber == "" {
			return match{reasons: append([]string{"it carries the intent's id, and not its reference"}, reasons...)}
		}
		return match{matches: true, onlyMatch: true, byID: true}
	case shows && !sameText(t.PaymentReferenceNumber, i.Reference):
		return match{reasons: append(reasons, "it carries what may be the intent's id, and not its reference")}
	case id != "" && !may:
		if len(wanted.differs(t)) > 0 || i.older(t, clocks) || t.Outcome().tookNoMoney() {
			return match{}
		}
		return match{reasons: []string{"it carries another intent's id, and agrees otherwise"}}
	case t.PaymentReferenceNumber == "":
		return match{reasons: append(reasons, "it carries neither a reference nor the intent's id")}
	case !sameText(t.PaymentReferenceNumber, i.Reference):
		wanted.PaymentReferenceNumber = ""
		if beginsWith(t.PaymentReferenceNumber, i.Reference) || len(wanted.differs(t)) > 0 || i.older(t, clocks) || t.Outcome().tookNoMoney() {
			return match{}
		}
		return match{reasons: append([]string{"it shows another reference than it was searched by"}, reasons...)}
	}
	return match{matches: len(reasons) == 0, onlyMatch: !i.OwnReference, reasons: reasons}
}

// matchRefund compares a refund of the intent's payment, which the service may show under
// another reference than it was sent with.
func (i Intent) matchRefund(t *Transaction, wanted transactionBody, clocks clocks) match {
	m := i.match(t, wanted, clocks)
	id := t.Metadata[i.MetadataName]
	may, _ := altered(id, i.ID)
	if m.matches || id != "" && !may || sameText(t.PaymentReferenceNumber, i.Reference) {
		return m
	}
	if wanted.PaymentReferenceNumber = ""; len(wanted.differs(t)) > 0 {
		return m
	}
	i.OwnReference = true // only its age distinguishes it from an earlier refund
	age := i.age(t, clocks)
	reasons := append(age, "it follows the same original, without the intent's reference or id")
	return match{refund: len(age) == 0, reasons: reasons}
}

// older reports whether a transaction was made before the intent was sent.
func (i Intent) older(t *Transaction, clocks clocks) bool {
	made, settles := t.TransactionTime, t.SettlementDate
	if made.IsZero() || made.Assumed() || i.OwnKey {
		return false
	}
	if !i.OwnReference {
		return made.Before(i.NotBefore.Add(clocks.skew - oldForMade))
	}
	first := i.NotBefore.Add(clocks.skew - oldForOwn)
	return made.Before(first) || !settles.IsZero() && settles.Compare(sydneyDate(first)) < 0
}

// age says that a transaction is older than the intent, or, if another transaction may have the
// reference, why its time does not prove that it is not.
func (i Intent) age(t *Transaction, clocks clocks) []string {
	made := t.TransactionTime
	sydney := inSydney(time.Date(made.Year(), made.Month(), made.Day(), made.Hour(), made.Minute(), made.Second(), 0, time.UTC))
	switch {
	case i.older(t, clocks):
		return []string{"it is older"}
	case !i.OwnReference:
		return nil
	case i.OwnKey:
		return []string{"another process may have sent it, so that its time proves nothing"}
	case made.IsZero() || made.Assumed():
		return []string{"its time is not known, and an earlier one may look the same"}
	case t.SettlementDate.IsZero():
		return []string{"its settlement date is not known, and its time may be that of its last change"}
	case sydney.Before(i.NotBefore.Add(clocks.skew - oldForOwn)):
		return []string{"it is older if its time is Sydney's under another label"}
	case !made.Before(clocks.now().Add(clocks.skew).Truncate(time.Second)):
		return []string{"its time is not before this look-up, so it may be that of its last change"}
	}
	return nil
}

// seeID remembers that the service shows the ids of intents.
func (c *Client) seeID(t *Transaction, name string) {
	if t.Metadata[name] != "" {
		c.showsIDs.Store(true)
	}
}

// unshownReason is why a transaction without an id is a candidate.
const unshownReason = "it carries no id, which the service shows of others, and another payment may have its reference"

// unshown reports whether a transaction has no id although the service shows ids.
func (l lookUp) unshown(t *Transaction) bool {
	i := l.intent
	return i.ID != "" && t.Metadata[i.MetadataName] == "" && (i.IDsShown || l.s.client.showsIDs.Load())
}

// sydneyDate returns the date in Sydney, by winter time: of two dates the earlier.
func sydneyDate(t time.Time) Date { return DateOf(t.UTC().Add(sydneyStandard)) }

// has reports whether a transaction was seen with this outcome. One that is listed again with another
// outcome is compared again, so that its place in the list decides nothing.
func (f *found) has(t *Transaction) bool {
	outcome, seen := f.states[t.ReceiptNumber]
	switch {
	case !seen:
		f.states[t.ReceiptNumber] = t.Outcome()
		return false
	case outcome == t.Outcome():
		return true
	}
	f.changing = append(f.changing, t.ReceiptNumber)
	return false
}

// reread replaces the matches that were listed with two outcomes by what the service says of their
// receipt. If it cannot be read the look-up fails, and its outcome is unknown.
func (f *found) reread(ctx context.Context, l lookUp) {
	slices.Sort(f.changing)
	for _, receipt := range slices.Compact(f.changing) {
		is := func(t *Transaction) bool { return t.ReceiptNumber == receipt }
		listed := slices.IndexFunc(f.matches, is)
		if listed < 0 {
			continue
		}
		latest, err := l.s.Get(ctx, receipt, l.opts...)
		if err != nil {
			unknown := *f.matches[listed]
			unknown.Status, unknown.SummaryCode, unknown.ResponseCode = "", "", ""
			latest, f.err = &unknown, cmp.Or(f.err, err)
		}
		f.matches = append(slices.DeleteFunc(f.matches, is), latest)
	}
}

// clocks are the client's, and how far the service's is ahead of it.
type clocks struct {
	now  func() time.Time
	skew time.Duration
}

type pagesRead struct {
	count int
	clocks
}

func newPages(now func() time.Time) *pagesRead { return &pagesRead{clocks: clocks{now: now}} }

func (p *pagesRead) note(header http.Header) {
	p.count++
	date, err := http.ParseTime(header.Get("Date"))
	if skew := date.Sub(p.now()); err == nil && skew.Abs() < maxSkew {
		p.skew = skew
	}
}

func (l List[T]) noting(pages *pagesRead) List[T] {
	l.pages = pages
	return l
}

// tookNoMoney reports whether a transaction with this outcome has taken no money.
func (o Outcome) tookNoMoney() bool {
	return o == OutcomeDeclined || o == OutcomeRejected || o == OutcomeVoided
}
