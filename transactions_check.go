package quickstream

import (
	"net/netip"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// maxReference bounds customer and payment reference numbers.
const maxReference = 100

// check holds a transaction to the rules of its operation, whether it was just made of parameters or
// stored.
func (b *transactionBody) check(f *findings) {
	operation := operationOf(b.transactionJSON)
	if operation != OperationVerifyAccount {
		b.checkAmount(f)
	}
	b.checkReferences(f)
	switch operation {
	case OperationPay, OperationCollect, OperationPreauthorise, OperationVerifyAccount:
		b.checkSource(f)
	default:
		f.require(b.OriginalReceiptNumber != "", "transaction.originalReceiptNumber.required", "originalReceiptNumber", "is required")
	}
	switch operation {
	case OperationRefund:
		b.checkOriginal(f)
		b.checkRefund(f)
	case OperationCapture:
		b.checkOriginal(f)
		b.checkCapture(f)
	case OperationCancelPreauthorisation:
		f.require(b.CancellationType != "", "cancelPreauthorisation.cancellationType.required", "cancellationType", "is required")
	}
}

func (b *transactionBody) checkAmount(f *findings) {
	amount := b.amount()
	f.require(b.PrincipalAmount != nil && !amount.IsNegative() && wire.HasTwoDecimals(amount), "transaction.principalAmount.money",
		"principalAmount", "is required, and must not be negative or have more than two decimals or 32 digits")
	f.require(b.Currency != "", "transaction.currency.required", "currency", "is required")
}

func (b *transactionBody) amount() decimal.Decimal {
	if b.PrincipalAmount == nil {
		return decimal.Decimal{}
	}
	return b.PrincipalAmount.Decimal()
}

func (b *transactionBody) checkReferences(f *findings) {
	const short, plain = "must not be longer than 100 characters", "must consist of ASCII characters"
	customer, payment := b.CustomerReferenceNumber, b.PaymentReferenceNumber
	f.require(len(customer) <= maxReference, "transaction.customerReferenceNumber.length", "customerReferenceNumber", short)
	f.require(isASCII(customer), "transaction.customerReferenceNumber.ascii", "customerReferenceNumber", plain)
	f.require(len(payment) <= maxReference, "transaction.paymentReferenceNumber.length", "paymentReferenceNumber", short)
	f.require(isASCII(payment), "transaction.paymentReferenceNumber.ascii", "paymentReferenceNumber", plain)
}

// checkOriginal is for a capture and a refund, which have an amount and may be given the transaction that
// they follow. A stored request has none.
func (b *transactionBody) checkOriginal(f *findings) {
	f.require(!b.amount().IsZero(), "transaction.principalAmount.positive", "principalAmount", "must be more than zero")
	if b.original == nil {
		return
	}
	f.require(b.OriginalReceiptNumber == b.original.ReceiptNumber,
		"transaction.original.same", "originalReceiptNumber", "must be that of the transaction that was passed in")
	amount := b.original.PrincipalAmount
	f.require(amount == nil || amount.Currency == "" || b.Currency == "" || sameText(string(amount.Currency), string(b.Currency)),
		"transaction.original.currency", "currency", "must be that of the transaction that was passed in")
}

// checkSource checks that there is one account, and the members that depend on its kind. The ECIs 5, 6
// and 7 are the scheme's own, for payments.
func (b *transactionBody) checkSource(f *findings) {
	kind, pays, holds := b.accountType(), b.TransactionType == TransactionTypePayment, b.TransactionType == TransactionTypePreauth
	isCard := kind.isCard() || holds
	f.require(b.SupplierBusinessCode != "", "transaction.supplierBusinessCode.required", "supplierBusinessCode", "is required")
	f.require(!holds || kind == "" || kind.isCard(), "transaction.source.card", "(account source)", "must be a card")
	f.require(pays || b.ECI != ECI5 && b.ECI != ECI6 && b.ECI != ECI7,
		"transaction.eci.paymentsOnly", "eci", "must be INTERNET, PHONE, MAIL, RECURRING or INSTALMENT: 5, 6 and 7 are for payments")
	card, stored := b.CreditCard, b.StoredCredentialData
	sources := count(b.SingleUseTokenID != "", b.CustomerID != "", b.AccountToken != "",
		b.CreditCard != nil, b.BankAccount != nil, b.NZBankAccount != nil, b.PayToData != nil)
	f.require(sources == 1, "transaction.source.required", "(account source)", "exactly one account is required")
	f.require(!isCard || b.ECI != "", "transaction.eci.required", "eci", "is required for cards")
	f.require(card == nil || card.WalletProvider != "" || b.ECI != ECIInternet || card.CVN != "",
		"transaction.cvn.required", "creditCard.cvn", "is required with eci INTERNET")
	merchants := b.ECI == ECIRecurring || b.ECI == ECIInstalment || stored != nil && stored.EntryMode == EntryModeStoredCredential
	f.require(card == nil || card.WalletProvider == "" || b.Cryptogram != "" || merchants || !pays,
		"transaction.cryptogram.required", "cryptogram", "is required with walletProvider if the customer pays")
	f.require(!isCard || stored != nil, "transaction.storedCredentialData.required", "storedCredentialData", "is required for cards")
	f.require(stored == nil || stored.EntryMode != "",
		"transaction.storedCredentialData.entryMode", "storedCredentialData.entryMode", "is required")
	f.require(!b.needsIPAddress() || b.IPAddress != "",
		"transaction.ipAddress.required", "ipAddress", "is required with a single-use token, and for account details with eci INTERNET")
	f.require(b.IPAddress == "" || isPublic(b.IPAddress),
		"transaction.ipAddress.public", "ipAddress", "must be the customer's public address")
	if b.CreditCard != nil {
		f.within("creditCard", b.CreditCard.check)
	}
	if b.PayToData != nil {
		f.within("payToData", b.PayToData.check)
	}
}

// accountType is the kind of the account; "" where only the service knows it.
func (b *transactionBody) accountType() AccountType {
	switch {
	case b.CreditCard != nil:
		return AccountTypeCreditCard
	case b.BankAccount != nil:
		return AccountTypeDirectDebit
	case b.NZBankAccount != nil:
		return AccountTypeDirectDebitNZ
	case b.PayToData != nil:
		return AccountTypePayTo
	default:
		return b.kind
	}
}

// needsIPAddress says when the specification requires the customer's address: with a
// single-use token, and with account details and eci INTERNET. It forbids the address
// when the customer did not act over the Internet. For a token with an order by mail or
// phone, or with a payment that the merchant makes, it says both, and nothing is required.
func (b *transactionBody) needsIPAddress() bool {
	switch b.ECI {
	case ECIInternet:
		return b.SingleUseTokenID != "" || b.CreditCard != nil || b.BankAccount != nil || b.NZBankAccount != nil
	case ECIMail, ECIPhone, ECIRecurring, ECIInstalment:
		return false
	default:
		return b.SingleUseTokenID != ""
	}
}

func isPublic(address string) bool {
	a, err := netip.ParseAddr(address)
	a = a.Unmap()
	sharedSpace := netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64}), 10) // of providers that translate addresses
	return err == nil && a.IsGlobalUnicast() && !a.IsPrivate() && a.Zone() == "" && !sharedSpace.Contains(a)
}
