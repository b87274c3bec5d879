package sandbox

// transactionBody is the Transaction Response Model, with the further members
// that public client code names.
type transactionBody struct {
	Links                   []link               `json:"links"`
	ReceiptNumber           string               `json:"receiptNumber"`
	TransactionType         string               `json:"transactionType"`
	AuthorisationType       *string              `json:"authorisationType"`
	CancellationType        *string              `json:"cancellationType"`
	OriginalReceiptNumber   *string              `json:"originalReceiptNumber"`
	Status                  string               `json:"status"`
	ResponseCode            string               `json:"responseCode"`
	ResponseDescription     string               `json:"responseDescription"`
	SummaryCode             string               `json:"summaryCode"`
	MerchantAdviceCode      *string              `json:"merchantAdviceCode"`
	FraudGuardResult        *string              `json:"fraudGuardResult"`
	AuthorisationCode       *string              `json:"authorisationCode"`
	AuthorisationTraceID    *string              `json:"authorisationTraceId"`
	NetworkTransactionID    *string              `json:"networkTransactionId"`
	CustomerReferenceNumber *string              `json:"customerReferenceNumber"`
	PaymentReferenceNumber  *string              `json:"paymentReferenceNumber"`
	Comment                 *string              `json:"comment"`
	Source                  string               `json:"source"`
	SettlementDate          string               `json:"settlementDate"`
	TransactionTime         string               `json:"transactionTime"`
	Refundable              bool                 `json:"refundable"`
	Voidable                bool                 `json:"voidable"`
	PrincipalAmount         amountBody           `json:"principalAmount"`
	SurchargeAmount         amountBody           `json:"surchargeAmount"`
	TotalAmount             amountBody           `json:"totalAmount"`
	IPAddress               *string              `json:"ipAddress"`
	DebtRepayment           bool                 `json:"debtRepayment"`
	SupplierBusinessCode    string               `json:"supplierBusinessCode"`
	MerchantAccount         *merchantAccountBody `json:"merchantAccount"`
	DirectEntryAccount      *directEntryBody     `json:"directEntryAccount"`
	NZDirectEntryAccount    *nzDirectEntryBody   `json:"nzDirectEntryAccount"`
	CreditCard              *cardAccountBody     `json:"creditCard"`
	BankAccount             *bankAccountBody     `json:"bankAccount"`
	NZBankAccount           *nzBankAccountBody   `json:"nzBankAccount"`
	PayToData               *payToDataBody       `json:"payToData"`
	PayToPayeeAccount       *payToPayeeBody      `json:"payToPayeeAccount"`
	PayToPayerAccount       *payToPayerBody      `json:"payToPayerAccount"`
	Metadata                map[string]string    `json:"metadata"`
	MerchantName            *string              `json:"merchantName"`
	MerchantStreetAddress   *string              `json:"merchantStreetAddress"`
	MerchantLocation        *string              `json:"merchantLocation"`
	MerchantState           *string              `json:"merchantState"`
	MerchantCountry         *string              `json:"merchantCountry"`
	MerchantPostCode        *string              `json:"merchantPostCode"`
	SubMerchantID           *string              `json:"subMerchantId"`
}

type merchantAccountBody struct {
	MerchantID                       string  `json:"merchantId"`
	MerchantName                     string  `json:"merchantName"`
	SettlementBSB                    string  `json:"settlementBsb"`
	SettlementAccountNumber          string  `json:"settlementAccountNumber"`
	SettlementSurchargeBSB           *string `json:"settlementSurchargeBsb"`
	SettlementSurchargeAccountNumber *string `json:"settlementSurchargeAccountNumber"`
	DisplayName                      string  `json:"displayName"`
	AcquiringInstitution             string  `json:"acquiringInstitution"`
	Currency                         string  `json:"currency"`
}

type directEntryBody struct {
	DisplayName             string `json:"displayName"`
	Currency                string `json:"currency"`
	DirectEntryUserID       string `json:"directEntryUserId"`
	DirectEntryUserName     string `json:"directEntryUserName"`
	AccountName             string `json:"accountName"`
	SettlementBSB           string `json:"settlementBsb"`
	SettlementAccountNumber string `json:"settlementAccountNumber"`
	RemitterName            string `json:"remitterName"`
}

type nzDirectEntryBody struct {
	DisplayName string `json:"displayName"`
	Currency    string `json:"currency"`
	DebitUserID string `json:"debitUserId"`
	nzBankBody
}

// keptBody is what the accounts of transactions have in common. Token and
// customer are null when the account was not a kept one.
type keptBody struct {
	Links          []link  `json:"links"`
	AccountType    string  `json:"accountType"`
	AccountToken   *string `json:"accountToken"`
	CustomerID     *string `json:"customerId"`
	DefaultAccount bool    `json:"defaultAccount"`
}

type cardAccountBody struct {
	keptBody
	*storedCardBody
}

type bankAccountBody struct {
	keptBody
	tokenBankBody
	DisplayName string `json:"displayName"`
	Currency    string `json:"currency"`
}

