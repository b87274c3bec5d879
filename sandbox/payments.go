package sandbox

import (
	"net/http"
	"slices"
	"time"
)

const (
	typePayment = "PAYMENT"

	eciInternet = "INTERNET"
)

func (b *Sandbox) createTransaction(c *call) answer {
	f := c.readBody()
	switch kind := f.need("transactionType"); kind {
	case typePayment, typeVerification:
		return b.pay(c, f, kind)
	case typeRefund:
		return b.refund(c, f)
	case typePreauth:
		if f.has("authorisationType") {
			return b.changePreauth(c, f)
		}
		return b.pay(c, f, kind)
	case typeCapture:
		return b.capture(c, f)
	case typeCancellation:
		return b.cancelPreauth(c, f)
	default:
		if kind != "" {
			f.refuse("transactionType", kind, "is not a type of transaction")
		}
		return c.invalid() // the type decides which other members are allowed
	}
}

func (b *Sandbox) newTransaction(f *fields, kind string) *transaction {
	tx := &transaction{
		Entry: Entry{
			Type: kind, Time: f.c.now, IdempotencyKey: f.c.idempotencyKey, Currency: f.read(kind != typeVerification, "currency", oneOf("AUD", "NZD")),
			CustomerReferenceNumber: f.text("customerReferenceNumber", atMost(100), ascii),
			PaymentReferenceNumber:  f.text("paymentReferenceNumber", atMost(100), ascii),
			Metadata:                f.texts("metadata"),
		},
		comment: f.text("comment"),
	}
	if tx.Currency == "" && kind == typeVerification {
		tx.Currency = "AUD"
	}
	return tx
}

// pay makes a payment, a pre-authorisation, or an account verification, which has no amount.
func (b *Sandbox) pay(c *call, f *fields, kind string) answer {
	tx := b.newTransaction(f, kind)
	tx.shop = b.business(f.need("supplierBusinessCode", b.knownBusiness))
	if kind != typeVerification {
		tx.principal = f.principal(0)
	}
	ecis, sources := []string{eciInternet, "PHONE", "MAIL", "RECURRING", "INSTALMENT"}, []string{sourceToken, sourceCustomer, sourceAccount, sourceCard}
	if kind == typePayment {
		ecis, sources = append(ecis, "5", "6", "7"), append(sources, sourceBank, sourceNZBank, sourcePayTo)
		tx.debtRepayment, _ = f.flag("debtRepayment")
		f.mpgsData()
	}
	eci := f.text("eci", oneOf(ecis...))
	src := b.readSource(f, eci, sources...)
	if kind == typePreauth && src != nil && src.card == nil {
		f.refuse("transactionType", kind, "is for cards only")
	}
	b.checkPayer(f, tx, src, eci)
	b.checkPayTo(f, tx, src)
	if !c.valid() {
		return c.invalid()
	}
	tx.source, tx.account = src.instrument, src.account
	tx.addSurcharge()
	outcome := b.decide(tx, c.now)
	if src.payTo != nil {
		return b.payByAgreement(c, tx, src.payTo, outcome)
	}
	b.commit(tx, outcome)
	if src.token != nil {
		src.token.used = true // a declined payment uses it up too
	}
	return b.written(c, http.StatusCreated, tx)
}

// checkPayer applies the rules that depend on how the payer takes part. Card rules apply to
// tokens of cards too, because the service knows the card.
func (b *Sandbox) checkPayer(f *fields, tx *transaction, src *source, eci string) {
	isCard := src != nil && src.card != nil
	if isCard && eci == "" {
		f.refuse("eci", "", "is required for card payments")
	}
	mode := storedCredential(f, isCard)
	merchants := eci == "RECURRING" || eci == "INSTALMENT" || mode == "STORED_CREDENTIAL"
	if f.text("cryptogram") == "" && isCard && f.has(sourceCard) && src.card.walletProvider != "" && !merchants && tx.Type == typePayment {
		f.refuse("cryptogram", "", "is required with walletProvider if the customer pays")
	}

	tx.ip = f.text("ipAddress", publicIP)
	if !f.has("ipAddress") && src != nil && src.needsIPAddress(eci) {
		f.refuse("ipAddress", "", "is required with a single-use token, and for account details with eci INTERNET")
	}

	b.checkThreeDS(f, src, tx)
}

// needsIPAddress applies the contract's rule. The rule contradicts itself for tokens used by
// mail, by phone or by the merchant: here these need no address.
func (s *source) needsIPAddress(eci string) bool {
	if s.token != nil {
		return eci != "PHONE" && eci != "MAIL" && eci != "RECURRING" && eci != "INSTALMENT"
	}
	return eci == eciInternet && s.account == nil && s.payTo == nil
}

// storedCredential checks storedCredentialData, and returns its entry mode.
func storedCredential(f *fields, required bool) (mode string) {
	inner := f.object("storedCredentialData")
	if inner == nil {
		if required && !f.has("storedCredentialData") {
			f.refuse("storedCredentialData", "", "is required for card payments")
		}
		return ""
	}
	mode = inner.need("entryMode", oneOf("MANUAL", "STORED_CREDENTIAL"))
	inner.text("usage")
	return mode
}

