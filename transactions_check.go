package quickstream

import (
	"net/netip"

	"github.com/shopspring/decimal"
)

// The checks that several types of transaction share.

// maxReference bounds customer and payment reference numbers.
const maxReference = 100

func checkBusiness(f *findings, code string) {
	f.require(code != "" || f.business != "", "transaction.supplierBusinessCode.required", "supplierBusinessCode", "is required")
}

func checkAmount(f *findings, amount decimal.Decimal) {
	f.require(amount.IsPositive(), "transaction.principalAmount.positive", "principalAmount", "must be more than zero")
	f.require(isMoney(amount), "transaction.principalAmount.decimals", "principalAmount", "must not have more than two decimals or 32 digits")
}

func checkCurrency(f *findings, currency Currency) {
	f.require(currency != "", "transaction.currency.required", "currency", "is required")
}

// checkReferences is about what a transaction can be found by.
func checkReferences(f *findings, customer, payment string) {
	const short, plain = "must not be longer than 100 characters", "must consist of printable ASCII characters"
	f.require(len(customer) <= maxReference, "transaction.customerReferenceNumber.length", "customerReferenceNumber", short)
	f.require(isPrintable(customer), "transaction.customerReferenceNumber.ascii", "customerReferenceNumber", plain)
	f.require(len(payment) <= maxReference, "transaction.paymentReferenceNumber.length", "paymentReferenceNumber", short)
	f.require(isPrintable(payment), "transaction.paymentReferenceNumber.ascii", "paymentReferenceNumber", plain)
}

func checkReceipt(f *findings, receiptNumber string) {
	f.require(receiptNumber != "", "transaction.originalReceiptNumber.required", "originalReceiptNumber", "is required")
}

// checkOriginal is about a transaction that was passed in besides its receipt
// number. It may be nil.
func checkOriginal(f *findings, original *Transaction, receiptNumber string, currency Currency) {
	if original == nil {
		return
	}
	f.require(receiptNumber == "" || receiptNumber == original.ReceiptNumber,
		"transaction.original.same", "originalReceiptNumber", "must be that of the transaction that was passed in")
	amount := original.PrincipalAmount
	f.require(amount == nil || amount.Currency == "" || currency == "" || amount.Currency == currency,
		"transaction.original.currency", "currency", "must be that of the transaction that was passed in")
}

// receiptOf returns the receipt number, or that of the object that was given in
// its place.
func receiptOf(receiptNumber string, original *Transaction) string {
	if receiptNumber == "" && original != nil {
		return original.ReceiptNumber
	}
	return receiptNumber
}

func principalOf(t *Transaction) (amount decimal.Decimal, known bool) {
	if t == nil || t.PrincipalAmount == nil {
		return decimal.Decimal{}, false
	}
	return t.PrincipalAmount.Amount, true
}

// order is an account, and the members that depend on whether it is a card and
// on who ordered the transaction.
type order struct {
	source    source
	eci       ECI
	ipAddress netip.Addr
	stored    *StoredCredentialData
	threeDS2  *bool
}

// checkECI is for what is no payment: the scheme's own values are for payments.
func (o order) checkECI(f *findings) {
	f.require(o.eci != ECI5 && o.eci != ECI6 && o.eci != ECI7,
		"transaction.eci.paymentsOnly", "eci", "must be INTERNET, PHONE, MAIL, RECURRING or INSTALMENT: 5, 6 and 7 are for payments")
}

// check holds cards to the rules for cards where the account is known to be one.
func (o order) check(f *findings, isCard bool) {
	s, card := o.source, o.source.card
	f.require(s.given(), "transaction.source.required", "(account source)", "exactly one account is required")
	f.require(!isCard || o.eci != "", "transaction.eci.required", "eci", "is required for cards")
	f.require(card == nil || o.eci != ECIInternet || !card.CVN.IsZero(),
		"transaction.cvn.required", "creditCard.cvn", "is required with eci INTERNET")
	f.require(!isCard || o.stored != nil, "transaction.storedCredentialData.required", "storedCredentialData", "is required for cards")
	f.require(o.stored == nil || o.stored.EntryMode != "",
		"transaction.storedCredentialData.entryMode", "storedCredentialData.entryMode", "is required")
	f.require(!needsIPAddress(o.eci, s) || o.ipAddress.IsValid(),
		"transaction.ipAddress.required", "ipAddress", "is required with a single-use token, and for account details with eci INTERNET")
	f.require(!o.ipAddress.IsValid() || isPublic(o.ipAddress),
		"transaction.ipAddress.public", "ipAddress", "must be the customer's public address")
	f.require(o.threeDS2 == nil || !*o.threeDS2 || !s.given() || s.token != "" && (s.kind == "" || s.kind.isCard()),
		"transaction.threeDS2.token", "threeDS2", "is for single-use tokens of cards")
}

// needsIPAddress says where the specification requires the customer's address:
// with a single-use token, and with account details that are given in full and eci
// INTERNET. It forbids it where the customer did not act over the Internet: with a
// token and an order by mail or phone, or a payment that the merchant makes, it
// contradicts itself and nothing is required here.
func needsIPAddress(eci ECI, s source) bool {
	switch eci {
	case ECIInternet:
		return s.token != "" || s.card != nil || s.bank != nil || s.nzBank != nil
	case ECIMail, ECIPhone, ECIRecurring, ECIInstalment:
		return false
	default:
		return s.token != ""
	}
}

// isPublic reports whether an address can be a customer's on the Internet.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	sharedSpace := netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64}), 10) // behind providers' own address translation
	return a.IsGlobalUnicast() && !a.IsPrivate() && a.Zone() == "" && !sharedSpace.Contains(a)
}
