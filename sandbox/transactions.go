package sandbox

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
	"github.com/quickstream-go/quickstream/sandbox/internal/form"
)

const recentLimit = 20 // as stated in the contract

func (b *Sandbox) transactionOperations() []operation {
	return []operation{
		{id: "POST /transactions", handle: b.createTransaction},
		{id: "GET /transactions", query: []string{"supplierBusinessCode"}, handle: b.recentTransactions},
		{id: "GET /transactions/for-reference-number", query: paged("referenceNumber"), handle: b.transactionsByReference},
		{id: "GET /transactions/{receiptNumber}", handle: shown("transaction", b.visibleTransaction, b.transactionBody)},
		{id: "POST /transactions/{receiptNumber}/void", handle: found("transaction", b.namedTransaction, b.voidTransaction)},
	}
}

// transaction is the facility's record of a transaction.
type transaction struct {
	receipt           string
	kind              string // transactionType
	shop              *business
	source            instrument
	account           *account // if a kept account was used
	principal         cents
	surcharge         cents
	currency          string
	customerReference string
	paymentReference  string
	endToEndID        string
	remittance        string
	comment           string
	metadata          map[string]string
	ip                string
	debtRepayment     bool
	originalReceipt   string
	idempotencyKey    string
	created           time.Time
	settlement        string
	authorisationType string
	cancellationType  string
	via               string         // source code, if it was not made by this API
	followUps         []*transaction // transactions against this one, oldest first
	retries           *transaction   // the payment that this retries
	attempts          []*transaction // retries of this payment, oldest first
	changed           time.Time      // when the result last changed
	before            *transaction   // as it was before that
	outdated          bool           // it is the state before of another
	returned          time.Time      // when the customer's bank returned it

	result result
	code   string
	steps  int // number of changes of result
}

func (tx *transaction) total() cents { return tx.principal + tx.surcharge }

type transactionStore struct {
	byReceipt   map[string]*transaction
	byReference map[string][]*transaction // by all references, in lower case
	ordered     []*transaction            // oldest first
	older       map[string]*transaction   // older transactions, by the reference in lower case
}

func newTransactionStore() transactionStore {
	return transactionStore{byReceipt: make(map[string]*transaction), byReference: make(map[string][]*transaction), older: make(map[string]*transaction)}
}

func (s *transactionStore) add(tx *transaction) {
	s.byReceipt[tx.receipt] = tx
	s.ordered = append(s.ordered, tx)
	references := []string{tx.receipt, tx.customerReference, tx.paymentReference, tx.endToEndID}
	for i, reference := range references {
		references[i] = strings.ToLower(reference)
	}
	slices.Sort(references)
	for _, reference := range slices.Compact(references) {
		s.byReference[reference] = append(s.byReference[reference], tx)
	}
}

// commit records a transaction. The caller holds mu.
func (b *Sandbox) commit(tx *transaction, o Outcome) {
	tx.receipt = newID(b.ids, b.transactions.byReceipt, 10)
	tx.settlement = b.settlementDate(tx.created)
	b.transactions.add(tx)
	b.settle(tx, o)
}

// visible reports whether reads find a transaction yet.
func (b *Sandbox) visible(tx *transaction, now time.Time) bool {
	return !now.Before(tx.created.Add(b.assume.LookupLag))
}

// visibleTransactions returns the transactions that reads find, newest first.
func (b *Sandbox) visibleTransactions(now time.Time, want func(*transaction) bool) []*transaction {
	return b.visibleOf(b.transactions.ordered, now, want)
}

func (b *Sandbox) visibleOf(all []*transaction, now time.Time, want func(*transaction) bool) []*transaction {
	var found []*transaction
	for _, tx := range slices.Backward(all) {
		if b.visible(tx, now) && want(tx) {
			found = append(found, tx)
		}
	}
	return found
}

// receiptOf names a transaction on the pages of a list.
func receiptOf(tx *transaction) string {
	if tx.outdated {
		return tx.receipt + " before"
	}
	return tx.receipt
}

