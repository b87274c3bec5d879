package sandbox

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
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
	returned          time.Time      // when the customer's bank returned it
	answered          bool           // the answer to its request has arrived

	result result
	code   string
	steps  int // number of changes of result
}

func (tx *transaction) total() cents { return tx.principal + tx.surcharge }

type transactionStore struct {
	byReceipt   map[string]*transaction
	byReference map[string][]*transaction // by all references, in lower case
	ordered     []*transaction            // oldest first
}

func newTransactionStore() transactionStore {
	return transactionStore{byReceipt: make(map[string]*transaction), byReference: make(map[string][]*transaction)}
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
func receiptOf(tx *transaction) string { return tx.receipt }

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
	links := c.links()
	return reply(http.StatusOK, listBody{Links: links, Data: bodies(c, found[:min(len(found), recentLimit)], b.transactionBody)})
}

// settlementDate returns the settlement date of a transaction made at t.
func (b *Sandbox) settlementDate(t time.Time) string {
	return calendar.Settlement{CutOffHour: b.assume.CutOffHour, Days: b.assume.SettlementDays}.Date(t.Add(b.assume.ClockSkew))
}

// transactionBody is the Transaction Response Model, with other members that public client
// code names.
type transactionBody struct {
	Links                   []link               `json:"links"`
	ReceiptNumber           string               `json:"receiptNumber"`
	TransactionType         string               `json:"transactionType"`
	AuthorisationType       *string              `json:"authorisationType"`
	CancellationType        *string              `json:"cancellationType"`
	OriginalReceiptNumber   *string              `json:"originalReceiptNumber"`
	Status                  string               `json:"status,omitempty"`
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

// The merchant's own accounts are the same for all businesses.
const (
	merchantBSB     = "032-000"
	merchantAccount = "000001"
)

func (b *Sandbox) transactionBody(c *call, tx *transaction) transactionBody {
	voidable, refundable := b.reversible(tx, c.now)
	customerReference, paymentReference := tx.customerReference, tx.paymentReference
	if c.isRead() {
		customerReference, paymentReference = b.shownReferences(tx)
	}
	body := transactionBody{
		Links:         c.links(),
		ReceiptNumber: tx.receipt, TransactionType: tx.kind, OriginalReceiptNumber: optional(tx.originalReceipt),
		AuthorisationType: optional(tx.authorisationType), CancellationType: optional(tx.cancellationType), AuthorisationCode: tx.authorisationCode(),
		Status: b.shownStatus(tx), ResponseCode: tx.code, ResponseDescription: describe(tx), SummaryCode: b.summaryCode(tx),
		CustomerReferenceNumber: b.echoed(customerReference), PaymentReferenceNumber: b.echoed(paymentReference),
		Comment: optional(tx.comment), Source: b.sourceOf(tx),
		SettlementDate: tx.settlement, TransactionTime: b.timestamp(tx.created),
		Voidable: voidable, Refundable: refundable,
		PrincipalAmount: amountOf(tx.currency, tx.principal),
		SurchargeAmount: amountOf(tx.currency, tx.surcharge),
		TotalAmount:     amountOf(tx.currency, tx.total()),
		IPAddress:       optional(tx.ip), DebtRepayment: tx.debtRepayment,
		SupplierBusinessCode: tx.shop.code, Metadata: b.shownMetadata(tx),
	}
	if tx.result == resultSuspended {
		body.FraudGuardResult = optional("SUSPENDED")
	}
	b.addAccounts(c, tx, &body)
	return body
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
			MerchantID: merchantID(tx), MerchantName: tx.shop.name,
			DisplayName:   tx.shop.name + " " + merchantBSB + " " + merchantAccount + " (" + merchantID(tx) + ")",
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

func (b *Sandbox) transactionLists() []operation {
	return []operation{
		{id: "GET /transactions/for-settlement-date", query: paged("settlementDate"), handle: b.transactionsBySettlementDate},
		{id: "GET /transactions/for-account-token", query: paged(sourceAccount), handle: b.transactionsByAccountToken},
		{id: "GET /transactions/for-credit-card", query: paged("firstSix", "lastThree"), handle: b.transactionsByCard},
		{id: "GET /transactions/for-bank-account", query: paged("bsb", "accountNumber"), handle: b.transactionsByBankAccount},
		{id: "GET /transactions/for-nz-bank-account", query: paged("bankCode", "branchCode", "accountNumber"), handle: b.transactionsByNZBankAccount},
		{id: "GET /transactions/suspended", query: paged("supplierBusinessCode", "month"), handle: b.suspendedTransactions},
		{id: "GET /transactions/returns", query: paged("date", "supplierBusinessCode"), handle: b.returnedTransactions},
		{id: "GET /transactions/open-preauths", query: []string{"month", "supplierBusinessCode"}, handle: b.openPreauths},
		{id: "GET /customers/{customerId}/transactions", query: paged(), handle: found("customer", b.namedCustomer, b.transactionsOfCustomer)},
		{id: "GET /transactions/{receiptNumber}/refunds", query: paged(), handle: b.followUpsOf(func(tx *transaction) bool { return tx.kind == typeRefund })},
		{id: "GET /transactions/{receiptNumber}/retries", query: paged(), handle: b.followUpsOf(func(tx *transaction) bool { return tx.retries != nil })},
	}
}

// pages answers with the visible transactions that are wanted, newest first.
func (b *Sandbox) pages(c *call, want func(*transaction) bool) answer {
	return b.pagesOf(c, b.visibleTransactions(c.now, want))
}

func (b *Sandbox) pagesOf(c *call, found []*transaction) answer {
	return list(c, found, receiptOf, b.transactionBody)
}

// pagesOrNotFound is for the lists that can answer 404.
func (b *Sandbox) pagesOrNotFound(c *call, what string, found []*transaction) answer {
	if b.assume.NothingFound == "404" && len(found) == 0 {
		return c.notFound(what)
	}
	return b.pagesOf(c, found)
}

func (b *Sandbox) transactionsBySettlementDate(c *call) answer {
	q := c.parameters()
	date := q.need("settlementDate", dateForm)
	if !q.valid() {
		return c.invalid()
	}
	found := b.visibleTransactions(c.now, func(tx *transaction) bool { return tx.settlement == date })
	return b.pagesOrNotFound(c, "settlement date", found)
}

func (b *Sandbox) transactionsByAccountToken(c *call) answer {
	q := c.parameters()
	token := q.need(sourceAccount, ascii)
	if !q.valid() {
		return c.invalid()
	}
	found := b.visibleTransactions(c.now, func(tx *transaction) bool { return tx.account != nil && tx.account.token == token })
	return b.pagesOrNotFound(c, "account token", found)
}

// transactionsOfCustomer lists what was paid from a customer's accounts and agreements. The vendor's
// pages have the list; its path is unconfirmed.
func (b *Sandbox) transactionsOfCustomer(c *call, cust *customer) answer {
	return b.pages(c, func(tx *transaction) bool {
		return tx.account != nil && tx.account.customer == cust || tx.source.payTo != nil && tx.source.payTo.customer == cust
	})
}

func (b *Sandbox) transactionsByCard(c *call) answer {
	q := c.parameters()
	first, last := q.need("firstSix", digits(6, 6)), q.need("lastThree", digits(3, 3))
	if !q.valid() {
		return c.invalid()
	}
	return b.pages(c, func(tx *transaction) bool {
		cd := tx.source.card
		return cd != nil && strings.HasPrefix(cd.number, first) && strings.HasSuffix(cd.number, last)
	})
}

func (b *Sandbox) transactionsByBankAccount(c *call) answer {
	q := c.parameters()
	bsb := strings.Replace(q.need("bsb", b.bsb), "-", "", 1)
	number := q.need("accountNumber", digits(6, 9))
	if !q.valid() {
		return c.invalid()
	}
	return b.pages(c, func(tx *transaction) bool {
		a := tx.source.bank
		return a != nil && a.bsb == bsb && a.number == number
	})
}

func (b *Sandbox) transactionsByNZBankAccount(c *call) answer {
	q := c.parameters()
	bank, branch := q.need("bankCode", digits(2, 2)), q.need("branchCode", digits(4, 4))
	number := q.need("accountNumber", digits(7, 8))
	if !q.valid() {
		return c.invalid()
	}
	return b.pages(c, func(tx *transaction) bool {
		a := tx.source.nz
		return a != nil && a.bank == bank && a.branch == branch && a.number == number
	})
}

// suspendedTransactions answers 404 and not 422 if a filter is not valid, as the contract
// lists.
func (b *Sandbox) suspendedTransactions(c *call) answer {
	q := c.parameters()
	code := q.need("supplierBusinessCode", b.knownBusiness)
	month := q.need("month", monthForm, func(s string) string { return recentMonth(s, c.now) })
	if !q.valid() {
		return c.notFound("business or month")
	}
	return b.pages(c, func(tx *transaction) bool {
		return tx.result == resultSuspended && tx.shop.code == code && monthOf(tx.created) == month
	})
}

func monthOf(t time.Time) string { return calendar.Sydney(t).Format(monthLayout) }

// recentMonth refuses months before the last six, in Sydney.
func recentMonth(month string, now time.Time) string {
	today := calendar.Sydney(now)
	first := time.Date(today.Year(), today.Month()-6, 1, 0, 0, 0, 0, time.UTC).Format(monthLayout)
	if month < first {
		return "must be one of the last six months"
	}
	return ""
}

func (b *Sandbox) returnedTransactions(c *call) answer {
	q := c.parameters()
	date := q.need("date", dateForm)
	code := q.text("supplierBusinessCode", b.knownBusiness)
	if !q.valid() {
		return c.notFound("date or business")
	}
	return b.pages(c, func(tx *transaction) bool {
		return !tx.returned.IsZero() && calendar.Sydney(tx.returned).Format(time.DateOnly) == date && (code == "" || tx.shop.code == code)
	})
}

// openPreauths is not paginated.
func (b *Sandbox) openPreauths(c *call) answer {
	q := c.parameters()
	month := q.need("month", monthForm)
	code := q.text("supplierBusinessCode", b.knownBusiness)
	if !q.valid() {
		return c.invalid()
	}
	found := b.visibleTransactions(c.now, func(tx *transaction) bool {
		return monthOf(tx.created) == month && (code == "" || tx.shop.code == code) && b.openPreauth(tx, c.now)
	})
	links := c.links()
	return reply(http.StatusOK, listBody{Links: links, Data: bodies(c, found, b.transactionBody)})
}

// openPreauth reports a pre-authorisation or a re-authorisation that can be captured.
func (b *Sandbox) openPreauth(tx *transaction, now time.Time) bool {
	if tx.kind != typePreauth || tx.result != resultApproved {
		return false
	}
	original := tx
	if tx.authorisationType != "" {
		original = b.transactions.byReceipt[tx.originalReceipt]
	}
	h := b.holdOf(original)
	return h.current == tx && h.open(now)
}

// followUpsOf lists the transactions against one transaction.
func (b *Sandbox) followUpsOf(want func(*transaction) bool) func(*call) answer {
	return found("transaction", b.visibleTransaction, func(c *call, tx *transaction) answer {
		return b.pagesOf(c, b.visibleOf(tx.followUps, c.now, want))
	})
}

// shownReferences returns the references of a transaction in reads: see FollowUpReferences.
func (b *Sandbox) shownReferences(tx *transaction) (customer, payment string) {
	original := b.transactions.byReceipt[tx.originalReceipt]
	switch form := b.assume.FollowUpReferences; {
	case form == "own" || original == nil || tx.kind == typePayment:
		return tx.customerReference, tx.paymentReference
	case form == "original":
		return b.shownReferences(original)
	default:
		return "", ""
	}
}

func (b *Sandbox) transactionsByReference(c *call) answer {
	q := c.parameters()
	ref := q.need("referenceNumber", ascii)
	if !q.valid() {
		return c.invalid()
	}
	all := b.transactions.byReference[strings.ToLower(ref)]
	if b.assume.ReferenceSearch != "anyCase" || b.assume.FollowUpReferences != "own" {
		all = b.transactions.ordered
	}
	return b.pagesOrNotFound(c, "reference number", b.visibleOf(all, c.now, func(tx *transaction) bool { return b.answersTo(tx, ref) }))
}

func (b *Sandbox) answersTo(tx *transaction, ref string) bool {
	customer, payment := b.shownReferences(tx)
	return slices.ContainsFunc([]string{tx.receipt, customer, payment, tx.endToEndID}, func(own string) bool {
		switch b.assume.ReferenceSearch {
		case "exact":
			return own == ref
		case "prefix":
			return strings.HasPrefix(strings.ToLower(own), strings.ToLower(ref))
		default:
			return strings.EqualFold(own, ref)
		}
	})
}
