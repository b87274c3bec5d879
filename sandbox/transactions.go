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
		{id: "POST /transactions/{receiptNumber}/void", handle: b.voidTransaction},
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
	via               string         // source code, when it did not come by this interface
	followUps         []*transaction // against this one, oldest first
	retries           *transaction   // the payment of which this is a retry
	attempt           int            // of a retry, from 1
	returned          time.Time      // by the customer's bank

	result result
	code   string
	steps  int // changes of result so far
}

func (tx *transaction) total() cents { return tx.principal + tx.surcharge }

type transactionStore struct {
	byReceipt   map[string]*transaction
	byReference map[string][]*transaction // by all that it can be looked up by, in lower case
	ordered     []*transaction            // oldest first
	older       map[string]*transaction   // earlier uses of references, by those in lower case
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

// commit makes a transaction happen. The caller holds mu.
func (b *Sandbox) commit(tx *transaction, o Outcome) {
	for tx.receipt == "" || b.transactions.byReceipt[tx.receipt] != nil {
		tx.receipt = randomDigits(b.ids, 10)
	}
	tx.settlement = b.settlementDate(tx.created)
	b.transactions.add(tx)
	b.settle(tx, o)
}

// visible reports whether reads find the transaction already.
func (b *Sandbox) visible(tx *transaction, now time.Time) bool {
	return !now.Before(tx.created.Add(b.assume.LookupLag))
}

// visibleTransactions returns what reads can see, most recent first.
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
	q := c.parameters()
	code := q.text("supplierBusinessCode", b.knownBusiness)
	if !q.valid() {
		return c.invalid()
	}
	today := b.settlementDate(c.now)
	found := b.visibleTransactions(c.now, func(tx *transaction) bool {
		return tx.settlement == today && (code == "" || tx.shop.code == code)
	})
	found = found[:min(len(found), recentLimit)]
	out := listBody{Links: c.related(get("self", c.href("transactions"))), Data: make([]any, 0, len(found))}
	for _, tx := range found {
		out.Data = append(out.Data, b.transactionBody(c, tx))
	}
	return reply(http.StatusOK, out)
}