func (b *Sandbox) namedTransaction(c *call) *transaction {
	return b.transactions.byReceipt[c.params["receiptNumber"]]
}

func (b *Sandbox) visibleTransaction(c *call) *transaction {
	if tx := b.namedTransaction(c); tx != nil && b.visible(tx, c.now) {
		return tx
	}
	return nil
}

// recentTransactions is the one list with a limit in place of pages.
func (b *Sandbox) recentTransactions(c *call) answer {
	q := c.parameters()
	code := q.text("supplierBusinessCode", b.knownBusiness)
	if !q.valid() {
		return c.invalid()
	}
	today := b.settlementDate(c.now)
	found := b.visibleTransactions(c.now, func(tx *transaction) bool {
		return tx.settlement == today && (code == "" || tx.shop.code == code)
	})
	links := c.related(get("self", c.href("transactions")))
	return reply(http.StatusOK, listBody{Links: links, Data: bodies(c, found[:min(len(found), recentLimit)], b.transactionBody)})
}

// settlementDate returns the settlement date of a transaction made at t.
func (b *Sandbox) settlementDate(t time.Time) string {
	return calendar.Settlement{CutOffHour: b.assume.CutOffHour, Late: b.assume.LateSettlementDate, Days: b.assume.SettlementDays}.Date(t.Add(b.skew()))
}

// transactionBody is the Transaction Response Model, with other members that public client
// code names.
type transactionBody struct {
	Links                   []form.Link          `json:"links"`
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

// keptBody has the common members of the accounts of transactions. Token and customer are
// null if the account is not kept.
type keptBody struct {
	Links          []form.Link `json:"links"`
	AccountType    string      `json:"accountType"`
	AccountToken   *string     `json:"accountToken"`
	CustomerID     *string     `json:"customerId"`
	DefaultAccount bool        `json:"defaultAccount"`
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

// The merchant's own accounts are the same for all businesses.
const (
	merchantBSB     = "032-000"
	merchantAccount = "000001"
)

// created answers with a new transaction.
func (b *Sandbox) created(c *call, tx *transaction) answer {
	a := reply(http.StatusCreated, b.transactionBody(c, tx))
	if b.assume.Location == "created" {
		a = a.with("Location", c.href("transactions", tx.receipt))
	}
	return a
}

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
		SettlementDate: tx.settlement, TransactionTime: b.transactionTime(tx),
		Voidable: voidable, Refundable: refundable,
		PrincipalAmount: amountOf(tx.currency, principal),
		SurchargeAmount: amountOf(tx.currency, surcharge),
		TotalAmount:     amountOf(tx.currency, principal+surcharge),
		IPAddress:       optional(tx.ip), DebtRepayment: tx.debtRepayment,
		SupplierBusinessCode: tx.shop.code, Metadata: tx.metadata,
	}
	if tx.ip != "" { // otherwise there is nothing to screen
		body.FraudGuardResult = optional("OK")
		if tx.result == resultSuspended {
			body.FraudGuardResult = optional("SUSPENDED")
		}
	}
	b.addAccounts(c, tx, &body)
	return body
}

func (b *Sandbox) transactionTime(tx *transaction) string {
	if b.assume.TransactionTimes == "changed" {
		return b.timestamp(tx.changed)
	}
	return b.timestamp(tx.created)
}

// addAccounts sets the accounts of the payer and the merchant.
func (b *Sandbox) addAccounts(c *call, tx *transaction, body *transactionBody) {
	kept := keptBody{Links: c.links(), AccountType: tx.source.accountType()}
	if a := tx.account; a != nil {
		kept.AccountToken, kept.CustomerID, kept.DefaultAccount = &a.token, optional(a.customer.ID), a.isDefault
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
			tokenBankBody: *bankBody(a),
			DisplayName:   maskedAccount(a.bsb, a.number), Currency: tx.currency,
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

// sourceOf returns the source code of a transaction.
func (b *Sandbox) sourceOf(tx *transaction) string {
	if tx.via != "" {
		return tx.via
	}
	return b.addedValue("RESTAPI2", sourceREST)
}

const sourceREST = "RESTAPI"
