package main

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

type status string

const (
	statusOpen      status = "open"
	statusPaid      status = "paid"
	statusUnpaid    status = "not paid" // declined, and known not to be charged
	statusEscalated status = "with technical support"
)

// order is a row of the merchant's table.
type order struct {
	ID     string          `json:"id"`
	Amount decimal.Decimal `json:"amount"`
	Method method          `json:"method"`
	// Reference is the merchant's own for its payments; without one the client makes
	// another for each.
	Reference string `json:"reference,omitempty"`
	Status    status `json:"status"`
	Receipt   string `json:"receipt,omitempty"` // of the payment that paid it
	// Due is when the order itself needs something: to be paid, or what is to be done
	// Then with its payment. Zero while tries are under way, and in the end.
	Due  time.Time `json:"due,omitzero"`
	Then []step    `json:"then,omitempty"`
	// Again is how often the customer comes back after a decline.
	Again int    `json:"again,omitempty"`
	Tries []*try `json:"tries,omitempty"`
}

// step is something that is done with a payment.
type step struct {
	Kind   kind            `json:"kind"`
	Amount decimal.Decimal `json:"amount"` // of a refund
}

type kind string

const (
	kindPayment kind = "payment"
	kindRefund  kind = "refund"
	kindVoid    kind = "void"
)

// try is one write for an order: the intent that was stored before it was sent, and
// what is known of it.
type try struct {
	step
	Intent quickstream.Intent `json:"intent"`
	// State is how far the search for the outcome has come. A try that has neither
	// a state nor an ending was under way when its worker crashed.
	State *resolve.Case `json:"state,omitempty"`
	// Due is when to look, or when its worker counts as crashed.
	Due time.Time `json:"due,omitzero"`
	// Restarted is set when its worker crashed and another one took over.
	Restarted bool   `json:"restarted,omitempty"`
	Ended     ending `json:"ended,omitempty"`
	How       how    `json:"how,omitempty"`
	Receipt   string `json:"receipt,omitempty"` // of what was carried out or declined
}

// ending is what became of a try.
type ending string

const (
	endDone      ending = "carried out"
	endDeclined  ending = "declined"
	endRefused   ending = "refused, nothing was done"
	endAbsent    ending = "never arrived"
	endEscalated ending = "escalated"
	endTwice     ending = "carried out more than once"
)

// how is the way in which the ending became known.
type how string

const (
	howAnswered    how = "answered"
	howResent      how = "answered at a later attempt, with the same key"
	howByReference how = "found by its reference"
	howByReceipt   how = "found by its receipt"
	howLater       how = "read again until the service knew"
	howRetried     how = "found among the service's own retries"
	howAbsent      how = "absent, and for two weeks more"
	howEscalated   how = "escalated with its evidence"
)

// table stands for a table in a database: rows as JSON, with an index on when
// something has to be done about them, and one on receipts. All that a worker knows
// comes from here.
type table struct {
	mu       sync.Mutex
	rows     map[string][]byte
	next     map[string]time.Time
	receipts map[string]string // to the key of the try that they belong to
}

func newTable() *table {
	return &table{rows: make(map[string][]byte), next: make(map[string]time.Time), receipts: make(map[string]string)}
}

// save stores a row.
func (t *table) save(o *order) error {
	row, err := json.Marshal(o)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows[o.ID] = row
	next := o.Due
	for _, try := range o.Tries {
		if !try.Due.IsZero() && (next.IsZero() || try.Due.Before(next)) {
			next = try.Due
		}
		if try.Receipt != "" && try.Kind != kindVoid {
			t.receipts[try.Receipt] = try.Intent.IdempotencyKey
		}
	}
	if delete(t.next, o.ID); !next.IsZero() {
		t.next[o.ID] = next
	}
	return nil
}

func (t *table) load(id string) (*order, error) {
	t.mu.Lock()
	row := t.rows[id]
	t.mu.Unlock()
	o := new(order)
	return o, json.Unmarshal(row, o)
}

// foreign reports whether a receipt is known to belong to another intent.
func (t *table) foreign(receipt, key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	owner, known := t.receipts[receipt]
	return known && owner != key
}

func (t *table) all() ([]*order, error) {
	orders := make([]*order, 0, len(t.rows))
	for id := range t.rows {
		o, err := t.load(id)
		if err != nil {
			return nil, err
		}
		orders = append(orders, o)
	}
	return orders, nil
}

// due returns what has to be done by now, in a settled order.
func (t *table) due(now time.Time) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var ids []string
	for id, next := range t.next {
		if !next.After(now) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// nextDue returns when the next thing has to be done, if anything has.
func (t *table) nextDue() (next time.Time, left bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, at := range t.next {
		if !left || at.Before(next) {
			next, left = at, true
		}
	}
	return next, left
}
