package sandbox

import (
	"time"
)

const preauthLifetime = 5 * 24 * time.Hour

// authorise makes a pre-authorisation, or an account verification, which has no amount.
func (b *Sandbox) authorise(c *call, f *fields, kind string) answer {
	tx := b.newTransaction(f, kind)
	tx.shop = b.business(f.need("supplierBusinessCode", b.knownBusiness))
	if kind == typePreauth {
		tx.principal = f.needAmount("principalAmount")
	}
	eci := f.text("eci", oneOf(eciInternet, "PHONE", "MAIL", "RECURRING", "INSTALMENT"))
	src := b.readSource(f, eci, sourceToken, sourceCustomer, sourceAccount, sourceCard)
	if kind == typePreauth && src != nil && src.card == nil {
		f.refuse("transactionType", kind, "is for cards only")
	}
	b.checkPayer(f, tx, src, eci)
	if !c.valid() {
		return c.invalid()
	}
	tx.source, tx.account = src.instrument, src.account
	tx.addSurcharge()
	outcome := b.decide(tx, c.now)
	b.commit(tx, outcome)
	b.useToken(src, outcome)
	return b.created(c, tx)
}

// The changes to a pre-authorisation.
const (
	topUp           = "INCREMENTAL"
	extension       = "EXTENSION"
	reauthorisation = "REAUTHORISATION"

	cancelFull    = "FULL"
	cancelPartial = "PARTIAL"
)

// hold is the current state of a pre-authorisation, after everything that followed it.
type hold struct {
	amount   cents        // authorised, and neither cancelled nor captured
	current  *transaction // that can be captured: the original or its re-authorisation
	expires  time.Time
	captured bool
}

func (h hold) open(now time.Time) bool {
	return !h.captured && h.amount > 0 && now.Before(h.expires)
}

// holdOf returns the hold of an original pre-authorisation.
func (b *Sandbox) holdOf(original *transaction) hold {
	h := hold{amount: original.principal, current: original, expires: original.created.Add(preauthLifetime)}
	for _, tx := range original.followUps {
		approved := tx.result == resultApproved
		switch {
		case tx.kind == typeCapture && (tx.counts() || tx.result == resultVoided):
			h.captured = true // once only, whatever becomes of the capture
			h.amount = max(h.amount-tx.principal, 0)
		case tx.kind == typeCancellation && tx.cancellationType == cancelFull && tx.counts():
			h.amount = 0
		case tx.kind == typeCancellation && tx.counts():
			h.amount -= tx.principal
		case tx.authorisationType == topUp && approved:
			h.amount += tx.principal
		case tx.authorisationType == extension && approved:
			h.expires = tx.created.Add(preauthLifetime)
		case tx.authorisationType == reauthorisation && approved:
			h.current, h.amount, h.expires = tx, tx.principal, tx.created.Add(preauthLifetime)
		}
	}
	return h
}

// originalPreauth finds the pre-authorisation that a request changes. A change cannot be
// changed.
func (b *Sandbox) originalPreauth(f *fields, kind string) (tx, original *transaction) {
	tx, original = b.followUp(f, kind, typePreauth)
	if original != nil && original.authorisationType != "" {
		f.refuse("originalReceiptNumber", tx.originalReceipt, "must be the original pre-authorisation")
		return tx, nil
	}
	return tx, original
}

// changePreauth makes a top-up, an extension or a re-authorisation.
func (b *Sandbox) changePreauth(c *call, f *fields) answer {
	change := f.need("authorisationType", oneOf(topUp, extension, reauthorisation))
	tx, original := b.originalPreauth(f, typePreauth)
	tx.authorisationType = change
	if change == extension {
		amount, given := f.amount("principalAmount")
		if !given || amount != 0 {
			f.refuse("principalAmount", amount.String(), "must be 0.00 for an extension")
		}
	} else {
		tx.principal = f.needAmount("principalAmount")
	}
	if original != nil {
		if message := b.changeRefused(change, original, c.now); message != "" {
			f.refuse("originalReceiptNumber", tx.originalReceipt, message)
		}
		tx.addSurcharge()
	}
	if !c.valid() {
		return c.invalid()
	}
	return b.follow(c, tx, original)
}

