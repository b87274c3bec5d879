package quickstream

import (
	"net/netip"

	"github.com/shopspring/decimal"
)

// maxReference bounds customer and payment reference numbers.
const maxReference = 100

// Rules that several types of transaction share.

// supplierBusinessCode is the business of a payment, an initial
// pre-authorisation or an account verification.
type supplierBusinessCode string

//nolint:gochecknoglobals // an immutable table
var businessRules = []rule[supplierBusinessCode]{
	{
		"transaction.supplierBusinessCode.required", local, "supplierBusinessCode", "is required",
		func(code supplierBusinessCode) bool { return code == "" },
	},
	{"transaction.supplierBusinessCode.known", service, "supplierBusinessCode", "must be one of the merchant's businesses", nil},
}

//nolint:gochecknoglobals // an immutable table
var amountRules = []rule[decimal.Decimal]{
	{
		"transaction.principalAmount.positive", local, "principalAmount", "must be more than zero",
		func(d decimal.Decimal) bool { return !d.IsPositive() },
	},
	{
		"transaction.principalAmount.decimals", local, "principalAmount", "must not have more than two decimals",
		notMoney,
	},
}

//nolint:gochecknoglobals // an immutable table
var currencyRules = []rule[Currency]{
	{
		"transaction.currency.required", local, "currency", "is required",
		func(c Currency) bool { return c == "" },
	},
}

// references are what a transaction can be found by.
type references struct{ customer, payment string }

//nolint:gochecknoglobals // an immutable table
var referenceRules = []rule[references]{
	{
		"transaction.customerReferenceNumber.length", local, "customerReferenceNumber", "must not be longer than 100 characters",
		func(r references) bool { return len(r.customer) > maxReference },
	},
	{
		"transaction.customerReferenceNumber.ascii", local, "customerReferenceNumber", "must consist of printable ASCII characters",
		func(r references) bool { return !isASCII(r.customer) },
	},
	{
		"transaction.paymentReferenceNumber.length", local, "paymentReferenceNumber", "must not be longer than 100 characters",
		func(r references) bool { return len(r.payment) > maxReference },
	},
	{
		"transaction.paymentReferenceNumber.ascii", local, "paymentReferenceNumber", "must consist of printable ASCII characters",
		func(r references) bool { return !isASCII(r.payment) },
	},
}

//nolint:gochecknoglobals // an immutable table
var originalRules = []rule[string]{
	{
		"transaction.originalReceiptNumber.required", local, "originalReceiptNumber", "is required",
		func(receipt string) bool { return receipt == "" },
	},
}

// cardOrder is how an account is used: the members that depend on whether it is
// a card and on who ordered the payment.
type cardOrder struct {
	source    source
	card      bool // the rules for cards are known to apply
	eci       ECI
	ipAddress netip.Addr
	stored    *StoredCredentialData
	threeDS2  *bool
}

//nolint:gochecknoglobals // an immutable table
var cardOrderRules = []rule[cardOrder]{
	{
		"transaction.source.required", local, "(account source)", "exactly one account is required",
		func(o cardOrder) bool { return !o.source.given() },
	},
	{
		"transaction.eci.required", local, "eci", "is required for cards",
		func(o cardOrder) bool { return o.card && o.eci == "" },
	},
	{
		"transaction.cvn.required", local, "creditCard.cvn", "is required with eci INTERNET",
		func(o cardOrder) bool {
			return o.source.card != nil && o.eci == ECIInternet && o.source.card.CVN.IsZero()
		},
	},
	{
		"transaction.cryptogram.required", local, "cryptogram", "is required with walletProvider",
		func(o cardOrder) bool {
			return o.source.card != nil && o.source.card.WalletProvider != "" && o.source.card.Cryptogram.IsZero()
		},
	},
	{
		"transaction.storedCredentialData.required", local, "storedCredentialData", "is required for cards",
		func(o cardOrder) bool { return o.card && o.stored == nil },
	},
	{
		"transaction.storedCredentialData.entryMode", local, "storedCredentialData.entryMode", "is required",
		func(o cardOrder) bool { return o.stored != nil && o.stored.EntryMode == "" },
	},
	{"transaction.storedCredentialData.usage", service, "storedCredentialData.usage", "is required in some cases with STORED_CREDENTIAL", nil},
	{
		"transaction.ipAddress.required", local, "ipAddress", "is required for what the customer orders over the Internet",
		func(o cardOrder) bool { return needsIPAddress(o.eci, o.source) && !o.ipAddress.IsValid() },
	},
	{
		"transaction.ipAddress.public", local, "ipAddress", "must be the customer's public address",
		func(o cardOrder) bool { return o.ipAddress.IsValid() && !isPublic(o.ipAddress) },
	},
	{
		"transaction.threeDS2.token", local, "threeDS2", "is for single-use tokens of cards",
		func(o cardOrder) bool {
			s := o.source
			return o.threeDS2 != nil && *o.threeDS2 && s.given() && (s.token == "" || s.kind != "" && !s.kind.isCard())
		},
	},
	{"transaction.token.unused", service, "singleUseTokenId", "must be unused and not older than 10 minutes", nil},
	{"transaction.customer.defaultAccount", service, "customerId", "must have an enabled default account", nil},
}

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
