package quickstream

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
)

// AccountType is a kind of account.
type AccountType string

// The kinds of account. PAYTO appears in transactions only.
const (
	AccountTypeCreditCard    AccountType = "CREDIT_CARD"
	AccountTypeDirectDebit   AccountType = "DIRECT_DEBIT"
	AccountTypeDirectDebitNZ AccountType = "DIRECT_DEBIT_NZ"
	AccountTypeApplePay      AccountType = "APPLE_PAY"
	AccountTypeGooglePay     AccountType = "GOOGLE_PAY"
	AccountTypePayTo         AccountType = "PAYTO"
)

// isCard reports whether the rules for cards are known to apply.
func (t AccountType) isCard() bool {
	return t == AccountTypeCreditCard || t == AccountTypeApplePay || t == AccountTypeGooglePay
}

// CardScheme is the scheme of a card.
type CardScheme string

// The card schemes.
const (
	CardSchemeVisa       CardScheme = "VISA"
	CardSchemeMastercard CardScheme = "MASTERCARD"
	CardSchemeAmex       CardScheme = "AMEX"
	CardSchemeDiners     CardScheme = "DINERS"
	CardSchemeJCB        CardScheme = "JCB"
	CardSchemeUnionPay   CardScheme = "UNIONPAY"
)

// CardDetails is a card. A server that handles it is in scope of PCI DSS; a single-use token made
// in the browser avoids that. It prints without its secrets and cannot be marshalled. Never store
// the CVN.
type CardDetails struct {
	// CardholderName is optional.
	CardholderName string
	// CardNumber holds digits only. Required.
	CardNumber Secret
	// Expiry is expiryDateMonth and expiryDateYear. Required.
	Expiry YearMonth
	// CVN has 3 or 4 digits. Required with [ECIInternet]. That a wallet's needs none is unconfirmed.
	CVN Secret
	// WalletProvider marks the number of a wallet. Optional, and not for single-use tokens.
	WalletProvider WalletProvider
	// Cryptogram is the wallet's cryptogram. Required with WalletProvider for a payment, unless it is
	// recurring, an instalment or by a stored credential. That pre-authorisations and verifications
	// take it is inferred and unconfirmed.
	Cryptogram Secret
}

// WalletProvider is a wallet.
type WalletProvider string

// The wallets. Requests support Apple Pay; Google Pay appears in responses,
// which is known from public client code and unconfirmed.
const (
	WalletProviderApplePay  WalletProvider = "APPLE_PAY"
	WalletProviderGooglePay WalletProvider = "GOOGLE_PAY"
)

// BankAccountDetails is an Australian bank account. All fields are required for single-use tokens.
// The service judges those of a payment or a registration.
type BankAccountDetails struct {
	// AccountName is the holder's name.
	AccountName string
	// BSB has 6 digits. It is sent unchanged, also in the form 032-002 that the vendor prints.
	BSB           string
	AccountNumber Secret
}

// NZBankAccountDetails is a New Zealand bank account. All fields are required for single-use tokens. That payments
// take the same members, nzAccountName and so on, is inferred and unconfirmed.
type NZBankAccountDetails struct {
	// AccountName is the holder's name.
	AccountName   string
	BankCode      string
	BranchCode    string
	AccountNumber Secret
	AccountSuffix string
}

// expiry returns the month with 2 and the year with 4 digits.
func expiry(m YearMonth) (month, year string) {
	if m.IsZero() {
		return "", ""
	}
	return fmt.Sprintf("%02d", int(m.Month)), strconv.Itoa(m.Year)
}

// AccountSource is an account to pay from, made by a From function. Parameters with an
// AccountSource cannot be marshalled; the [Intent] that Plan makes of them can.
type AccountSource interface{ accountSource() source }

// CardSource is an [AccountSource] that may be a card, so that it can be pre-authorised
// and verified too.
type CardSource interface {
	AccountSource
	cardSource()
}

// source is an account source. Exactly one of its pointers and identifiers is set.
type source struct {
	kind         AccountType // of a handle's account, if the caller gave it
	token        string
	customerID   string
	accountToken string
	card         *CardDetails
	bank         *BankAccountDetails
	nzBank       *NZBankAccountDetails
}

var errSealed = errors.New("quickstream: sources and changes cannot be marshalled; give the parameters to Plan and store the Intent")

// MarshalJSON returns an error: parameters that are read back would have no source.
func (source) MarshalJSON() ([]byte, error) { return nil, errSealed }

func sourceOf(s AccountSource) source {
	if s == nil {
		return source{}
	}
	return s.accountSource()
}

func (s source) accountSource() source { return s }

type cardSource struct{ source }

func (cardSource) cardSource() {}

// FromSingleUseToken pays with an unused single-use token, at most 10 minutes old, and uses it up.
// If you give the [AccountType] of its account, the rules for cards are checked before sending.
func FromSingleUseToken(singleUseTokenID string, kind ...AccountType) CardSource {
	return cardSource{source{token: singleUseTokenID, kind: declaredKind(kind)}}
}

// FromCustomer pays with the enabled default account of a customer. The kind is optional,
// as in [FromSingleUseToken].
func FromCustomer(customerID string, kind ...AccountType) CardSource {
	return cardSource{source{customerID: customerID, kind: declaredKind(kind)}}
}

// FromAccount pays with a registered account. The kind is optional, as in
// [FromSingleUseToken].
func FromAccount(accountToken string, kind ...AccountType) CardSource {
	return cardSource{source{accountToken: accountToken, kind: declaredKind(kind)}}
}

// FromCard pays with a card's details.
func FromCard(card CardDetails) CardSource {
	return cardSource{source{card: &card}}
}

