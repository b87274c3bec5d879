package sandbox

import (
	"net/http"
	"slices"
	"time"
)

const (
	typeRefund       = "REFUND"
	typePreauth      = "PREAUTH"
	typeCapture      = "CAPTURE"
	typeCancellation = "PREAUTH_CANCELLATION"
	typeVerification = "ACCOUNT_VERIFICATION"
)

// followUp reads the common members of transactions against an earlier one, and finds that
// one. original is nil if there is none of the allowed types.
func (b *Sandbox) followUp(f *fields, kind string, follows ...string) (tx, original *transaction) {
	tx = b.newTransaction(f, kind)
	if kind != typeRefund {
		f.forbid("does not belong to transactionType "+kind, "eci", "ipAddress")
	}
	tx.originalReceipt = f.need("originalReceiptNumber")
	code := f.text("supplierBusinessCode", b.knownBusiness)
	original = b.transactions.byReceipt[tx.originalReceipt]
	switch {
	case tx.originalReceipt == "":
		return tx, nil
	case original == nil:
		f.refuse("originalReceiptNumber", tx.originalReceipt, "is not a transaction")
		return tx, nil
	case !slices.Contains(follows, original.kind):
		f.refuse("originalReceiptNumber", tx.originalReceipt, "is a "+original.kind+", which "+kind+" cannot follow")
		return tx, nil
	case original.result != resultApproved:
		f.refuse("originalReceiptNumber", tx.originalReceipt, "is not an approved transaction")
		return tx, nil
	}
	if tx.currency != "" && tx.currency != original.currency {
		f.refuse("currency", tx.currency, "must be that of the original transaction")
	}
	if code != "" && code != original.shop.code {
		f.refuse("supplierBusinessCode", code, "must be that of the original transaction")
	}
	tx.shop, tx.source, tx.account = original.shop, original.source, original.account
	return tx, original
}

// follow records a follow-up.
func (b *Sandbox) follow(c *call, tx, original *transaction) answer {
	b.commit(tx, b.decide(tx, c.now))
	original.followUps = append(original.followUps, tx)
	return b.created(c, tx)
}

// counts reports whether a transaction was carried out, or may turn out to have been.
func (tx *transaction) counts() bool {
	return tx.result != resultDeclined && tx.result != resultRejected && tx.result != resultVoided
}

// refundLimit returns the largest sum of the refunds of a payment.
func (b *Sandbox) refundLimit(tx *transaction) cents {
	if b.assume.RefundsIncludeSurcharge {
		return tx.total()
	}
	return tx.principal
}

func (tx *transaction) refunded() cents {
	var sum cents
	for _, r := range tx.followUps {
		if r.kind == typeRefund && r.counts() {
			sum += r.principal
		}
	}
	return sum
}

// reversible reports how a transaction can be reversed: some card transactions by a void
// until the cut-off, payments by refunds after it.
func (b *Sandbox) reversible(tx *transaction, now time.Time) (voidable, refundable bool) {
	if tx.result != resultApproved {
		return false, false
	}
	refunded := tx.refunded()
	voidable = tx.source.card != nil && refunded == 0 && b.settlementDate(now) == tx.settlement &&
		slices.Contains(b.assume.VoidableTypes, tx.kind)
	refundable = (tx.kind == typePayment || tx.kind == typeCapture) &&
		refunded < b.refundLimit(tx) && (!voidable || b.assume.RefundBeforeCutOff)
	return voidable, refundable
}

func (b *Sandbox) refund(c *call, f *fields) answer {
	tx, original := b.followUp(f, typeRefund, typePayment, typeCapture)
	tx.principal = f.needPositive("principalAmount")
	if original != nil {
		b.checkRefund(f, tx, original)
	}
	f.refreshExpiry(tx)
	if !c.valid() {
		return c.invalid()
	}
	return b.follow(c, tx, original)
}

func (b *Sandbox) checkRefund(f *fields, tx, original *transaction) {
	limit, before := b.refundLimit(original), original.refunded()
	voidable, refundable := b.reversible(original, f.c.now)
	switch {
	case before >= limit:
		f.refuse("originalReceiptNumber", tx.originalReceipt, "has been refunded already")
	case !refundable && voidable:
		f.refuse("originalReceiptNumber", tx.originalReceipt, "can be voided and is not refundable before it is settled")
	case !refundable:
		f.refuse("originalReceiptNumber", tx.originalReceipt, "is not refundable")
	case original.source.payTo != nil && tx.principal != original.principal:
		f.refuse("principalAmount", tx.principal.String(), "must be the whole amount of a PayTo payment")
	case tx.principal > limit-before:
		f.refuse("principalAmount", tx.principal.String(), "is above what can still be refunded of the payment")
	}
}

// refreshExpiry reads the new expiry date of a renewed card.
func (f *fields) refreshExpiry(tx *transaction) {
	inner := f.object(sourceCard)
	if inner == nil {
		return
	}
	before := len(f.c.findings)
	month := inner.need("expiryDateMonth", monthNumber)
	year := inner.need("expiryDateYear", digits(4, 4))
	switch {
	case len(f.c.findings) > before:
	case tx.source.card == nil:
		f.refuse(sourceCard, "", "is only for transactions of a card")
	default:
		renewed := *tx.source.card
		renewed.month, renewed.year = month, year
		if renewed.expired(f.c.now) {
			inner.refuse("expiryDateYear", year, "the card has expired")
		}
		tx.source.card = &renewed
	}
}

// voidTransaction voids a transaction before it is settled.
func (b *Sandbox) voidTransaction(c *call, tx *transaction) answer {
	if len(c.body) > 0 && c.refusesUnknown() {
		return c.problem(malformedBodyStatus, "A void has no body.")
	}
	if voidable, _ := b.reversible(tx, c.now); !voidable {
		return c.problem(b.assume.NotVoidableStatus, "The transaction is not voidable.")
	}
	b.settle(tx, Outcome{result: resultVoided, code: tx.code})
	return reply(http.StatusOK, b.transactionBody(c, tx))
}
