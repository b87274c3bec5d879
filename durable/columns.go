package durable

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// column is a column of quickstream.write: its value, and where it is read to. A new column stands
// here, in row, and in the schema of each database.
type column struct {
	name  string
	fixed bool // it is written once
	value func(*row) any
	into  func(*row) any
}

func col[T any](name string, field func(*row) *T) column {
	return column{name: name, value: func(r *row) any { return *field(r) }, into: func(r *row) any { return field(r) }}
}

func once[T any](name string, field func(*row) *T) column {
	c := col(name, field)
	c.fixed = true
	return c
}

// columns are all columns but due_at.
func columns() []column {
	return []column{
		once("id", func(r *row) *string { return &r.ID }),
		once("order_id", func(r *row) *string { return &r.Order }),
		once("kind", func(r *row) *kind { return &r.kind }),
		once("operation", func(r *row) *quickstream.Operation { return &r.Operation }),
		once("follows", func(r *row) *string { return &r.follows }),
		once("written_at", func(r *row) *time.Time { return &r.Written }),
		once("database_at", func(r *row) *time.Time { return &r.databaseTime }),
		col("business", func(r *row) *string { return &r.Business }),
		col("source", func(r *row) *string { return &r.source }),
		col("token", func(r *row) *string { return &r.token }),
		col("request", func(r *row) *string { return &r.request }),
		col("state", func(r *row) *State { return &r.State }),
		col("outcome", func(r *row) *quickstream.Outcome { return &r.Outcome }),
		col("reversal", func(r *row) *Reversal { return &r.Reversal }),
		col("version", func(r *row) *int64 { return &r.Version }),
		col("claim", func(r *row) *string { return &r.claim }),
		col("sends", func(r *row) *int { return &r.Sends }),
		col("key_number", func(r *row) *int { return &r.keyNumber }),
		col("first_sent_at", func(r *row) *time.Time { return &r.firstSent }),
		col("last_sent_at", func(r *row) *time.Time { return &r.lastSent }),
		col("key_sent_at", func(r *row) *time.Time { return &r.keySent }),
		col("permit", func(r *row) *permit { return &r.permit }),
		col("next_at", func(r *row) *time.Time { return &r.Due }),
		col("changed_at", func(r *row) *time.Time { return &r.Changed }),
		col("replaced_by", func(r *row) *string { return &r.ReplacedBy }),
		col("receipt", func(r *row) *string { return &r.ReceiptNumber }),
		col("reference", func(r *row) *string { return &r.Reference }),
		col("intent_id", func(r *row) *string { return &r.intentID }),
		col("end_to_end_id", func(r *row) *string { return &r.endToEnd }),
		col("amount", func(r *row) *decimal.Decimal { return &r.Amount }),
		col("total", func(r *row) *decimal.Decimal { return &r.total }),
		col("currency", func(r *row) *quickstream.Currency { return &r.Currency }),
		col("settles_on", func(r *row) *string { return &r.settles }),
		col("intent", func(r *row) *string { return &r.intentText }),
		col("lookups", func(r *row) *string { return &r.lookupsText }),
		col("pending", func(r *row) *string { return &r.pendingText }),
		col("failures", func(r *row) *int { return &r.Failures }),
		col("problem", func(r *row) *string { return &r.Problem }),
		col("customer", func(r *row) *string { return &r.customer }),
		col("decision", func(r *row) *string { return &r.decisionText }),
	}
}

// statements are those that name every column.
type statements struct {
	columns              []column
	read, insert, update string
}

func newStatements() statements {
	s := statements{columns: columns()}
	var names, values, changes []string
	n := 1 // of insert
	m := 4 // of update, after its conditions
	for _, c := range s.columns {
		names = append(names, c.name)
		values = append(values, "$"+strconv.Itoa(n))
		n++
		if !c.fixed {
			m++
			changes = append(changes, c.name+" = $"+strconv.Itoa(m))
			if c.name == "next_at" {
				changes = append(changes, "due_at = $"+strconv.Itoa(m))
			}
		}
	}
	list := strings.Join(names, ", ")
	s.read = "SELECT " + list + ", " + database.Now + " FROM quickstream.write WHERE "
	s.insert = "INSERT INTO quickstream.write (" + list + ", due_at) VALUES (" + strings.Join(values, ", ") + ", $" + strconv.Itoa(n) + ") ON CONFLICT DO NOTHING"
	s.update = "UPDATE quickstream.write SET " + strings.Join(changes, ", ") + " WHERE id = $1 AND state = $2 AND version = $3 AND claim = $4"
	return s
}

