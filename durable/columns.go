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

// column is a column of quickstream.write: its value, and the field that it is read into. Add a new
// column here, to row, and to the schema of each database.
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

func columns() []column {
	return []column{
		once("id", func(r *row) *string { return &r.ID }),
		once("order_id", func(r *row) *string { return &r.Order }),
		once("operation", func(r *row) *quickstream.Operation { return &r.Operation }),
		once("follows", func(r *row) *string { return &r.Follows }),
		once("title", func(r *row) *string { return &r.Title }),
		col("business", func(r *row) *string { return &r.SupplierBusinessCode }),
		col("source", func(r *row) *string { return &r.source }),
		col("token", func(r *row) *string { return &r.token }),
		col("customer", func(r *row) *string { return &r.customer }),
		col("reference", func(r *row) *string { return &r.Reference }),
		col("amount", func(r *row) *decimal.Decimal { return &r.Amount }),
		col("currency", func(r *row) *quickstream.Currency { return &r.Currency }),
		col("state", func(r *row) *State { return &r.State }),
		col("reason", func(r *row) *Reason { return &r.Reason }),
		col("version", func(r *row) *int64 { return &r.Version }),
		col("claim", func(r *row) *string { return &r.claim }),
		col("sends", func(r *row) *int { return &r.Sends }),
		col("key_number", func(r *row) *int { return &r.keyNumber }),
		col("first_sent_at", func(r *row) *time.Time { return &r.firstSent }),
		col("last_sent_at", func(r *row) *time.Time { return &r.lastSent }),
		col("key_sent_at", func(r *row) *time.Time { return &r.keySent }),
		col("permit", func(r *row) *permit { return &r.permit }),
		col("suspect", func(r *row) *int64 { return &r.suspect }),
		col("give_up", func(r *row) *Reason { return &r.giveUp }),
		col("next_at", func(r *row) *time.Time { return &r.Due }),
		col("looked_at", func(r *row) *time.Time { return &r.LookedUp }),
		col("changed_at", func(r *row) *time.Time { return &r.Changed }),
		col("changes", func(r *row) *int64 { return &r.changes }),
		col("notified", func(r *row) *int64 { return &r.notified }),
		col("reported_state", func(r *row) *State { return &r.reported.State }),
		col("reported_reason", func(r *row) *Reason { return &r.reported.Reason }),
		col("replaced_by", func(r *row) *string { return &r.ReplacedBy }),
		col("receipt", func(r *row) *string { return &r.ReceiptNumber }),
		col("digits", func(r *row) *string { return &r.CardDigits }),
		col("total", func(r *row) *decimal.Decimal { return &r.Total }),
		col("settles_on", func(r *row) *string { return &r.settles }),
		col("failures", func(r *row) *int { return &r.Failures }),
		col("problem", func(r *row) *string { return &r.Problem }),
		col("decided", func(r *row) *bool { return &r.decided }),
		col("lookups", func(r *row) *string { return &r.lookupsText }),
		col("intent", func(r *row) *string { return &r.intentText }),
	}
}

// statements are the SQL statements that name every column.
type statements struct {
	columns              []column
	read, insert, update string
	first                string // inserts the first payment of an order
}

func newStatements() statements {
	s := statements{columns: columns()}
	var names, values, changes []string
	n, m := 1, 5 // of insert, and of update after its conditions
	for _, c := range s.columns {
		names = append(names, c.name)
		value := "$" + strconv.Itoa(n)
		if c.name == "next_at" || c.name == "changed_at" { // null is now
			value = "coalesce(" + value + ", " + database.Now + ")"
		}
		values = append(values, value)
		n++
		if !c.fixed {
			m++
			changes = append(changes, c.name+" = $"+strconv.Itoa(m))
		}
	}
	list := strings.Join(names, ", ")
	// Only the index on follows fits this: without statistics SQLite would read all approved writes by another one.
	refunded := "(SELECT sum(CASE WHEN f.receipt <> '' AND f.state = 'approved' AND f." + sqlIn("operation", quickstream.OperationRefund, OperationReverse) +
		" THEN f.amount END) FROM quickstream.write f WHERE f.follows <> '' AND f.follows = quickstream.write.id)"
	s.read = "SELECT " + list + ", written_at, " + refunded + ", " + database.Now + " FROM quickstream.write WHERE "
	s.insert = "INSERT INTO quickstream.write (" + list + ", written_at) VALUES (" + strings.Join(values, ", ") + ", " + database.Now + ") ON CONFLICT DO NOTHING RETURNING written_at"
	s.first = "INSERT INTO quickstream.write (" + list + ", written_at) SELECT " + strings.Join(values, ", ") + ", " + database.Now +
		" WHERE NOT EXISTS (SELECT 1 FROM quickstream.write WHERE order_id = $2 AND follows = '') ON CONFLICT DO NOTHING RETURNING written_at"
	s.update = "UPDATE quickstream.write SET " + strings.Join(changes, ", ") + " WHERE id = $1 AND state = $2 AND version = $3 AND claim = $4 AND suspect = $5"
	return s
}

// values are the arguments of insert, or those of update after its conditions.
func (s statements) values(r *row, update bool) []any {
	var args []any
	for _, c := range s.columns {
		if !c.fixed || !update {
			args = append(args, c.value(r))
		}
	}
	return args
}

// scan reads a row.
func (s statements) scan(scan func(...any) error) (*row, error) {
	r := new(row)
	into := make([]any, 0, len(s.columns)+3)
	for _, c := range s.columns {
		into = append(into, c.into(r))
	}
	return r, scan(append(into, &r.Written, &r.Refunded, &r.now)...)
}

// encode fills the text columns from the intent, the look-ups and the settlement date.
func (r *row) encode() error {
	intent, err := json.Marshal(r.intent)
	if err != nil {
		return err
	}
	r.intentText, r.lookupsText, r.settles = string(intent), "", ""
	if r.lookups.Version != 0 {
		lookups, err := json.Marshal(r.lookups)
		if err != nil {
			return err
		}
		r.lookupsText = string(lookups)
	}
	if !r.SettlementDate.IsZero() {
		r.settles = r.SettlementDate.String()
	}
	return nil
}

// decode reads them back. It fails for a row of another version of the program.
func (r *row) decode() (err error) {
	err = json.Unmarshal([]byte(r.intentText), &r.intent)
	if err == nil && r.lookupsText != "" {
		err = json.Unmarshal([]byte(r.lookupsText), &r.lookups)
	}
	if err == nil && r.settles != "" {
		err = r.SettlementDate.UnmarshalText([]byte(r.settles))
	}
	if err == nil && r.intent.Version != quickstream.IntentVersion {
		err = fmt.Errorf("its intent has version %d", r.intent.Version)
	}
	if err != nil { // its text may show what was stored
		err = fmt.Errorf("write %q is of another version of the program: %T", r.ID, err)
	}
	return err
}