// mpgsData accepts an object whose members are not public.
func (f *fields) mpgsData() {
	if inner := f.object("mpgsData"); inner != nil {
		inner.ignore(inner.names()...)
	}
}

const preauthLifetime = 5 * 24 * time.Hour

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

func (b *Sandbox) holdOf(original *transaction) hold {
	h := hold{amount: original.principal, current: original, expires: original.Time.Add(preauthLifetime)}
	for _, tx := range original.followUps {
		approved := tx.result == resultApproved
		switch {
		case tx.Type == typeCapture && (tx.counts() || tx.result == resultVoided):
			h.captured = true // once only, even if the capture is voided
			h.amount = max(h.amount-tx.principal, 0)
		case tx.Type == typeCancellation && tx.CancellationType == cancelFull && tx.counts():
			h.amount = 0
		case tx.Type == typeCancellation && tx.counts():
			h.amount -= tx.principal
		case tx.AuthorisationType == topUp && approved:
			h.amount += tx.principal
		case tx.AuthorisationType == extension && approved:
			h.expires = tx.Time.Add(preauthLifetime)
		case tx.AuthorisationType == reauthorisation && approved:
			h.current, h.amount, h.expires = tx, tx.principal, tx.Time.Add(preauthLifetime)
		}
	}
	return h
}

// originalPreauth finds the pre-authorisation that a request changes. It refuses one that is
// itself a change.
func (b *Sandbox) originalPreauth(f *fields, kind string) (tx, original *transaction) {
	tx, original = b.followUp(f, kind, typePreauth)
	if original != nil && original.AuthorisationType != "" {
		f.refuse("originalReceiptNumber", tx.OriginalReceiptNumber, "must be the original pre-authorisation")
		return tx, nil
	}
	return tx, original
}