// inserted are the arguments of insert, and updated those of update after its conditions.
func (s statements) inserted(r *row, due time.Time) []any {
	var args []any
	for _, c := range s.columns {
		args = append(args, c.value(r))
	}
	return append(args, due)
}

func (s statements) updated(r *row) []any {
	var args []any
	for _, c := range s.columns {
		if !c.fixed {
			args = append(args, c.value(r))
		}
	}
	return args
}

// scan reads a row. Of one of another version of the program it reads what it can.
func (s statements) scan(scan func(...any) error) (*row, error) {
	r, now := new(row), time.Time{}
	into := make([]any, 0, len(s.columns)+1)
	for _, c := range s.columns {
		into = append(into, c.into(r))
	}
	if err := scan(append(into, &now)...); err != nil {
		return nil, err
	}
	r.age = now.Sub(r.databaseTime)
	return r, nil
}

// part is a column that holds JSON.
type part struct {
	text  *string
	value any
	given bool
}

func (r *row) parts() []part {
	return []part{
		{&r.intentText, &r.intent, r.intent.Version != 0},
		{&r.lookupsText, &r.lookups, r.lookups.Version != 0},
		{&r.pendingText, &r.pending, len(r.pending) > 0},
		{&r.decisionText, &r.decision, r.decision != nil},
	}
}

// encode writes the parts into their columns, sealed if the merchant seals.
func (e *engine) encode(r *row) error {
	stored := *r
	if looked := stored.lookups.Intent; looked.Reference == r.intent.Reference && looked.ID == r.intent.ID { // the row has the intent
		stored.lookups.Intent = quickstream.Intent{Version: looked.Version, NotBefore: looked.NotBefore, Attempts: looked.Attempts, ReceiptNumber: looked.ReceiptNumber}
	}
	for i, p := range stored.parts() {
		text := ""
		if p.given {
			data, err := json.Marshal(p.value)
			if err != nil {
				return err
			}
			text = string(data)
			if i == 0 {
				if text, err = e.seal(text, r.ID); err != nil {
					return err
				}
			}
		}
		*r.parts()[i].text = text
	}
	r.settles = ""
	if !r.SettlesOn.IsZero() {
		r.settles = r.SettlesOn.String()
	}
	r.intentID = r.intent.ID
	return nil
}

// decode reads the parts. Its error is a [VersionError].
func (e *engine) decode(r *row) error {
	for i, p := range r.parts() {
		if *p.text == "" {
			continue
		}
		text := *p.text
		var err error
		if i == 0 {
			text, err = e.unseal(text, r.ID)
		}
		if err == nil {
			err = json.Unmarshal([]byte(text), p.value)
		}
		if err != nil {
			return &VersionError{WriteID: r.ID, Err: err}
		}
	}
	if r.settles != "" {
		if err := r.SettlesOn.UnmarshalText([]byte(r.settles)); err != nil {
			return &VersionError{WriteID: r.ID, Err: err}
		}
	}
	if !r.emptied() && r.intent.Version != quickstream.IntentVersion {
		return &VersionError{WriteID: r.ID, Err: fmt.Errorf("the intent has version %d", r.intent.Version)}
	}
	if looked := r.lookups.Intent; r.lookups.Version != 0 && looked.Operation == "" {
		r.lookups.Intent = r.intent
		r.lookups.Intent.NotBefore, r.lookups.Intent.Attempts, r.lookups.Intent.ReceiptNumber = looked.NotBefore, looked.Attempts, looked.ReceiptNumber
	}
	r.Seen, r.Evidence = r.lookups.Seen, r.lookups.Lookups
	return nil
}
