package sandbox

const (
	typePayment = "PAYMENT"

	eciInternet = "INTERNET"
)

// createTransaction selects the operation by transactionType.
func (b *Sandbox) createTransaction(c *call) answer {
	f := c.readBody()
	switch kind := f.need("transactionType"); kind {
	case typePayment:
		return b.pay(c, f)
	case typeRefund:
		return b.refund(c, f)
	case typePreauth:
		if f.has("authorisationType") {
			return b.changePreauth(c, f)
		}
		return b.authorise(c, f, kind)
	case typeCapture:
		return b.capture(c, f)
	case typeCancellation:
		return b.cancelPreauth(c, f)
	case typeVerification:
		return b.authorise(c, f, kind)
	default:
		if kind != "" {
			f.refuse("transactionType", kind, "is not a type of transaction")
		}
		return c.invalid() // the type decides which other members belong
	}
}

// newTransaction reads the members that all types have.
func (b *Sandbox) newTransaction(f *fields, kind string) *transaction {
	currency := f.need
	if kind == typeVerification {
		currency = f.text
	}
	tx := &transaction{
		kind:              kind,
		created:           f.c.now,
		idempotencyKey:    f.c.idempotencyKey,
		currency:          currency("currency", oneOf("AUD", "NZD")),
		customerReference: f.text("customerReferenceNumber", atMost(100), ascii),
		paymentReference:  f.text("paymentReferenceNumber", atMost(100), ascii),
		comment:           f.text("comment"),
		metadata:          f.metadata(),
	}
	if tx.currency == "" && kind == typeVerification {
		tx.currency = "AUD"
	}
	return tx
}

func (b *Sandbox) pay(c *call, f *fields) answer {
	tx := b.newTransaction(f, typePayment)
	tx.shop = b.business(f.need("supplierBusinessCode", b.knownBusiness))
	tx.principal = f.needAmount("principalAmount")
	tx.debtRepayment, _ = f.flag("debtRepayment")
	eci := f.text("eci", oneOf(eciInternet, "PHONE", "MAIL", "RECURRING", "INSTALMENT", "5", "6", "7"))
	src := b.readSource(f, eci, allSources...)
	b.checkPayer(f, tx, src, eci)
	b.checkPayTo(f, tx, src)
	f.mpgsData()
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
	b.useToken(src, outcome)
	return b.created(c, tx)
}

// checkPayer applies the rules that depend on how the payer takes part. Card rules apply to
// tokens of cards too, because the service knows the card.
func (b *Sandbox) checkPayer(f *fields, tx *transaction, src *source, eci string) {
	isCard := src != nil && src.card != nil
	if isCard && eci == "" {
		f.refuse("eci", "", "is required for card payments")
	}
	mode := b.storedCredential(f, isCard, eci)
	merchants := eci == "RECURRING" || eci == "INSTALMENT" || mode == "STORED_CREDENTIAL"
	if f.text("cryptogram") == "" && isCard && f.has(sourceCard) && src.card.walletProvider != "" && !merchants && tx.kind == typePayment {
		f.refuse("cryptogram", "", "is required with walletProvider if the customer pays")
	}

	tx.ip = f.text("ipAddress", publicIP)
	switch given := f.has("ipAddress"); {
	case !given && b.needsIPAddress(f, eci):
		f.refuse("ipAddress", "", "is required with a single-use token, and for account details with eci INTERNET")
	case given && byMerchant(eci) && b.assume.PayerAddress == "only":
		f.refuse("ipAddress", tx.ip, "is for orders over the Internet")
	}

	b.checkThreeDS(f, src, tx)
}

// needsIPAddress reads the contract's rule. For tokens used by mail, by phone or by the
// merchant the rule contradicts itself.
func (b *Sandbox) needsIPAddress(f *fields, eci string) bool {
	details := f.has(sourceCard) || f.has(sourceBank) || f.has(sourceNZBank)
	return eci == eciInternet && details || f.has(sourceToken) && (!byMerchant(eci) || b.assume.PayerAddress == "always")
}

// byMerchant reports whether the payer did not act over the Internet.
func byMerchant(eci string) bool {
	return eci == "PHONE" || eci == "MAIL" || eci == "RECURRING" || eci == "INSTALMENT"
}

// storedCredential checks storedCredentialData, and returns its entry mode.
func (b *Sandbox) storedCredential(f *fields, required bool, eci string) (mode string) {
	inner := f.object("storedCredentialData")
	if inner == nil {
		if required && !f.has("storedCredentialData") {
			f.refuse("storedCredentialData", "", "is required for card payments")
		}
		return ""
	}
	mode = inner.need("entryMode", oneOf("MANUAL", "STORED_CREDENTIAL"))
	usage := inner.text("usage", b.usage()...)
	if mode == "STORED_CREDENTIAL" && usage == "" && !inner.has("usage") && b.usageRequired(eci) {
		inner.refuse("usage", "", "is required for this eci with entryMode STORED_CREDENTIAL")
	}
	return mode
}

// mpgsData accepts an object whose members are not public.
func (f *fields) mpgsData() {
	if inner := f.object("mpgsData"); inner != nil {
		inner.ignore(inner.order...)
	}
}
