package sandbox

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Everything about the look-up by reference number.

// references are all that reads find a transaction by.
func (b *Sandbox) references(tx *transaction) []string {
	customer, payment := b.shownReferences(tx)
	return []string{tx.receipt, customer, payment, tx.endToEndID}
}

// shownReferences are those under which reads know a transaction: in some worlds a
// refund goes by its original's, or by none.
func (b *Sandbox) shownReferences(tx *transaction) (customer, payment string) {
	switch original := b.transactions.byReceipt[tx.originalReceipt]; {
	case tx.kind != typeRefund || b.assume.RefundReferences == "own":
		return tx.customerReference, tx.paymentReference
	case b.assume.RefundReferences == "original" && original != nil:
		return original.customerReference, original.paymentReference
	default:
		return "", ""
	}
}

func (b *Sandbox) transactionsByReference(c *call) answer {
	q := c.parameters()
	ref := q.need("referenceNumber", ascii)
	if !q.valid() {
		return c.invalid()
	}
	all := b.transactions.byReference[strings.ToLower(ref)]
	if b.assume.ReferenceSearch != "anyCase" || b.assume.RefundReferences != "own" {
		all = b.transactions.ordered
	}
	found := b.visibleOf(all, c.now, func(tx *transaction) bool { return b.answersTo(tx, ref) })
	if older := b.olderUse(ref, c.now); older != nil {
		found = append(found, older)
	}
	if len(found) == 0 && b.assume.NothingFound == "404" {
		return c.notFound("reference number")
	}
	return b.pagesOf(c, found)
}

func (b *Sandbox) answersTo(tx *transaction, ref string) bool {
	return slices.ContainsFunc(b.references(tx), func(own string) bool {
		switch b.assume.ReferenceSearch {
		case "exact":
			return own == ref
		case "prefix":
			return strings.HasPrefix(strings.ToLower(own), strings.ToLower(ref))
		default:
			return strings.EqualFold(own, ref)
		}
	})
}

// drawnReference matches a reference of 26 letters and digits of base32.
var drawnReference = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// olderUse is the transaction of a month ago that went by the same reference, in
// worlds where there is one. It is no part of the ledger, and like the first one of
// now that is looked for, if there is any. A reference that was drawn at random was
// never used before. The caller holds mu.
func (b *Sandbox) olderUse(ref string, now time.Time) *transaction {
	key := strings.ToLower(ref)
	if b.assume.ReusedReferences == "none" || b.transactions.byReceipt[ref] != nil || drawnReference.MatchString(ref) {
		return nil
	}
	if older := b.transactions.older[key]; older != nil {
		return older
	}
	older := &transaction{
		kind: typePayment, shop: b.businesses[0], principal: 1000, currency: "AUD", paymentReference: ref,
		source: instrument{card: &card{number: "4242424242424242", scheme: schemeVisa, cardType: cardCredit, month: "02", year: "2035"}},
	}
	if first := b.transactions.byReference[key]; len(first) > 0 {
		like := *first[0]
		older = &like
		older.followUps, older.retries, older.idempotencyKey = nil, nil, ""
	}
	older.metadata = nil
	if all := b.transactions.ordered; len(all) > 0 { // the same merchant's, with values of its own
		older.metadata = maps.Clone(all[len(all)-1].metadata)
		for name := range older.metadata {
			older.metadata[name] = "older"
		}
	}
	older.result, older.code = resultDeclined, "51"
	if b.assume.ReusedReferences == "approved" {
		older.result, older.code = resultApproved, "08"
	}
	older.receipt = randomDigits(b.ids, 10)
	older.created = now.AddDate(0, -1, 0)
	older.settlement = b.settlementDate(older.created)
	b.transactions.byReceipt[older.receipt] = older
	b.transactions.older[key] = older
	return older
}

// shownPrincipal is what the amount of a transaction shows.
func (b *Sandbox) shownPrincipal(tx *transaction) cents {
	isChange := tx.kind == typePreauth && tx.authorisationType != "" || tx.kind == typeCancellation
	original := b.transactions.byReceipt[tx.originalReceipt]
	switch {
	case !isChange || original == nil || b.assume.FollowUpAmounts == "sent":
		return tx.principal
	case b.assume.FollowUpAmounts == "zero":
		return 0
	default:
		return b.holdOf(original).amount
	}
}

// isRead reports whether an answer is to a look-up, and not to the write itself.
func (c *call) isRead() bool { return c.op != nil && c.op.method == http.MethodGet }