type nzBankAccountBody struct {
	keptBody
	nzBankBody
	DisplayName string `json:"displayName"`
	Currency    string `json:"currency"`
}

// The merchant's own side of the accounts is the same for all businesses.
const (
	merchantBSB     = "032-000"
	merchantAccount = "000001"
)

func (b *Sandbox) transactionBody(c *call, tx *transaction) transactionBody {
	voidable, refundable := b.reversible(tx, c.now)
	principal, surcharge := b.shownPrincipal(tx), tx.surcharge
	if principal == 0 {
		surcharge = 0
	}
	customerReference, paymentReference := tx.customerReference, tx.paymentReference
	if c.isRead() {
		customerReference, paymentReference = b.shownReferences(tx)
	}
	body := transactionBody{
		Links: c.related(
			get("self", c.href("transactions", tx.receipt)),
			get("refunds", c.href("transactions", tx.receipt, "refunds")),
		),
		ReceiptNumber: tx.receipt, TransactionType: tx.kind, OriginalReceiptNumber: optional(tx.originalReceipt),
		AuthorisationType: optional(tx.authorisationType), CancellationType: optional(tx.cancellationType), AuthorisationCode: tx.authorisationCode(),
		Status: b.status(tx), ResponseCode: tx.code, ResponseDescription: describe(tx), SummaryCode: b.summaryCode(tx),
		CustomerReferenceNumber: optional(customerReference), PaymentReferenceNumber: optional(paymentReference),
		Comment: optional(tx.comment), Source: b.sourceOf(tx),
		SettlementDate: tx.settlement, TransactionTime: b.timestamp(tx.created),
		Voidable: voidable, Refundable: refundable,
		PrincipalAmount: amountOf(tx.currency, principal),
		SurchargeAmount: amountOf(tx.currency, surcharge),
		TotalAmount:     amountOf(tx.currency, principal+surcharge),
		IPAddress:       optional(tx.ip), DebtRepayment: tx.debtRepayment,
		SupplierBusinessCode: tx.shop.code, Metadata: tx.metadata,
	}
	if b.assume.Metadata == "dropped" {
		body.Metadata = nil
	}
	if tx.ip != "" { // only then was there something to screen
		body.FraudGuardResult = optional("OK")
		if tx.result == resultSuspended {
			body.FraudGuardResult = optional("SUSPENDED")
		}
	}
	b.addAccounts(c, tx, &body)
	return body
}

// addAccounts fills in both sides of the money.
func (b *Sandbox) addAccounts(c *call, tx *transaction, body *transactionBody) {
	kept := keptBody{Links: c.links(), AccountType: tx.source.accountType()}
	if a := tx.account; a != nil {
		kept.AccountToken, kept.CustomerID, kept.DefaultAccount = &a.token, &a.customer.ID, a.isDefault
	}
	switch {
	case tx.source.payTo != nil:
		b.addPayTo(tx, body)
	case tx.source.card != nil:
		cd := tx.source.card
		body.CreditCard = &cardAccountBody{keptBody: kept, storedCardBody: storedCard(cd, tx.shop)}
		if tx.result == resultApproved && (cd.scheme == schemeVisa || cd.scheme == schemeMastercard) {
			body.NetworkTransactionID = optional("00000" + tx.receipt)
		}
		body.MerchantAccount = &merchantAccountBody{
			MerchantID: merchantID(tx), MerchantName: tx.shop.name, DisplayName: tx.shop.name,
			SettlementBSB: merchantBSB, SettlementAccountNumber: merchantAccount,
			AcquiringInstitution: "WBC", Currency: tx.currency,
		}
	case tx.source.bank != nil:
		a := tx.source.bank
		body.BankAccount = &bankAccountBody{
			keptBody:      kept,
			tokenBankBody: *b.bankBody(a),
			DisplayName:   b.maskedAccount(a.bsb, a.number), Currency: tx.currency,
		}
		body.DirectEntryAccount = &directEntryBody{
			DisplayName: tx.shop.name, Currency: tx.currency, DirectEntryUserID: "000001", DirectEntryUserName: tx.shop.name,
			AccountName: tx.shop.name, SettlementBSB: merchantBSB, SettlementAccountNumber: merchantAccount, RemitterName: tx.shop.name,
		}
	default:
		own := nzBody(tx.source.nz)
		body.NZBankAccount = &nzBankAccountBody{keptBody: kept, nzBankBody: *own, DisplayName: own.AccountNumber, Currency: tx.currency}
		body.NZDirectEntryAccount = &nzDirectEntryBody{
			DisplayName: tx.shop.name, Currency: tx.currency, DebitUserID: "000001",
			nzBankBody: nzBankBody{AccountName: tx.shop.name, BankCode: "03", BranchCode: "0000", AccountNumber: "0000001", AccountSuffix: "00"},
		}
	}
}

// sourceOf is the source code of a transaction: how it came to the service.
func (b *Sandbox) sourceOf(tx *transaction) string {
	switch {
	case tx.via != "":
		return tx.via
	case b.assume.UnknownEnumValues:
		return "RESTAPI2"
	default:
		return sourceREST
	}
}

const sourceREST = "RESTAPI"
