package sandbox

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
)

const recentLimit = 20 // as stated in the contract

type transaction struct {
	Entry         // without its amounts, its outcome and its agreement
	shop          *business
	source        instrument
	account       *account // if a kept account was used
	principal     cents
	surcharge     cents
	remittance    string
	comment       string
	ip            string
	debtRepayment bool
	settlement    string
	via           string         // source code, if it was not made by this API
	followUps     []*transaction // transactions against this one, oldest first
	retries       *transaction   // the payment that this retries
	attempts      []*transaction // retries of this payment, oldest first
	returned      time.Time      // when the customer's bank returned it
	answered      bool           // the answer to its request has arrived

	result result
	code   string
	steps  int // number of changes of result
}

func (tx *transaction) total() cents { return tx.principal + tx.surcharge }

// commit records a transaction. The caller holds mu.
func (b *Sandbox) commit(tx *transaction, o Outcome) {
	tx.ReceiptNumber = newID(b.ids, b.transactions.byID, 10)
	tx.settlement = b.settlementDate(tx.Time)
	b.transactions.add(tx.ReceiptNumber, tx)
	references := []string{tx.ReceiptNumber, tx.CustomerReferenceNumber, tx.PaymentReferenceNumber, tx.EndToEndID}
	for i, reference := range references {
		references[i] = strings.ToLower(reference)
	}
	slices.Sort(references)
	for _, reference := range slices.Compact(references) {
		b.byReference[reference] = append(b.byReference[reference], tx)
	}
	b.settle(tx, o)
}

// visible reports whether reads already find an object that was created at a time.
func (b *Sandbox) visible(created, now time.Time) bool {
	return !now.Before(created.Add(b.assume.LookupLag))
}

func (b *Sandbox) visibleTransactions(now time.Time, want func(*transaction) bool) []*transaction {
	return b.visibleOf(b.transactions.ordered, now, want)
}

func (b *Sandbox) visibleOf(all []*transaction, now time.Time, want func(*transaction) bool) []*transaction {
	var found []*transaction
	for _, tx := range slices.Backward(all) {
		if b.visible(tx.Time, now) && want(tx) {
			found = append(found, tx)
		}
	}
	return found
}

func (b *Sandbox) visibleTransaction(c *call) *transaction {
	if tx := b.transactions.byID[c.params["receiptNumber"]]; tx != nil && b.visible(tx.Time, c.now) {
		return tx
	}
	return nil
}

// recentTransactions lists the current settlement date, with a limit in place of pages.
func (b *Sandbox) recentTransactions(c *call) answer {
	today := b.settlementDate(c.now)
	found := b.visibleTransactions(c.now, func(tx *transaction) bool { return tx.settlement == today && tx.soldBy(c.query) })
	return listOf(c, found[:min(len(found), recentLimit)], b.transactionBody)
}

func (b *Sandbox) settlementDate(t time.Time) string {
	day := calendar.Sydney(t.Add(b.assume.ClockSkew))
	if day.Hour() >= b.assume.CutOffHour {
		day = day.AddDate(0, 0, 1)
	}
	for b.assume.SettlementDays == "weekdays" && (day.Weekday() == time.Saturday || day.Weekday() == time.Sunday) {
		day = day.AddDate(0, 0, 1)
	}
	return day.Format(time.DateOnly)
}

// The merchant's own accounts are the same for all businesses.
const (
	merchantBSB     = "032-000"
	merchantAccount = "000001"
)