func (b *Sandbox) changeRefused(change string, original *transaction, now time.Time) string {
	h, scheme := b.holdOf(original), original.source.card.scheme
	switch {
	case h.captured:
		return "has been captured"
	case h.amount <= 0:
		return "has been cancelled"
	case change == extension && scheme != schemeMastercard:
		return "can be extended for Mastercard only"
	case change == reauthorisation && scheme != schemeVisa:
		return "can be re-authorised for Visa only"
	case change == reauthorisation && h.open(now):
		return "has not expired"
	case change != reauthorisation && !h.open(now):
		return "has expired"
	case change != reauthorisation && h.current != original:
		return "has been re-authorised"
	}
	return ""
}

func (b *Sandbox) capture(c *call, f *fields) answer {
	tx, preauth := b.followUp(f, typeCapture, typePreauth)
	tx.principal = f.needPositive("principalAmount")
	b.storedCredential(f, true, "")
	original := preauth
	if preauth != nil {
		original = b.captured(f, tx, preauth)
	}
	if !c.valid() {
		return c.invalid()
	}
	tx.addSurcharge()
	return b.follow(c, tx, original)
}

// captured checks a capture and returns the original pre-authorisation. preauth may be its
// re-authorisation.
func (b *Sandbox) captured(f *fields, tx, preauth *transaction) (original *transaction) {
	original = preauth
	switch preauth.authorisationType {
	case "":
	case reauthorisation:
		original = b.transactions.byReceipt[preauth.originalReceipt]
	default:
		f.refuse("originalReceiptNumber", tx.originalReceipt, "must be an initial pre-authorisation or a re-authorisation")
		return original
	}
	h := b.holdOf(original)
	most := b.captureLimit(preauth, h.amount)
	switch {
	case h.captured:
		f.refuse("originalReceiptNumber", tx.originalReceipt, "has been captured")
	case h.amount <= 0:
		f.refuse("originalReceiptNumber", tx.originalReceipt, "has been cancelled")
	case h.current != preauth:
		f.refuse("originalReceiptNumber", tx.originalReceipt, "has been re-authorised")
	case !h.open(f.c.now):
		f.refuse("originalReceiptNumber", tx.originalReceipt, "has expired")
	case tx.principal > most:
		f.refuse("principalAmount", tx.principal.String(), "is above double the pre-authorised amount")
	}
	return original
}

func (b *Sandbox) cancelPreauth(c *call, f *fields) answer {
	tx, original := b.originalPreauth(f, typeCancellation)
	tx.cancellationType = f.need("cancellationType", oneOf(cancelFull, cancelPartial))
	tx.principal = f.needAmount("principalAmount")
	if original != nil {
		h := b.holdOf(original)
		full := tx.cancellationType == cancelFull
		switch {
		case h.amount <= 0:
			f.refuse("originalReceiptNumber", tx.originalReceipt, "has nothing left to cancel")
		case !c.now.Before(h.expires):
			f.refuse("originalReceiptNumber", tx.originalReceipt, "has expired")
		case full && h.captured:
			f.refuse("cancellationType", cancelFull, "is not possible after a capture")
		case full && tx.principal != original.principal && tx.principal != h.current.principal:
			f.refuse("principalAmount", tx.principal.String(), "must be the full original amount")
		case !full && tx.principal > h.amount:
			f.refuse("principalAmount", tx.principal.String(), "is above the outstanding amount")
		}
	}
	if !c.valid() {
		return c.invalid()
	}
	return b.follow(c, tx, original)
}

// addSurcharge adds the business's surcharge to a card transaction.
func (tx *transaction) addSurcharge() {
	if cd := tx.source.card; cd != nil && tx.shop != nil {
		tx.surcharge = tx.principal.share(tx.shop.rate(cd.scheme, cd.cardType))
	}
}

// authorisationCode returns the issuer's code of an approved pre-authorisation.
func (tx *transaction) authorisationCode() *string {
	if tx.kind != typePreauth || tx.result != resultApproved {
		return nil
	}
	return optional(tx.receipt[len(tx.receipt)-6:])
}
