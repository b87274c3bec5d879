package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// KindVoid is the kind of a void; payments and refunds have the service's word.
const KindVoid quickstream.TransactionType = "VOID"

// Row is one movement of money in the books: planned, then sent, then settled.
type Row struct {
	Key   string
	Order string
	Kind  quickstream.TransactionType
	Cents int64
	// Sent says that a process has claimed the intent: it may have been sent.
	Sent bool
	// Refused says that nothing happened, which is proven.
	Refused bool
	// State holds the intent and, once it was sent, what is known about it.
	State resolve.Case
}

// Status is all that the rest of the shop knows about a row.
type Status string

// The statuses.
const (
	Done   Status = "done"
	Failed Status = "failed" // no money moved
	Open   Status = "open"   // money may have moved, or may yet move
)

// Status says whether the money moved.
func (r Row) Status() Status {
	wanted := quickstream.OutcomeApproved
	if r.Kind == KindVoid {
		wanted = quickstream.OutcomeVoided
	}
	switch {
	case r.Refused, r.Kind == KindVoid && r.State.Status == resolve.StatusNotFound:
		return Failed // a void that is not there by then cannot come any more
	case r.State.Status != resolve.StatusSettled:
		return Open // what is absent or escalated is for a person to decide
	case r.State.Outcome == wanted:
		return Done
	default:
		return Failed
	}
}

// Mandate is a PayTo agreement. Without a token it is not known to exist.
type Mandate struct {
	Intent quickstream.Intent
	Token  string
	Status quickstream.AgreementStatus
}

// The ways in which the books refuse a change.
var (
	ErrBusy    = errors.New("there is one already that is open or done")
	ErrClaimed = errors.New("the intent was claimed before")
	ErrNoRow   = errors.New("the books have no such row")
)

// Store stands for the tables of a database. Rows are kept as JSON, so that only
// what a database would keep survives a crash.
type Store struct {
	mu       sync.Mutex
	keys     []string
	rows     map[string][]byte
	mandates map[string]Mandate // by payee reference
}

// NewStore returns empty books.
func NewStore() *Store {
	return &Store{rows: map[string][]byte{}, mandates: map[string]Mandate{}}
}

// Rows returns all rows, oldest first.
func (s *Store) Rows() []Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := make([]Row, 0, len(s.keys))
	for _, key := range s.keys {
		rows = append(rows, s.read(key))
	}
	return rows
}

// Insert adds a planned row. An order has one payment, and one refund or void,
// that has not failed: the unique index which keeps a customer from paying twice.
func (s *Store) Insert(row Row) error {
	same := func(other Row) bool {
		const payment = quickstream.TransactionTypePayment
		return other.Order == row.Order && (other.Kind == payment) == (row.Kind == payment) && other.Status() != Failed
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.keys, func(key string) bool { return key == row.Key || same(s.read(key)) }) {
		return ErrBusy
	}
	s.keys = append(s.keys, row.Key)
	return s.write(row)
}

// Claim marks a row as sent, once.
func (s *Store) Claim(key string, now time.Time) quickstream.Claim {
	return func(context.Context) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		row := s.read(key)
		if row.Sent || row.Refused {
			return ErrClaimed
		}
		row.Sent = true
		row.State = resolve.Begin(row.State.Intent, now)
		return s.write(row)
	}
}

// Update changes a row that is not settled, and returns it as it stands then.
func (s *Store) Update(key string, change func(*Row)) (Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows[key] == nil {
		return Row{}, ErrNoRow
	}
	row := s.read(key)
	if row.Refused || row.State.Status == resolve.StatusSettled {
		return row, nil
	}
	change(&row)
	return row, s.write(row)
}

func (s *Store) read(key string) (row Row) {
	_ = json.Unmarshal(s.rows[key], &row) // written by write
	return row
}

func (s *Store) write(row Row) error {
	text, err := json.Marshal(row)
	if err == nil {
		s.rows[row.Key] = text
	}
	return err
}
