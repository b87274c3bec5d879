package quickstream

// MerchantAccount is the merchant's side of a transaction.
type MerchantAccount struct {
	MerchantID              string   `json:"merchantId,omitempty"`
	MerchantName            string   `json:"merchantName,omitempty"`
	SettlementBSB           string   `json:"settlementBsb,omitempty"`
	SettlementAccountNumber string   `json:"settlementAccountNumber,omitempty"`
	DisplayName             string   `json:"displayName,omitempty"`
	AcquiringInstitution    string   `json:"acquiringInstitution,omitempty"`
	Currency                Currency `json:"currency,omitempty"`
	// The account for surcharges, where it is a separate one; unconfirmed.
	SettlementSurchargeBSB           string `json:"settlementSurchargeBsb,omitempty"`
	SettlementSurchargeAccountNumber string `json:"settlementSurchargeAccountNumber,omitempty"`
}

// CreditCard is the masked card of a transaction or of a registered account.
type CreditCard struct {
	AccountType AccountType `json:"accountType,omitempty"`
	// AccountToken identifies the card where it is registered.
	AccountToken            string         `json:"accountToken,omitempty" wire:"identifies"`
	CustomerID              string         `json:"customerId,omitempty" wire:"identifies"` // unconfirmed
	DefaultAccount          bool           `json:"defaultAccount,omitempty"`
	CardNumber              string         `json:"cardNumber,omitempty"`      // first 6 and last 3 digits
	ExpiryDateMonth         string         `json:"expiryDateMonth,omitempty"` // 2 digits
	ExpiryDateYear          string         `json:"expiryDateYear,omitempty"`  // 2 digits
	CardScheme              CardScheme     `json:"cardScheme,omitempty"`
	CardType                CardType       `json:"cardType,omitempty"`
	CardholderName          string         `json:"cardholderName,omitempty"`
	MaskedCardNumber4Digits string         `json:"maskedCardNumber4Digits,omitempty"` // first 6 and last 4 digits
	SurchargePercentage     string         `json:"surchargePercentage,omitempty"`     // unconfirmed
	PANType                 PANType        `json:"panType,omitempty"`                 // unconfirmed
	WalletProvider          WalletProvider `json:"walletProvider,omitempty"`          // unconfirmed
	Links                   []Link         `json:"links,omitempty"`
}

// PANType says whether a card number is the card's own or a device's. From third parties' models of
// the service; unconfirmed.
type PANType string

// The kinds of card number.
const (
	PANTypeFPAN PANType = "FPAN" // the card's own number
	PANTypeDPAN PANType = "DPAN" // a device's number
)

// BankAccount is the masked Australian bank account of a transaction. From third parties' models of
// the service; unconfirmed.
type BankAccount struct {
	AccountType    AccountType `json:"accountType,omitempty"`
	AccountToken   string      `json:"accountToken,omitempty" wire:"identifies"`
	CustomerID     string      `json:"customerId,omitempty" wire:"identifies"`
	DefaultAccount bool        `json:"defaultAccount,omitempty"`
	AccountName    string      `json:"accountName,omitempty"`
	DisplayName    string      `json:"displayName,omitempty"`
	Currency       Currency    `json:"currency,omitempty"`
	BSB            string      `json:"bsb,omitempty"`
	AccountNumber  string      `json:"accountNumber,omitempty"`
	Links          []Link      `json:"links,omitempty"`
}

// NZBankAccount is the masked New Zealand bank account of a transaction. From third parties' models
// of the service; unconfirmed.
type NZBankAccount struct {
	AccountType    AccountType `json:"accountType,omitempty"`
	AccountToken   string      `json:"accountToken,omitempty" wire:"identifies"`
	CustomerID     string      `json:"customerId,omitempty" wire:"identifies"`
	DefaultAccount bool        `json:"defaultAccount,omitempty"`
	AccountName    string      `json:"nzAccountName,omitempty"`
	BankCode       string      `json:"nzBankCode,omitempty"`
	BranchCode     string      `json:"nzBranchCode,omitempty"`
	AccountNumber  string      `json:"nzAccountNumber,omitempty"`
	AccountSuffix  string      `json:"nzAccountSuffix,omitempty"`
	DisplayName    string      `json:"displayName,omitempty"`
	Currency       Currency    `json:"currency,omitempty"`
	Links          []Link      `json:"links,omitempty"`
}

// DirectEntryAccount is the merchant's side of an Australian bank account transaction. From third
// parties' models of the service; unconfirmed.
type DirectEntryAccount struct {
	DisplayName             string   `json:"displayName,omitempty"`
	Currency                Currency `json:"currency,omitempty"`
	DirectEntryUserID       string   `json:"directEntryUserId,omitempty"`
	DirectEntryUserName     string   `json:"directEntryUserName,omitempty"`
	AccountName             string   `json:"accountName,omitempty"`
	SettlementBSB           string   `json:"settlementBsb,omitempty"`
	SettlementAccountNumber string   `json:"settlementAccountNumber,omitempty"`
	RemitterName            string   `json:"remitterName,omitempty"`
}

// NZDirectEntryAccount is the merchant's side of a New Zealand bank account transaction. From third
// parties' models of the service; unconfirmed.
type NZDirectEntryAccount struct {
	DisplayName   string   `json:"displayName,omitempty"`
	Currency      Currency `json:"currency,omitempty"`
	DebitUserID   string   `json:"debitUserId,omitempty"`
	AccountName   string   `json:"nzAccountName,omitempty"`
	BankCode      string   `json:"nzBankCode,omitempty"`
	BranchCode    string   `json:"nzBranchCode,omitempty"`
	AccountNumber string   `json:"nzAccountNumber,omitempty"`
	AccountSuffix string   `json:"nzAccountSuffix,omitempty"`
}

// PayToData is the PayTo part of a transaction.
type PayToData struct {
	AgreementToken         string        `json:"agreementToken,omitempty" wire:"identifies"`
	EndToEndID             string        `json:"endToEndId,omitempty" wire:"decides"`
	Priority               PayToPriority `json:"priority,omitempty"`
	RemittanceInformation1 string        `json:"remittanceInformation1,omitempty"`
	RemittanceInformation2 string        `json:"remittanceInformation2,omitempty"`
}

// PayToPayeeAccount is the merchant's masked account of a PayTo payment.
type PayToPayeeAccount struct {
	DisplayName string   `json:"displayName,omitempty"`
	Currency    Currency `json:"currency,omitempty"`
}

// PayToPayerAccount is the payer's masked account of a PayTo payment.
type PayToPayerAccount struct {
	AccountType         AccountType `json:"accountType,omitempty"`
	CustomerID          string      `json:"customerId,omitempty" wire:"identifies"`
	PayerType           PayerType   `json:"payerType,omitempty"`
	PayerID             string      `json:"payerId,omitempty"`
	PayerName           string      `json:"payerName,omitempty"`
	UltimatePayerName   string      `json:"ultimatePayerName,omitempty"`
	MaskedAccountNumber string      `json:"maskedAccountNumber,omitempty"`
	PayIDType           PayIDType   `json:"payIdType,omitempty"`
	PayID               string      `json:"payId,omitempty"`
}
