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
	ID      string          `json:"id"`
	Amount  decimal.Decimal `json:"amount"`
	Method  method          `json:"method"`
	Status  status          `json:"status"`
	Receipt string          `json:"receipt,omitempty"` // of the payment that paid it
	Tries   []*try          `json:"tries,omitempty"`
}

// try is one payment for an order: the intent that was stored before it was sent,
// and what is known of it.
type try struct {
	Intent quickstream.Intent `json:"intent"`
	// State is how far the search for the outcome has come. A try that has neither
	// a state nor an ending was under way when its worker crashed.
	State *resolve.State `json:"state,omitempty"`
	// Restarted is set when its worker crashed and another one took over.
	Restarted bool   `json:"restarted,omitempty"`
	Ended     ending `json:"ended,omitempty"`
	How       how    `json:"how,omitempty"`
}

// ending is what became of a try.
type ending string

const (
	endCharged   ending = "charged"
	endDeclined  ending = "declined"
	endRefused   ending = "refused, nothing was done"
	endAbsent    ending = "never arrived"
	endEscalated ending = "escalated"
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
	howAbsent      how = "absent after 48 hours"
	howEscalated   how = "escalated with its evidence"
)

// live returns the try that has not ended, if there is one.
func (o *order) live() *try {
	if n := len(o.Tries); n > 0 && o.Tries[n-1].Ended == "" {
		return o.Tries[n-1]
	}
	return nil
}

// table stands for a table in a database: rows as JSON, with an index on when
// something has to be done about them. All that a worker knows comes from here.
type table struct {
	mu   sync.Mutex
	rows map[string][]byte
	next map[string]time.Time
}

func newTable() *table {
	return &table{rows: make(map[string][]byte), next: make(map[string]time.Time)}
}

// save stores a row. A zero next means that nothing is left to be done.
func (t *table) save(o *order, next time.Time) error {
	row, err := json.Marshal(o)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows[o.ID] = row
	t.next[o.ID] = next
	if next.IsZero() {
		delete(t.next, o.ID)
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
