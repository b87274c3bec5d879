package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// Kind is what a row of the books does.
type Kind string

// The kinds.
const (
	KindPayment Kind = "payment"
	KindRefund  Kind = "refund"
	KindVoid    Kind = "void"
)

// Row is one movement of money in the books: planned, then sent, then settled.
type Row struct {
	Key   string
	Order string
	Kind  Kind
	Cents int64
	// Sent says that a process has claimed the intent: it may have been sent.
	Sent bool
	// Refused says that nothing happened, which is proven.
	Refused bool
	// State holds the intent and, once it was sent, what is known about it.
	State resolve.State
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
	switch {
	case r.Refused:
		return Failed
	case r.State.Stage != resolve.StageSettled:
		return Open // absent and escalated payments are for a person to decide
	case r.State.Outcome == quickstream.OutcomeApproved && r.Kind != KindVoid,
		r.State.Outcome == quickstream.OutcomeVoided && r.Kind == KindVoid:
		return Done
	default:
		return Failed
	}
}

// Last is what the last look at the row's transaction saw.
func (r Row) Last() resolve.Look {
	if len(r.State.Looks) == 0 {
		return resolve.Look{}
	}
	return r.State.Looks[len(r.State.Looks)-1]
}

// The ways in which the books refuse a change.
var (
	ErrBusy    = errors.New("the order has a movement of this kind that is open or done")
	ErrClaimed = errors.New("the intent has been claimed before")
)

// Store stands for a database table with the key as its primary key. Rows are
// kept as JSON, so that only what a database would keep survives a crash.
type Store struct {
	mu   sync.Mutex
	keys []string
	rows map[string][]byte
}

// NewStore returns empty books.
func NewStore() *Store { return &Store{rows: map[string][]byte{}} }

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
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range s.keys {
		other := s.read(key)
		samePurpose := (other.Kind == KindPayment) == (row.Kind == KindPayment)
		if other.Order == row.Order && samePurpose && other.Status() != Failed {
			return ErrBusy
		}
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

// Update changes a row that is not final, and returns it as it stands then.
func (s *Store) Update(key string, change func(*Row)) (Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row := s.read(key)
	if row.Refused || row.State.Stage.Final() {
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