func (b *Sandbox) changePreauth(c *call, f *fields) answer {
	change := f.need("authorisationType", oneOf(topUp, extension, reauthorisation))
	tx, original := b.originalPreauth(f, typePreauth)
	tx.AuthorisationType = change
	tx.principal = f.principal(0)
	if change == extension && tx.principal != 0 {
		f.refuse("principalAmount", tx.principal.String(), "must be 0.00 for an extension")
	}
	if original != nil {
		if message := b.changeRefused(change, original, c.now); message != "" {
			f.refuse("originalReceiptNumber", tx.OriginalReceiptNumber, message)
		}
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
	tx.principal = f.principal(1)
	storedCredential(f, true)
	original := preauth
	if preauth != nil {
		original = b.captured(f, tx, preauth)
	}
	return b.follow(c, tx, original)
}

// captured checks a capture and returns the original pre-authorisation. preauth may be its
// re-authorisation.
func (b *Sandbox) captured(f *fields, tx, preauth *transaction) (original *transaction) {
	original = preauth
	switch preauth.AuthorisationType {
	case "":
	case reauthorisation:
		original = b.transactions.byID[preauth.OriginalReceiptNumber]
	default:
		f.refuse("originalReceiptNumber", tx.OriginalReceiptNumber, "must be an initial pre-authorisation or a re-authorisation")
		return original
	}
	h := b.holdOf(original)
	most := 2 * h.amount // a cancelled part does not count
	switch {
	case h.captured:
		f.refuse("originalReceiptNumber", tx.OriginalReceiptNumber, "has been captured")
	case h.amount <= 0:
		f.refuse("originalReceiptNumber", tx.OriginalReceiptNumber, "has been cancelled")
	case h.current != preauth:
		f.refuse("originalReceiptNumber", tx.OriginalReceiptNumber, "has been re-authorised")
	case !h.open(f.c.now):
		f.refuse("originalReceiptNumber", tx.OriginalReceiptNumber, "has expired")
	case tx.principal > most:
		f.refuse("principalAmount", tx.principal.String(), "is above double the pre-authorised amount")
	}
	return original
}

func (b *Sandbox) cancelPreauth(c *call, f *fields) answer {
	tx, original := b.originalPreauth(f, typeCancellation)
	tx.CancellationType = f.need("cancellationType", oneOf(cancelFull, cancelPartial))
	tx.principal = f.principal(0)
	if original != nil {
		h := b.holdOf(original)
		full := tx.CancellationType == cancelFull
		switch {
		case h.amount <= 0:
			f.refuse("originalReceiptNumber", tx.OriginalReceiptNumber, "has nothing left to cancel")
		case !c.now.Before(h.expires):
			f.refuse("originalReceiptNumber", tx.OriginalReceiptNumber, "has expired")
		case full && h.captured:
			f.refuse("cancellationType", cancelFull, "is not possible after a capture")
		case full && tx.principal != original.principal && tx.principal != h.current.principal:
			f.refuse("principalAmount", tx.principal.String(), "must be the full original amount")
		case !full && tx.principal > h.amount:
			f.refuse("principalAmount", tx.principal.String(), "is above the outstanding amount")
		}
	}
	return b.follow(c, tx, original)
}

func (tx *transaction) addSurcharge() {
	if cd := tx.source.card; cd != nil && tx.shop != nil {
		tx.surcharge = tx.principal.share(tx.shop.rate(cd.scheme, cd.cardType))
	}
}

// authorisationCode returns the issuer's code of an approved pre-authorisation.
func (tx *transaction) authorisationCode() *string {
	if tx.Type != typePreauth || tx.result != resultApproved {
		return nil
	}
	return optional(tx.ReceiptNumber[len(tx.ReceiptNumber)-6:])
}

const (
	typeRefund       = "REFUND"
	typePreauth      = "PREAUTH"
	typeCapture      = "CAPTURE"
	typeCancellation = "PREAUTH_CANCELLATION"
	typeVerification = "ACCOUNT_VERIFICATION"
)

// followUp reads the common members of transactions against an earlier one, and finds that
// one. original is nil if there is no approved one of the allowed types.
func (b *Sandbox) followUp(f *fields, kind string, follows ...string) (tx, original *transaction) {
	tx = b.newTransaction(f, kind)
	tx.OriginalReceiptNumber = f.need("originalReceiptNumber")
	code := f.text("supplierBusinessCode", b.knownBusiness)
	original = b.transactions.byID[tx.OriginalReceiptNumber]
	switch {
	case tx.OriginalReceiptNumber == "":
		return tx, nil
	case original == nil:
		f.refuse("originalReceiptNumber", tx.OriginalReceiptNumber, "is not a transaction")
		return tx, nil
	case !slices.Contains(follows, original.Type):
		f.refuse("originalReceiptNumber", tx.OriginalReceiptNumber, "is a "+original.Type+", which "+kind+" cannot follow")
		return tx, nil
	case original.result != resultApproved:
		f.refuse("originalReceiptNumber", tx.OriginalReceiptNumber, "is not an approved transaction")
		return tx, nil
	}
	if tx.Currency != "" && tx.Currency != original.Currency {
		f.refuse("currency", tx.Currency, "must be that of the original transaction")
	}
	if code != "" && code != original.shop.code {
		f.refuse("supplierBusinessCode", code, "must be that of the original transaction")
	}
	tx.shop, tx.source, tx.account = original.shop, original.source, original.account
	return tx, original
}

// follow records a follow-up that breaks no rule.
func (b *Sandbox) follow(c *call, tx, original *transaction) answer {
	if !c.valid() {
		return c.invalid()
	}
	if tx.Type == typeCapture || tx.Type == typePreauth {
		tx.addSurcharge()
	}
	b.commit(tx, b.decide(tx, c.now))
	original.followUps = append(original.followUps, tx)
	return b.written(c, http.StatusCreated, tx)
}

// counts reports whether a transaction was carried out, or may still be.
func (tx *transaction) counts() bool {
	return tx.result != resultDeclined && tx.result != resultRejected && tx.result != resultVoided
}

func (tx *transaction) refunded() cents {
	var sum cents
	for _, r := range tx.followUps {
		if r.Type == typeRefund && r.counts() {
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
		(tx.Type == typePayment || tx.Type == typeCapture)
	refundable = (tx.Type == typePayment || tx.Type == typeCapture) &&
		refunded < tx.principal && (!voidable || b.assume.RefundBeforeCutOff)
	return voidable, refundable
}

func (b *Sandbox) refund(c *call, f *fields) answer {
	tx, original := b.followUp(f, typeRefund, typePayment, typeCapture)
	tx.principal = f.principal(1)
	if original != nil {
		b.checkRefund(f, tx, original)
	}
	f.refreshExpiry(tx)
	return b.follow(c, tx, original)
}

func (b *Sandbox) checkRefund(f *fields, tx, original *transaction) {
	limit, before := original.principal, original.refunded()
	voidable, refundable := b.reversible(original, f.c.now)
	switch {
	case before >= limit:
		f.refuse("originalReceiptNumber", tx.OriginalReceiptNumber, "has been refunded already")
	case !refundable && voidable:
		f.refuse("originalReceiptNumber", tx.OriginalReceiptNumber, "can be voided and is not refundable before it is settled")
	case !refundable:
		f.refuse("originalReceiptNumber", tx.OriginalReceiptNumber, "is not refundable")
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
	month := inner.need("expiryDateMonth", form(monthOfYear))
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

func (b *Sandbox) voidTransaction(c *call, tx *transaction) answer {
	if len(c.body) > 0 {
		return c.problem(http.StatusBadRequest, "A void has no body.")
	}
	if voidable, _ := b.reversible(tx, c.now); !voidable {
		return c.problem(http.StatusUnprocessableEntity, "The transaction is not voidable.")
	}
	b.settle(tx, Outcome{result: resultVoided, code: tx.code})
	return b.written(c, http.StatusOK, tx)
}
