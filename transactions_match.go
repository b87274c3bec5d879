package quickstream

import (
	"cmp"
	"errors"
	"net/http"
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

// fits refuses an answer that is not about what was sent.
func (b transactionBody) fits(t *Transaction) error {
	switch id := t.Metadata[b.intentName]; {
	case b.intentName == "" || id == "":
	case id != b.Metadata[b.intentName]:
		return errAnother
	case b.TransactionType == TransactionTypeRefund: // which may go by its payment's reference
		b.PaymentReferenceNumber = ""
	}
	if len(b.differs(t)) > 0 {
		return errAnother
	}
	return nil
}

// differs says in what a transaction differs from the one that was sent. It compares what
// the specification echoes. A member that the transaction leaves out says nothing.
func (b transactionBody) differs(t *Transaction) []string {
	var reasons []string
	differ := func(what, answered, sent string) {
		if answered != "" && sent != "" && !sameText(answered, sent) {
			reasons = append(reasons, "its "+what+" is another")
		}
	}
	differ("type", string(t.TransactionType), string(b.TransactionType))
	differ("payment reference", t.PaymentReferenceNumber, b.PaymentReferenceNumber)
	differ("customer reference", t.CustomerReferenceNumber, b.CustomerReferenceNumber)
	differ("business", t.SupplierBusinessCode, b.SupplierBusinessCode)
	differ("original", t.OriginalReceiptNumber, b.OriginalReceiptNumber)
	if t.PayToData != nil && b.PayToData != nil {
		differ("end-to-end identifier", t.PayToData.EndToEndID, b.PayToData.EndToEndID)
		differ("agreement", t.PayToData.AgreementToken, b.PayToData.AgreementToken)
	}
	if b.PrincipalAmount == nil || b.AuthorisationType != "" || b.TransactionType == TransactionTypePreauthCancellation {
		return reasons // the service may answer what is held after the change
	}
	if amount := cmp.Or(t.PrincipalAmount, t.TotalAmount); amount != nil {
		differ("currency", string(amount.Currency), string(b.Currency))
	}
	if !isPrincipal(t, b.PrincipalAmount.Decimal()) {
		reasons = append(reasons, "its amount is another")
	}
	return reasons
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

// match compares a transaction with the intent. skew is how far the service's clock is
// ahead of this machine's. A transaction with another intent's id may have taken this
// intent's money, if a program called Pay instead of submitting the plan.
func (i Intent) match(t *Transaction, wanted transactionBody, skew time.Duration) match {
	reasons := append(wanted.differs(t), i.older(t, skew)...)
	id := t.Metadata[i.MetadataName]
	switch {
	case i.ID != "" && id == i.ID:
		if t.TransactionType != "" && t.TransactionType != wanted.TransactionType {
			return match{reasons: []string{"it carries the intent's id, and its type is another"}}
		}
		return match{matches: true, onlyMatch: true, byID: true}
	case i.ID != "" && id != "":
		if len(reasons) > 0 || !sameText(t.PaymentReferenceNumber, i.Reference) || t.outcome().tookNoMoney() {
			return match{}
		}
		return match{reasons: []string{"it carries another intent's id, and the same reference and amount"}}
	case t.PaymentReferenceNumber == "":
		return match{reasons: append(reasons, "it carries neither a reference nor the intent's id")}
	case !sameText(t.PaymentReferenceNumber, i.Reference):
		return match{}
	}
	return match{matches: len(reasons) == 0, onlyMatch: !i.OwnReference, reasons: reasons}
}

// matchRefund compares a refund of the intent's payment, which the service may show under
// another reference than it was sent with.
func (i Intent) matchRefund(t *Transaction, wanted transactionBody, skew time.Duration) match {
	m := i.match(t, wanted, skew)
	if m.matches || i.ID != "" && t.Metadata[i.MetadataName] != "" || sameText(t.PaymentReferenceNumber, i.Reference) {
		return m
	}
	if wanted.PaymentReferenceNumber = ""; len(wanted.differs(t)) > 0 {
		return m
	}
	i.OwnReference = true // only its age distinguishes it from an earlier refund
	age := i.older(t, skew)
	reasons := append(age, "it is a refund of the same payment and amount, without the intent's reference or id")
	return match{refund: len(age) == 0, reasons: reasons}
}

// older says that a transaction seems to have been made before the intent was sent, or
// that its time is unknown and decides.
func (i Intent) older(t *Transaction, skew time.Duration) []string {
	known := !t.TransactionTime.IsZero() && !t.TransactionTime.Assumed()
	tolerance := oldForMade
	if i.OwnReference {
		tolerance = oldForOwn
	}
	switch {
	case !known && i.OwnReference:
		return []string{"its time is not known, and an earlier one may look the same"}
	case known && t.TransactionTime.Before(i.NotBefore.Add(skew-tolerance)):
		return []string{"it is older"}
	}
	return nil
}

type pagesRead struct {
	count int
	skew  time.Duration // how far the service's clock is ahead of this machine's
}

func (p *pagesRead) note(header http.Header) {
	p.count++
	date, err := http.ParseTime(header.Get("Date"))
	if skew := time.Until(date); err == nil && skew.Abs() < maxSkew {
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