// transactionBody is the Transaction Response Model, with other members that public client code
// names.
func (b *Sandbox) transactionBody(c *call, tx *transaction) object {
	voidable, refundable := b.reversible(tx, c.now)
	customerReference, paymentReference := tx.CustomerReferenceNumber, tx.PaymentReferenceNumber
	if c.isRead() {
		customerReference, paymentReference = b.shownReferences(tx)
	}
	body := object{
		"links": c.links(), "receiptNumber": tx.ReceiptNumber, "transactionType": tx.Type, "originalReceiptNumber": optional(tx.OriginalReceiptNumber),
		"authorisationType": optional(tx.AuthorisationType), "cancellationType": optional(tx.CancellationType),
		"responseCode": tx.code, "responseDescription": describe(tx), "summaryCode": b.summaryCode(tx),
		"merchantAdviceCode": nil, "fraudGuardResult": nil,
		"authorisationCode": tx.authorisationCode(), "authorisationTraceId": nil, "networkTransactionId": nil,
		"customerReferenceNumber": b.echoed(customerReference), "paymentReferenceNumber": b.echoed(paymentReference),
		"comment": optional(tx.comment), "source": b.sourceOf(tx),
		"settlementDate": tx.settlement, "transactionTime": b.timestamp(tx.Time),
		"refundable": refundable, "voidable": voidable,
		"principalAmount": amountOf(tx.Currency, tx.principal),
		"surchargeAmount": amountOf(tx.Currency, tx.surcharge),
		"totalAmount":     amountOf(tx.Currency, tx.total()),
		"ipAddress":       optional(tx.ip), "debtRepayment": tx.debtRepayment,
		"supplierBusinessCode": tx.shop.code, "metadata": b.shownMetadata(tx),
		"merchantAccount": nil, "directEntryAccount": nil, "nzDirectEntryAccount": nil,
		"creditCard": nil, "bankAccount": nil, "nzBankAccount": nil,
		"payToData": nil, "payToPayeeAccount": nil, "payToPayerAccount": nil,
		"merchantName": nil, "merchantStreetAddress": nil, "merchantLocation": nil, "merchantState": nil,
		"merchantCountry": nil, "merchantPostCode": nil, "subMerchantId": nil,
	}
	if status := b.shownStatus(tx); status != "" {
		body["status"] = status
	}
	if tx.result == resultSuspended {
		body["fraudGuardResult"] = "SUSPENDED"
	}
	b.addAccounts(c, tx, body)
	return body
}

// addAccounts sets the accounts of the payer and the merchant. Token and customer are null if the
// payer's account is not kept.
func (b *Sandbox) addAccounts(c *call, tx *transaction, body object) {
	payer := object{"links": c.links(), "accountType": tx.source.accountType(), "accountToken": nil, "customerId": nil, "defaultAccount": false}
	if a := tx.account; a != nil {
		payer["accountToken"], payer["customerId"], payer["defaultAccount"] = a.token, optional(a.customer.id), a.isDefault()
	}
	tx.source.describe(payer, tx.shop, tx.Currency)
	switch {
	case tx.source.payTo != nil:
		b.addPayTo(tx, body)
	case tx.source.card != nil:
		body["creditCard"] = payer
		if scheme := tx.source.card.scheme; tx.result == resultApproved && (scheme == schemeVisa || scheme == schemeMastercard) {
			body["networkTransactionId"] = "00000" + tx.ReceiptNumber
		}
		body["merchantAccount"] = object{
			"merchantId": merchantID(tx), "merchantName": tx.shop.name,
			"displayName":   tx.shop.name + " " + merchantBSB + " " + merchantAccount + " (" + merchantID(tx) + ")",
			"settlementBsb": merchantBSB, "settlementAccountNumber": merchantAccount,
			"settlementSurchargeBsb": nil, "settlementSurchargeAccountNumber": nil,
			"acquiringInstitution": "WBC", "currency": tx.Currency,
		}
	case tx.source.bank != nil:
		body["bankAccount"] = payer
		body["directEntryAccount"] = object{
			"displayName": tx.shop.name, "currency": tx.Currency, "directEntryUserId": "000001", "directEntryUserName": tx.shop.name,
			"accountName": tx.shop.name, "settlementBsb": merchantBSB, "settlementAccountNumber": merchantAccount, "remitterName": tx.shop.name,
		}
	default:
		body["nzBankAccount"] = payer
		body["nzDirectEntryAccount"] = object{
			"displayName": tx.shop.name, "currency": tx.Currency, "debitUserId": "000001", "nzAccountName": tx.shop.name,
			"nzBankCode": "03", "nzBranchCode": "0000", "nzAccountNumber": "0000001", "nzAccountSuffix": "00",
		}
	}
}

func (b *Sandbox) sourceOf(tx *transaction) string {
	if tx.via != "" {
		return tx.via
	}
	return b.addedValue("RESTAPI2", sourceREST)
}

const sourceREST = "RESTAPI"

// listed answers with the visible transactions that match the query, newest first. If none match it may
// answer that there is no such what. what is empty for lists whose 404 the contract does not name.
func (b *Sandbox) listed(what string) func(*call) answer {
	return func(c *call) answer {
		return b.pagesOrNotFound(c, what, b.visibleTransactions(c.now, func(tx *transaction) bool { return tx.matches(c.op.id, c.query) }))
	}
}

