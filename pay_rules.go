package quickstream

import (
	"net/netip"
	"slices"
)

// maxReference bounds customer and payment reference numbers.
const maxReference = 100

// payRules are the rules of POST /transactions with transactionType PAYMENT.
//
//nolint:gochecknoglobals // an immutable table
var payRules = slices.Concat(
	[]rule[PayParams]{
		{
			"pay.supplierBusinessCode.required", local, "supplierBusinessCode", "is required",
			func(p PayParams) bool { return p.SupplierBusinessCode == "" },
		},
		{
			"pay.source.required", local, "(account source)", "exactly one account to pay from is required",
			func(p PayParams) bool { return !sourceOf(p.Source).given() },
		},
		{
			"pay.principalAmount.positive", local, "principalAmount", "must be more than zero",
			func(p PayParams) bool { return !p.PrincipalAmount.IsPositive() },
		},
		{
			"pay.principalAmount.decimals", local, "principalAmount", "must not have more than two decimals",
			func(p PayParams) bool { return notMoney(p.PrincipalAmount) },
		},
		{
			"pay.currency.required", local, "currency", "is required",
			func(p PayParams) bool { return p.Currency == "" },
		},
		{
			"pay.eci.required", local, "eci", "is required for cards",
			func(p PayParams) bool { return p.isCard() && p.ECI == "" },
		},
		{
			"pay.storedCredentialData.required", local, "storedCredentialData", "is required for cards",
			func(p PayParams) bool { return p.isCard() && p.StoredCredential == nil },
		},
		{
			"pay.storedCredentialData.entryMode.required", local, "storedCredentialData.entryMode", "is required",
			func(p PayParams) bool { return p.StoredCredential != nil && p.StoredCredential.EntryMode == "" },
		},
		{
			"pay.cvn.required", local, "creditCard.cvn", "is required with eci INTERNET",
			func(p PayParams) bool {
				card := sourceOf(p.Source).card
				return card != nil && p.ECI == ECIInternet && card.CVN.IsZero()
			},
		},
		{
			"pay.ipAddress.required", local, "ipAddress", "is required for payments that the customer makes over the Internet",
			func(p PayParams) bool {
				return needsIPAddress(p.ECI, sourceOf(p.Source)) && !p.IPAddress.IsValid()
			},
		},
		{
			"pay.ipAddress.public", local, "ipAddress", "must be the customer's public address",
			func(p PayParams) bool { return p.IPAddress.IsValid() && !isPublic(p.IPAddress) },
		},
		{
			"pay.threeDS2.token", local, "threeDS2", "is for single-use tokens of cards",
			func(p PayParams) bool {
				s := sourceOf(p.Source)
				return p.ThreeDS2 != nil && *p.ThreeDS2 && s.given() && (s.token == "" || s.kind != "" && !s.kind.isCard())
			},
		},
		{
			"pay.customerReferenceNumber.length", local, "customerReferenceNumber", "must not be longer than 100 characters",
			func(p PayParams) bool { return len(p.CustomerReferenceNumber) > maxReference },
		},
		{
			"pay.customerReferenceNumber.ascii", local, "customerReferenceNumber", "must consist of printable ASCII characters",
			func(p PayParams) bool { return !isASCII(p.CustomerReferenceNumber) },
		},
		{
			"pay.paymentReferenceNumber.length", local, "paymentReferenceNumber", "must not be longer than 100 characters",
			func(p PayParams) bool { return len(p.PaymentReferenceNumber) > maxReference },
		},
		{
			"pay.paymentReferenceNumber.ascii", local, "paymentReferenceNumber", "must consist of printable ASCII characters",
			func(p PayParams) bool { return !isASCII(p.PaymentReferenceNumber) },
		},
		{"pay.token.unused", service, "singleUseTokenId", "must be unused and not older than 10 minutes", nil},
		{"pay.customer.defaultAccount", service, "customerId", "must have an enabled default account", nil},
		{"pay.agreement.active", service, "payToData.agreementToken", "must be an active agreement", nil},
		{"pay.storedCredentialData.usage", service, "storedCredentialData.usage", "is required in some cases with STORED_CREDENTIAL", nil},
		{"pay.mpgsData.required", service, "mpgsData", "is required in some Mastercard Payment Gateway configurations", nil},
	},
	within("creditCard", cardRules, func(p PayParams) (CardDetails, bool) { return deref(sourceOf(p.Source).card) }),
	within("bankAccount", bankAccountRules, func(p PayParams) (BankAccountDetails, bool) { return deref(sourceOf(p.Source).bank) }),
	within("nzBankAccount", nzBankAccountRules, func(p PayParams) (NZBankAccountDetails, bool) { return deref(sourceOf(p.Source).nzBank) }),
	within("payToData", payToPaymentRules, func(p PayParams) (PayToPayment, bool) { return deref(sourceOf(p.Source).payTo) }),
	within("payToData.payToAgreement", newPayToPaymentRules, func(p PayParams) (NewPayToPayment, bool) { return deref(sourceOf(p.Source).newPayTo) }),
)

//nolint:gochecknoglobals // an immutable table
var payToPaymentRules = []rule[PayToPayment]{
	{
		"payToData.agreementToken.required", local, "agreementToken", "is required",
		func(p PayToPayment) bool { return p.AgreementToken == "" },
	},
}

func (p PayParams) isCard() bool { return sourceOf(p.Source).kind.isCard() }

// given reports whether the source names an account.
func (s source) given() bool {
	return s.token != "" || s.customerID != "" || s.accountToken != "" || s.card != nil || s.bank != nil ||
		s.nzBank != nil || s.payTo != nil || s.newPayTo != nil
}

// needsIPAddress says where the specification requires the customer's address.
// It asks for it with every single-use token, and forbids it where the customer
// did not act over the Internet: with a token and an order by mail or phone, or
// a payment that the merchant makes, it contradicts itself and nothing is
// required here.
func needsIPAddress(eci ECI, s source) bool {
	switch eci {
	case ECIInternet:
		return true
	case ECIMail, ECIPhone, ECIRecurring, ECIInstalment:
		return false
	default:
		return s.token != ""
	}
}

// isPublic reports whether an address can be a customer's on the Internet.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsGlobalUnicast() && !a.IsPrivate() && a.Zone() == "" && !sharedSpace.Contains(a)
}

// sharedSpace is what providers use behind their own address translation.
//
//nolint:gochecknoglobals // immutable
var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

func deref[T any](p *T) (T, bool) {
	if p == nil {
		var zero T
		return zero, false
	}
	return *p, true
}
