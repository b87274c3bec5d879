package sandbox

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

func (b *Sandbox) transactionOperations() []operation {
	return []operation{
		{id: "POST /transactions", handle: b.createTransaction},
		{id: "GET /transactions", handle: b.recentTransactions},
		{id: "GET /transactions/for-reference-number", handle: b.transactionsByReference},
		{id: "GET /transactions/{receiptNumber}", handle: b.getTransaction},
	}
}

// transaction is what the facility knows of one.
type transaction struct {
	receipt           string
	kind              string // transactionType
	shop              *business
	source            instrument
	account           *account // when a kept account was used
	principal         cents
	surcharge         cents
	currency          string
	customerReference string
	paymentReference  string
	endToEndID        string
	comment           string
	metadata          map[string]string
	ip                string
	debtRepayment     bool
	originalReceipt   string
	idempotencyKey    string
	created           time.Time
	settlement        string
	refunded          cents

	result result
	code   string
}

func (tx *transaction) total() cents { return tx.principal + tx.surcharge }

type transactionStore struct {
	byReceipt map[string]*transaction
	ordered   []*transaction // oldest first
}

func newTransactionStore() transactionStore {
	return transactionStore{byReceipt: make(map[string]*transaction)}
}

// commit makes a transaction happen. The caller holds mu.
func (b *Sandbox) commit(tx *transaction, o Outcome) {
	for tx.receipt == "" || b.transactions.byReceipt[tx.receipt] != nil {
		tx.receipt = randomDigits(b.ids, 10)
	}
	tx.settlement = b.settlementDate(tx.created)
	b.transactions.byReceipt[tx.receipt] = tx
	b.transactions.ordered = append(b.transactions.ordered, tx)
	b.settle(tx, o)
}

// visible reports whether reads find the transaction already.
func (b *Sandbox) visible(tx *transaction, now time.Time) bool {
	return !now.Before(tx.created.Add(b.assume.LookupLag))
}

// visibleTransactions returns what reads can see, most recent first.
func (b *Sandbox) visibleTransactions(now time.Time, want func(*transaction) bool) []*transaction {
	var found []*transaction
	for _, tx := range slices.Backward(b.transactions.ordered) {
		if b.visible(tx, now) && want(tx) {
			found = append(found, tx)
		}
	}
	return found
}

func receiptOf(tx *transaction) string { return tx.receipt }

func (b *Sandbox) getTransaction(c *call) answer {
	tx := b.transactions.byReceipt[c.params["receiptNumber"]]
	if tx == nil || !b.visible(tx, c.now) {
		return c.notFound("transaction")
	}
	return reply(http.StatusOK, b.transactionBody(c, tx))
}

// recentTransactions is the one list that is bounded in place of paginated.
func (b *Sandbox) recentTransactions(c *call) answer {
	code := c.query.Get("supplierBusinessCode")
	if code != "" {
		if message := b.knownBusiness(code); message != "" {
			c.refuse("supplierBusinessCode", code, message)
			return c.invalid()
		}
	}
	today := b.settlementDate(c.now)
	found := b.visibleTransactions(c.now, func(tx *transaction) bool {
		return tx.settlement == today && (code == "" || tx.shop.code == code)
	})
	found = found[:min(len(found), b.assume.RecentLimit)]
	out := listBody{Links: c.related(get("self", c.href("transactions"))), Data: make([]any, 0, len(found))}
	for _, tx := range found {
		out.Data = append(out.Data, b.transactionBody(c, tx))
	}
	return reply(http.StatusOK, out)
}

func (b *Sandbox) transactionsByReference(c *call) answer {
	ref := c.query.Get("referenceNumber")
	switch {
	case ref == "":
		c.refuse("referenceNumber", "", "is required")
	case ascii(ref) != "":
		c.refuse("referenceNumber", ref, ascii(ref))
	}
	if !c.valid() {
		return c.invalid()
	}
	found := b.visibleTransactions(c.now, func(tx *transaction) bool {
		return slices.ContainsFunc([]string{tx.receipt, tx.customerReference, tx.paymentReference, tx.endToEndID},
			func(have string) bool { return strings.EqualFold(have, ref) })
	})
	if len(found) == 0 && b.assume.NotFoundByReference {
		return c.notFound("reference number")
	}
	return list(c, found, receiptOf, func(tx *transaction) any { return b.transactionBody(c, tx) })
}
