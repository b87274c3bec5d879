package sandbox

import (
	"net/http"
	"strings"
	"time"
)

func (b *Sandbox) transactionLists() []operation {
	return []operation{
		{id: "GET /transactions/for-settlement-date", handle: b.transactionsBySettlementDate},
		{id: "GET /transactions/for-account-token", handle: b.transactionsByAccountToken},
		{id: "GET /transactions/for-credit-card", handle: b.transactionsByCard},
		{id: "GET /transactions/for-bank-account", handle: b.transactionsByBankAccount},
		{id: "GET /transactions/for-nz-bank-account", handle: b.transactionsByNZBankAccount},
		{id: "GET /transactions/suspended", handle: b.suspendedTransactions},
		{id: "GET /transactions/returns", handle: b.returnedTransactions},
		{id: "GET /transactions/open-preauths", handle: b.openPreauths},
		{id: "GET /transactions/{receiptNumber}/refunds", handle: b.refundsOf},
		{id: "GET /transactions/{receiptNumber}/retries", handle: b.retriesOf},
	}
}

// pages answers with the visible transactions that are wanted, newest first.
func (b *Sandbox) pages(c *call, want func(*transaction) bool) answer {
	return b.pagesOf(c, b.visibleTransactions(c.now, want))
}

func (b *Sandbox) pagesOf(c *call, found []*transaction) answer {
	return list(c, found, receiptOf, func(tx *transaction) any { return b.transactionBody(c, tx) })
}

// pagesOrNotFound is for the lists that can answer 404.
func (b *Sandbox) pagesOrNotFound(c *call, what string, want func(*transaction) bool) answer {
	found := b.visibleTransactions(c.now, want)
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
	return b.pagesOrNotFound(c, "settlement date", func(tx *transaction) bool { return tx.settlement == date })
}

func (b *Sandbox) transactionsByAccountToken(c *call) answer {
	q := c.parameters()
	token := q.need(sourceAccount, ascii)
	if !q.valid() {
		return c.invalid()
	}
	return b.pagesOrNotFound(c, "account token", func(tx *transaction) bool {
		return tx.account != nil && tx.account.token == token
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

// suspendedTransactions knows 404 and no 422: a filter with a wrong value is not
// found.
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

func monthOf(t time.Time) string { return inSydney(t).Format(monthLayout) }

// recentMonth takes this month and the six before it, in Sydney.
func recentMonth(month string, now time.Time) string {
	today := inSydney(now)
	first := time.Date(today.Year(), today.Month()-6, 1, 0, 0, 0, 0, time.UTC).Format(monthLayout)
	if month < first || month > today.Format(monthLayout) {
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
		return !tx.returned.IsZero() && inSydney(tx.returned).Format(time.DateOnly) == date && (code == "" || tx.shop.code == code)
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
	out := listBody{Links: c.related(get("self", c.href("transactions", "open-preauths"))), Data: make([]any, 0, len(found))}
	for _, tx := range found {
		out.Data = append(out.Data, b.transactionBody(c, tx))
	}
	return reply(http.StatusOK, out)
}

// openPreauth reports an initial pre-authorisation, or a re-authorisation, that
// can be captured.
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

func (b *Sandbox) refundsOf(c *call) answer {
	return b.followUpsOf(c, func(tx *transaction) bool { return tx.kind == typeRefund })
}

func (b *Sandbox) retriesOf(c *call) answer {
	return b.followUpsOf(c, func(tx *transaction) bool { return tx.retries != nil })
}

// followUpsOf lists what was done to one transaction.
func (b *Sandbox) followUpsOf(c *call, want func(*transaction) bool) answer {
	tx := b.transactions.byReceipt[c.params["receiptNumber"]]
	if tx == nil || !b.visible(tx, c.now) {
		return c.notFound("transaction")
	}
	return b.pagesOf(c, b.visibleOf(tx.followUps, c.now, want))
}