// FromBankAccount pays with an Australian bank account. The customer's bank can return the
// approved payment for some days.
func FromBankAccount(account BankAccountDetails) AccountSource {
	return source{bank: &account}
}

// FromNZBankAccount pays with a New Zealand bank account.
func FromNZBankAccount(account NZBankAccountDetails) AccountSource {
	return source{nzBank: &account}
}

func declaredKind(kind []AccountType) AccountType {
	if len(kind) == 0 {
		return ""
	}
	return kind[0]
}

type cardJSON struct {
	CardholderName  string         `json:"cardholderName,omitempty"`
	CardNumber      string         `json:"cardNumber,omitempty"`
	ExpiryDateMonth string         `json:"expiryDateMonth"`
	ExpiryDateYear  string         `json:"expiryDateYear"`
	CVN             string         `json:"cvn,omitempty"`
	WalletProvider  WalletProvider `json:"walletProvider,omitempty"`
}

type bankAccountJSON struct {
	AccountName   string `json:"accountName,omitempty"`
	BSB           string `json:"bsb,omitempty"`
	AccountNumber string `json:"accountNumber,omitempty"`
}

type nzBankAccountJSON struct {
	AccountName   string `json:"nzAccountName,omitempty"`
	BankCode      string `json:"nzBankCode,omitempty"`
	BranchCode    string `json:"nzBranchCode,omitempty"`
	AccountNumber string `json:"nzAccountNumber,omitempty"`
	AccountSuffix string `json:"nzAccountSuffix,omitempty"`
}

func (d *CardDetails) wire() *cardJSON {
	if d == nil {
		return nil
	}
	month, year := expiry(d.Expiry)
	return &cardJSON{d.CardholderName, d.CardNumber.text(), month, year, d.CVN.text(), d.WalletProvider}
}

func (d *BankAccountDetails) wire() *bankAccountJSON {
	if d == nil {
		return nil
	}
	return &bankAccountJSON{d.AccountName, d.BSB, d.AccountNumber.text()}
}

func (d *NZBankAccountDetails) wire() *nzBankAccountJSON {
	if d == nil {
		return nil
	}
	return &nzBankAccountJSON{d.AccountName, d.BankCode, d.BranchCode, d.AccountNumber.text(), d.AccountSuffix}
}

// ECI is how the customer ordered a card payment.
type ECI string

// The indicators. The numbers are the scheme's values for authenticated
// electronic commerce.
const (
	ECIInternet   ECI = "INTERNET"
	ECIPhone      ECI = "PHONE"
	ECIMail       ECI = "MAIL"
	ECIRecurring  ECI = "RECURRING"
	ECIInstalment ECI = "INSTALMENT"
	ECI5          ECI = "5"
	ECI6          ECI = "6"
	ECI7          ECI = "7"
)

// EntryMode says whether a card's details were given for this payment or stored.
type EntryMode string

// The entry modes.
const (
	EntryModeManual           EntryMode = "MANUAL"
	EntryModeStoredCredential EntryMode = "STORED_CREDENTIAL"
)

// CredentialUsage says what a stored credential is used for.
type CredentialUsage string

// The usages that the specification shows.
const (
	CredentialUsageRecurring      CredentialUsage = "RECURRING"
	CredentialUsageStandingOrder  CredentialUsage = "STANDING_ORDER"
	CredentialUsageUnscheduledMIT CredentialUsage = "UNSCHEDULED_MIT"
)

// StoredCredentialData says whether the card's details were stored, for the card schemes.
type StoredCredentialData struct {
	// EntryMode is required.
	EntryMode EntryMode `json:"entryMode"`
	// Usage is required in some cases with [EntryModeStoredCredential], which are not published.
	Usage CredentialUsage `json:"usage,omitempty"`
}

func (c *cardJSON) check(f *findings) {
	dated := c.ExpiryDateMonth != "" || c.ExpiryDateYear != ""
	f.require(c.CardNumber != "", "card.cardNumber.required", "cardNumber", "is required")
	f.require(c.CardNumber == "" || isDigits(c.CardNumber), "card.cardNumber.digits", "cardNumber", "must consist of digits")
	f.require(dated, "card.expiryDate.required", "expiryDateMonth", "is required, with expiryDateYear")
	f.require(!dated || c.hasExpiry(), "card.expiryDate.valid", "expiryDateMonth", "must be a month of a four-digit year")
	f.require(c.CVN == "" || isDigits(c.CVN) && lengthWithin(c.CVN, 3, 4), "card.cvn.digits", "cvn", "must have 3 or 4 digits")
}

// isExpiry reports whether c has an expiry and nothing else. An expiry is too short for a card number.
func (c *cardJSON) isExpiry() bool {
	return c != nil && len(c.ExpiryDateMonth) <= 4 && len(c.ExpiryDateYear) <= 4 &&
		*c == cardJSON{ExpiryDateMonth: c.ExpiryDateMonth, ExpiryDateYear: c.ExpiryDateYear}
}

// hasExpiry reports whether the expiry is a month of 2 digits and a year of 4.
func (c *cardJSON) hasExpiry() bool {
	month, year := c.ExpiryDateMonth, c.ExpiryDateYear
	return isDigits(month) && len(month) == 2 && month >= "01" && month <= "12" && isDigits(year) && len(year) == 4 && year >= "1000"
}

// accountType is the kind of the account; "" if only the service knows it.
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

// needsIPAddress says when the specification requires the customer's address: with a single-use
// token, and with account details and eci INTERNET. It forbids the address if the customer did not
// act over the Internet. For a token in an order by mail or phone, or in a payment that the
// merchant makes, it says both: then nothing is required.
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
