package main

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/oracle"
	"github.com/quickstream-go/quickstream/resolve"
)

// write is a row of the merchant's table: a write to be made for an order, and what is known
// of it.
type write struct {
	ID    int
	Order oracle.Order
	oracle.Step
	Original string    // the receipt of the payment that is refunded or voided
	Tries    int       // number of writes that were made in vain before it
	Again    bool      // it takes the place of a payment, or of a write that never arrived
	Due      time.Time // when to send it, to look for it, or when its worker counts as crashed
	// Intent is stored before the first byte is sent. Case is the state of the search for the outcome.
	// Without it the worker is still sending, or has crashed.
	Intent  *quickstream.Intent
	Case    *resolve.Case
	Ended   string // one of the oracle's words
	Receipt string
}

// table stands for a table in a database: rows as JSON, with an index on due times and one on
// receipts. Everything that a worker knows comes from here.
type table struct {
	mu       sync.Mutex
	rows     [][]byte
	due      []time.Time    // by row; zero means never
	receipts map[string]int // to the write that they belong to
}

// save stores a row, and gives a new one its number.
func (t *table) save(w *write) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.ID == 0 {
		t.rows, t.due = append(t.rows, nil), append(t.due, time.Time{})
		w.ID = len(t.rows)
	}
	if w.Receipt != "" && w.Kind != oracle.Void {
		t.receipts[w.Receipt] = w.ID
	}
	var err error
	t.due[w.ID-1] = w.Due
	t.rows[w.ID-1], err = json.Marshal(w)
	return err
}

func (t *table) load(id int) *write {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := new(write)
	_ = json.Unmarshal(t.rows[id-1], w) // written by save
	return w
}

// dueBy returns the rows that are due, and when the next row is due; zero means never.
func (t *table) dueBy(now time.Time) (ids []int, next time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, due := range t.due {
		if due.IsZero() {
			continue
		}
		if !due.After(now) {
			ids = append(ids, i+1)
		}
		if next.IsZero() || due.Before(next) {
			next = due
		}
	}
	return ids, next
}
