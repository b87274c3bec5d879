package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/quickstream-go/quickstream/resolve"
)

// EventKind is what happened to a write.
type EventKind string

// The kinds of events.
const (
	EventQueued      EventKind = "queued"       // stored: always the first
	EventClaimed     EventKind = "claimed"      // a process may send it
	EventAnswered    EventKind = "answered"     // the request was answered, or its answer was lost
	EventRefused     EventKind = "refused"      // the service refused it
	EventNotExecuted EventKind = "not_executed" // the answer permits another send
	EventExpired     EventKind = "expired"      // given up before it was sent
	EventLookedUp    EventKind = "looked_up"
	EventReturned    EventKind = "returned" // it is in the list of returned transactions
	EventDecided     EventKind = "decided"  // by a person
	EventNotified    EventKind = "notified" // OnOutcome has taken the change
	EventAsked       EventKind = "asked"    // a person has asked for a follow-up, a look-up or a notification
	EventPaused      EventKind = "paused"   // a person has paused the installation
	EventUnpaused    EventKind = "unpaused"
	EventErased      EventKind = "erased"   // a person has had a customer's data removed
	EventReplaced    EventKind = "replaced" // a person has had another payment made instead

	EventHistoryConfirmed  EventKind = "history_confirmed"  // a person has said that the database is no copy
	EventRestoringEnded    EventKind = "restoring_ended"    // a person has ended the search for lost payments
	EventFacilityConfirmed EventKind = "facility_confirmed" // a person has said that the installation has moved
)

// Event is an entry of a write's history. Entries are only added.
type Event struct {
	At   time.Time
	Kind EventKind
	// By and Note are those of the person who has decided.
	By, Note string
	// Standing is where the write stands after it.
	Standing Standing
	// Seen is what a look-up or an answer showed.
	Seen resolve.Observation
}

// Events returns the history of a write, oldest first. That of an empty id is the installation's: what
// persons have confirmed, paused and asked for.
func (e *Engine[TTx]) Events(ctx context.Context, id string) (list []Event, err error) {
	err = within(ctx, e.db, func(tx tx) error {
		if id == "" {
			list, err = e.events(ctx, tx, id)
			return err
		}
		r, err := e.one(ctx, tx, "id = $1", id)
		if err != nil || r == nil {
			return errors.Join(err, ErrNoWrite)
		}
		list, err = e.events(ctx, tx, id)
		list = append([]Event{r.queued()}, list...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("durable: %w", err)
	}
	return list, nil
}

// queued is the first event, which the row tells.
func (r *row) queued() Event {
	return Event{At: r.Written, Kind: EventQueued, Standing: standing(StateQueued)}
}

// events reads what is stored of a history.
func (e *engine) events(ctx context.Context, tx tx, id string) (list []Event, err error) {
	err = query(ctx, tx, func(scan func(...any) error) error {
		var event Event
		detail, s := "", &event.Standing
		if err := scan(&event.At, &event.Kind, &event.By, &event.Note, &s.State, &s.Outcome, &s.Reversal, &detail); err != nil {
			return err
		}
		if detail != "" {
			if err := json.Unmarshal([]byte(detail), &event.Seen); err != nil {
				return &VersionError{id, err}
			}
		}
		list = append(list, event)
		return nil
	}, "SELECT at, kind, by, note, state, outcome, reversal, detail FROM quickstream.event WHERE write_id = $1 ORDER BY number", id)
	return list, err
}

// record adds events to the history of a write.
func (e *engine) record(ctx context.Context, tx tx, r *row, events ...Event) error {
	const columns = 9
	var values []string
	var args []any
	for i, event := range events {
		detail := ""
		if event.Seen.Result != "" {
			data, err := json.Marshal(event.Seen)
			if err != nil {
				return err
			}
			detail = string(data)
		}
		marks := make([]string, columns)
		for n := range marks {
			marks[n] = "$" + strconv.Itoa(i*columns+n+1)
		}
		values = append(values, "("+strings.Join(marks, ", ")+")")
		args = append(args, r.ID, e.clock(), event.Kind, event.By, event.Note, r.State, r.Outcome, r.Reversal, detail)
	}
	return execute(ctx, tx, "INSERT INTO quickstream.event (write_id, at, kind, by, note, state, outcome, reversal, detail) VALUES "+strings.Join(values, ", "), args...)
}

// event is the entry of an observation, or false if it says nothing new.
func (o observed) event(before, r *row) (Event, bool) {
	event := Event{Kind: EventLookedUp, Seen: o.Seen}
	switch o.Kind {
	case sawPermit:
		event.Kind = EventNotExecuted
	case sawRefusal:
		event.Kind = EventRefused
	case sawTooLate:
		event.Kind = EventExpired
	case sawReturn:
		event.Kind = EventReturned
	case sawDecision:
		event.Kind, event.By, event.Note = EventDecided, o.Decision.By, o.Decision.Note
	default:
		if o.Claim != "" {
			event.Kind = EventAnswered
		}
	}
	last := before.lookups.Lookups
	same := len(last) > 0 && event.Kind == EventLookedUp && last[len(last)-1].Result == o.Seen.Result && last[len(last)-1].ReceiptNumber == o.Seen.ReceiptNumber
	return event, before.Standing != r.Standing || !same
}

// checkPerson refuses what is no name of a person, and no reason.
func checkPerson(by, note string) error {
	for _, text := range []string{by, note} {
		if text == "" || len(text) > 200 || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return errors.New("durable: by and note are required, one line of printable text of up to 200 bytes")
		}
	}
	return nil
}
