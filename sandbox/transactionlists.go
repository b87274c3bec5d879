package sandbox

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
)

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
		{id: "GET /transactions/{receiptNumber}/refunds", query: paged(), handle: b.followUpsOf(func(tx *transaction) bool { return tx.kind == typeRefund })},
		{id: "GET /transactions/{receiptNumber}/retries", query: paged(), handle: b.followUpsOf(func(tx *transaction) bool { return tx.retries != nil })},
	}
}

// pages answers with the visible transactions that are wanted, newest first.
func (b *Sandbox) pages(c *call, want func(*transaction) bool) answer {
	return b.pagesOf(c, b.visibleTransactions(c.now, want))
}

func (b *Sandbox) pagesOf(c *call, found []*transaction) answer {
	return list(c, b.repeated(found), receiptOf, b.transactionBody)
}

// repeated adds the state before to what has changed: see RepeatedReceipts.
func (b *Sandbox) repeated(found []*transaction) []*transaction {
	if b.assume.RepeatedReceipts == "none" {
		return found
	}
	var all []*transaction
	for _, tx := range found {
		switch {
		case tx.before == nil:
			all = append(all, tx)
		case b.assume.RepeatedReceipts == "olderFirst":
			all = append(all, tx.before, tx)
		default:
			all = append(all, tx, tx.before)
		}
	}
	return all
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
	links := c.related(get("self", c.href("transactions", "open-preauths")))
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

// references returns the references by which reads find a transaction.
func (b *Sandbox) references(tx *transaction) []string {
	customer, payment := b.shownReferences(tx)
	return []string{tx.receipt, customer, payment, tx.endToEndID}
}

// shownReferences returns the references of a transaction in reads: see RefundReferences,
// FollowUpReferences and StoredReferences.
func (b *Sandbox) shownReferences(tx *transaction) (customer, payment string) {
	form, original := "own", b.transactions.byReceipt[tx.originalReceipt]
	switch {
	case tx.kind == typeRefund:
		form = b.assume.RefundReferences
	case tx.originalReceipt != "" && tx.kind != typePayment:
		form = b.assume.FollowUpReferences
	}
	switch {
	case form == "original" && original != nil:
		return b.shownReferences(original)
	case form != "own":
		return "", ""
	}
	return b.storedReference(tx.customerReference), b.storedReference(tx.paymentReference)
}

func (b *Sandbox) storedReference(reference string) string {
	switch b.assume.StoredReferences {
	case "lower":
		return strings.ToLower(reference)
	case "upper":
		return strings.ToUpper(reference)
	case "trimmed":
		return strings.TrimSpace(reference)
	default:
		return reference
	}
}

func (b *Sandbox) transactionsByReference(c *call) answer {
	q := c.parameters()
	ref := q.need("referenceNumber", ascii)
	if !q.valid() {
		return c.invalid()
	}
	all := b.transactions.byReference[strings.ToLower(ref)]
	if a := b.assume; a.ReferenceSearch != "anyCase" || a.StoredReferences != "sent" || a.RefundReferences != "own" || a.FollowUpReferences != "own" {
		all = b.transactions.ordered
	}
	found := b.visibleOf(all, c.now, func(tx *transaction) bool { return b.answersTo(tx, ref) })
	if older := b.olderUse(ref, c.now); older != nil {
		found = append(found, older)
	}
	return b.pagesOrNotFound(c, "reference number", found)
}

func (b *Sandbox) answersTo(tx *transaction, ref string) bool {
	return slices.ContainsFunc(b.references(tx), func(own string) bool {
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

// drawnReference matches a random reference: 26 letters and digits of base32.
var drawnReference = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// olderUse returns the transaction of a month ago with the same reference, if
// ReusedReferences has one. It is not in the ledger. It resembles the first current
// transaction with the reference. A random reference was never used before. The caller holds
// mu.
func (b *Sandbox) olderUse(ref string, now time.Time) *transaction {
	key := strings.ToLower(ref)
	if b.assume.ReusedReferences == "none" || b.transactions.byReceipt[ref] != nil || drawnReference.MatchString(ref) {
		return nil
	}
	if older := b.transactions.older[key]; older != nil {
		return older
	}
	older := &transaction{
		kind: typePayment, shop: b.businesses[0], principal: 1000, currency: "AUD", paymentReference: ref,
		source: instrument{card: &card{number: "4242424242424242", scheme: schemeVisa, cardType: cardCredit, month: "02", year: "2035"}},
	}
	if first := b.transactions.byReference[key]; len(first) > 0 {
		like := *first[0]
		older = &like
		older.followUps, older.attempts, older.retries, older.before, older.idempotencyKey = nil, nil, nil, nil, ""
	}
	older.metadata = b.requests.metadata() // of the same merchant, with other values
	for name := range older.metadata {
		older.metadata[name] = "older"
	}
	older.result, older.code = resultDeclined, "51"
	if b.assume.ReusedReferences == "approved" {
		older.result, older.code = resultApproved, "08"
	}
	older.receipt = newID(b.ids, b.transactions.byReceipt, 10)
	older.created = now.AddDate(0, -1, 0)
	older.settlement = b.settlementDate(older.created)
	if older.changed.IsZero() { // otherwise when that of the current one did
		older.changed = now
	}
	b.transactions.byReceipt[older.receipt] = older
	b.transactions.older[key] = older
	return older
}

// shownPrincipal returns the amount of a transaction in answers.
func (b *Sandbox) shownPrincipal(tx *transaction) cents {
	isChange := tx.kind == typePreauth && tx.authorisationType != "" || tx.kind == typeCancellation
	original := b.transactions.byReceipt[tx.originalReceipt]
	switch {
	case !isChange || original == nil || b.assume.FollowUpAmounts == "sent":
		return tx.principal
	case b.assume.FollowUpAmounts == "zero":
		return 0
	default:
		return b.holdOf(original).amount
	}
}
