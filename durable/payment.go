package durable

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// State is where a payment stands.
type State string

// The states. The first three are open: nothing of them may be concluded.
const (
	// StatePrepared: written, and proven not sent.
	StatePrepared State = "prepared"
	// StateSending: claimed, so that it may have been sent. Nobody sends it again.
	StateSending State = "sending"
	// StateUnknown: being looked up, or known and not settled, as a PayTo payment that
	// waits for its payer.
	StateUnknown State = "unknown"
	// StateApproved: the money was taken; of other writes, it was done.
	StateApproved State = "approved"
	// StateDeclined: declined or rejected, with nothing that could follow it.
	StateDeclined State = "declined"
	// StateRefused: the service refused the request, or it could not be made.
	StateRefused State = "refused"
	// StateNotSent: given up before it was sent, as its token or the merchant's
	// patience ended first.
	StateNotSent State = "not sent"
	// StateVoided: taken back before settlement. Of a void, that it was done.
	StateVoided State = "voided"
	// StateReturned: the bank gave an approved payment back.
	StateReturned State = "returned"
	// StateAbsent: nothing that may be it was found, for as long as the service could
	// take. It is looked for on, and blocks the order until [Engine.PayAgain] or
	// [Engine.Decide].
	StateAbsent State = "absent"
	// StateEscalated: a person has to find out, with technical support; then
	// [Engine.Decide].
	StateEscalated State = "escalated"
	// StateTwice: it was approved although it, or another payment of its order, was
	// approved already. Nothing gives money back by itself.
	StateTwice State = "charged twice"
)

// Open reports whether the state says nothing yet.
func (s State) Open() bool {
	return s == StatePrepared || s == StateSending || s == StateUnknown
}

// Blocks reports whether an order with a payment in the state cannot be paid anew.
func (s State) Blocks() bool {
	switch s {
	case StateDeclined, StateRefused, StateNotSent, StateVoided, StateReturned:
		return false
	default:
		return true
	}
}

// Payment is a write of the merchant's and what became of it: a payment or
// pre-authorisation of an order, a follow-up of one, an agreement or an upload.
type Payment struct {
	ID        string
	OrderID   string
	Operation quickstream.Operation // the method that sends it
	State     State
	// ReceiptOf is the receipt number of the transaction that a follow-up is about.
	ReceiptOf string
	// ReceiptNumber is the service's, once it is known. Of an agreement or an account
	// it is the token, of an upload the identifier of the file.
	ReceiptNumber string
	Reference     string
	Amount        decimal.Decimal
	Currency      quickstream.Currency
	SettlesOn     quickstream.Date
	// Seen is what was seen last, with the outcome, the response code and the next step.
	Seen resolve.Observation
	// Evidence are all looks, for technical support.
	Evidence []resolve.Lookup
	// PassedBy is the payment that was made instead of an absent one, or that was
	// approved before this one.
	PassedBy string
	// Problem is the last thing that went wrong: with sending, looking or OnOutcome.
	Problem string
	// Failures counts how often in a row it could not be sent, or OnOutcome has failed.
	Failures int
	// Decided says who closed it and why, where a person has.
	Decided *Decision
	Written time.Time
	Changed time.Time
	// Due is when there is something to do for it; zero when there is not.
	Due time.Time
}

// Decision is how a person closed a payment.
type Decision struct {
	Verdict State     `json:"verdict"`
	Who     string    `json:"who"`
	Reason  string    `json:"reason"`
	At      time.Time `json:"at"`
}

// row is a payment as it is stored.
type row struct {
	Payment
	version  int64
	claim    string
	suspect  bool
	total    decimal.Decimal
	intent   quickstream.Intent
	endToEnd string
	looking  resolve.Case  // zero until the first look
	pending  []observed    // what OnOutcome has refused so far
	age      time.Duration // since it was written, by the database's clock
}

const columns = `id, order_id, operation, receipt_of, state, version, claim, next_at, written_at, changed_at,
	passed_by, suspect, receipt, reference, intent_id, end_to_end_id, amount, total, currency, settles_on, intent, resolution, pending,
	failures, problem, decided`

// scan reads the columns.
func (r *row) scan(scan func(...any) error, more ...any) error {
	var due *int64
	var written, changed int64
	var suspect int
	var intentID, amount, total, settles, intent, looking, pending, decided string
	if err := scan(append([]any{
		&r.ID, &r.OrderID, &r.Operation, &r.ReceiptOf, &r.State, &r.version, &r.claim, &due, &written, &changed,
		&r.PassedBy, &suspect, &r.ReceiptNumber, &r.Reference, &intentID, &r.endToEnd, &amount, &total, &r.Currency, &settles, &intent, &looking,
		&pending, &r.Failures, &r.Problem, &decided,
	}, more...)...); err != nil {
		return err
	}
	r.Written, r.Changed, r.suspect = moment(written), moment(changed), suspect != 0
	if due != nil {
		r.Due = moment(*due)
	}
	var err error
	if r.Amount, err = decimalIn(amount); err == nil {
		r.total, err = decimalIn(total)
	}
	if err != nil {
		return fmt.Errorf("payment %s: %w", r.ID, err)
	}
	if settles != "" {
		if err := r.SettlesOn.UnmarshalText([]byte(settles)); err != nil {
			return fmt.Errorf("payment %s: %w", r.ID, err)
		}
	}
	for _, part := range []struct {
		text string
		into any
	}{{intent, &r.intent}, {looking, &r.looking}, {pending, &r.pending}, {decided, &r.Decided}} {
		if part.text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(part.text), part.into); err != nil {
			return &VersionError{PaymentID: r.ID, Err: err}
		}
	}
	if intent != "" && r.intent.Version != quickstream.IntentVersion { // without one it was forgotten
		return &VersionError{PaymentID: r.ID, Err: fmt.Errorf("the intent has version %d", r.intent.Version)}
	}
	r.Seen, r.Evidence = r.looking.Seen, r.looking.Lookups
	return nil
}

func decimalIn(text string) (decimal.Decimal, error) {
	if text == "" {
		return decimal.Decimal{}, nil
	}
	return decimal.NewFromString(text)
}

// moment and micros are how times are stored.
func moment(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}