// matches reports whether a transaction belongs to a list.
func (tx *transaction) matches(list string, q url.Values) bool {
	card, bank, nz := tx.source.card, tx.source.bank, tx.source.nz
	switch list {
	case "GET /transactions/for-settlement-date":
		return tx.settlement == q.Get("settlementDate")
	case "GET /transactions/for-account-token":
		return tx.account != nil && tx.account.token == q.Get(sourceAccount)
	case "GET /transactions/for-credit-card":
		return card != nil && strings.HasPrefix(card.number, q.Get("firstSix")) && strings.HasSuffix(card.number, q.Get("lastThree"))
	case "GET /transactions/for-bank-account":
		return bank != nil && bank.bsb == strings.Replace(q.Get("bsb"), "-", "", 1) && bank.number == q.Get("accountNumber")
	case "GET /transactions/for-nz-bank-account":
		return nz != nil && nz.bank == q.Get("bankCode") && nz.branch == q.Get("branchCode") && nz.number == q.Get("accountNumber")
	case "GET /transactions/suspended":
		return tx.result == resultSuspended && tx.soldBy(q) && monthOf(tx.Time) == q.Get("month")
	default: // returns
		return !tx.returned.IsZero() && calendar.Sydney(tx.returned).Format(time.DateOnly) == q.Get("date") && tx.soldBy(q)
	}
}

// soldBy reports whether a transaction is of the business that a query names, if it names one.
func (tx *transaction) soldBy(q url.Values) bool {
	code := q.Get("supplierBusinessCode")
	return code == "" || tx.shop.code == code
}

func (b *Sandbox) pagesOf(c *call, found []*transaction) answer {
	return list(c, found, b.transactionBody)
}

func (b *Sandbox) pagesOrNotFound(c *call, what string, found []*transaction) answer {
	if what != "" && b.assume.NothingFound == "404" && len(found) == 0 {
		return c.notFound(what)
	}
	return b.pagesOf(c, found)
}

func (b *Sandbox) transactionsOfCustomer(c *call, cust *customer) answer {
	return b.pagesOf(c, b.visibleTransactions(c.now, func(tx *transaction) bool {
		return tx.account != nil && tx.account.customer == cust || tx.source.payTo != nil && tx.source.payTo.customer == cust ||
			cust.number != "" && strings.EqualFold(tx.CustomerReferenceNumber, cust.number)
	}))
}

func monthOf(t time.Time) string { return calendar.Sydney(t).Format(monthLayout) }

// recentMonth refuses months before the last six, in Sydney.
func (b *Sandbox) recentMonth(month string) string {
	today := calendar.Sydney(b.clock.Now())
	if month < time.Date(today.Year(), today.Month()-6, 1, 0, 0, 0, 0, time.UTC).Format(monthLayout) {
		return "must be one of the last six months"
	}
	return ""
}

// openPreauths is not paginated.
func (b *Sandbox) openPreauths(c *call) answer {
	return listOf(c, b.visibleTransactions(c.now, func(tx *transaction) bool {
		return monthOf(tx.Time) == c.query.Get("month") && tx.soldBy(c.query) && b.openPreauth(tx, c.now)
	}), b.transactionBody)
}

// openPreauth reports whether a transaction is a pre-authorisation or a re-authorisation that can be captured.
func (b *Sandbox) openPreauth(tx *transaction, now time.Time) bool {
	if tx.Type != typePreauth || tx.result != resultApproved {
		return false
	}
	original := tx
	if tx.AuthorisationType != "" {
		original = b.transactions.byID[tx.OriginalReceiptNumber]
	}
	h := b.holdOf(original)
	return h.current == tx && h.open(now)
}

func (b *Sandbox) followUpsOf(want func(*transaction) bool) func(*call) answer {
	return found("transaction", b.visibleTransaction, func(c *call, tx *transaction) answer {
		return b.pagesOf(c, b.visibleOf(tx.followUps, c.now, want))
	})
}

// shownReferences returns the references of a transaction in reads: see FollowUpReferences.
func (b *Sandbox) shownReferences(tx *transaction) (customer, payment string) {
	original := b.transactions.byID[tx.OriginalReceiptNumber]
	switch form := b.assume.FollowUpReferences; {
	case form == "own" || original == nil || tx.Type == typePayment:
		return tx.CustomerReferenceNumber, tx.PaymentReferenceNumber
	case form == "original":
		return b.shownReferences(original)
	default:
		return "", ""
	}
}

func (b *Sandbox) transactionsByReference(c *call) answer {
	ref := c.query.Get("referenceNumber")
	all := b.byReference[strings.ToLower(ref)]
	if b.assume.ReferenceSearch != "anyCase" || b.assume.FollowUpReferences != "own" {
		all = b.transactions.ordered
	}
	return b.pagesOrNotFound(c, "reference number", b.visibleOf(all, c.now, func(tx *transaction) bool { return b.answersTo(tx, ref) }))
}

func (b *Sandbox) answersTo(tx *transaction, ref string) bool {
	customer, payment := b.shownReferences(tx)
	return slices.ContainsFunc([]string{tx.ReceiptNumber, customer, payment, tx.EndToEndID}, func(own string) bool {
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
