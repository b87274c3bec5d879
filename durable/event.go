package durable

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/quickstream-go/quickstream/durable/internal/database"
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
	EventCancelled   EventKind = "cancelled"    // by a person, before it was sent
	EventLost        EventKind = "lost"         // the process that was sending it has ended
	EventLookedUp    EventKind = "looked_up"
	EventShown       EventKind = "shown"    // in a list or an event of the service
	EventHeld        EventKind = "held"     // it must not be sent: a person has to find out why
	EventReturned    EventKind = "returned" // it is in the list of returned transactions
	EventDecided     EventKind = "decided"  // by a person
	EventReplaced    EventKind = "replaced" // a person has had another payment made instead
	EventAsked       EventKind = "asked"    // a person has asked for a follow-up, a look-up or a notification
	EventPaused      EventKind = "paused"   // a person has paused the installation
	EventUnpaused    EventKind = "unpaused"
	EventErased      EventKind = "erased" // a person has had a customer's data removed

	EventRestored          EventKind = "restored"           // the history of the database has changed, or a person has said that it has
	EventHistoryConfirmed  EventKind = "history_confirmed"  // a person has said that the database is no copy
	EventRestoringEnded    EventKind = "restoring_ended"    // a person has ended the restoring, or it has come to its end
	EventFacilityConfirmed EventKind = "facility_confirmed" // a person has said that the installation has moved
)

// Event is an entry of a write's history, or of the installation's. Entries are only added, until the write is emptied.
type Event struct {
	WriteID string
	At      time.Time
	Kind    EventKind
	// By and Note name the person who decided or asked, and why.
	By, Note string
	// Standing is that of the write after the event.
	Standing Standing
	// Seen is what a look-up or an answer showed.
	Seen resolve.Observation
}

// Events returns the history of a write, oldest first. An empty id returns the history of the installation:
// what persons have confirmed, paused and asked for. The error matches [ErrNoWrite] if there is no write.
func (e *Engine[TTx]) Events(ctx context.Context, id string) (list []Event, err error) {
	if id != "" {
		r, err := e.one(ctx, e.db, "id = $1", id)
		if err != nil || r == nil {
			return nil, named(cmp.Or(err, ErrNoWrite))
		}
		list = []Event{r.queued()}
	}
	stored, err := e.events(ctx, "write_id = $1 ORDER BY number", id)
	return append(list, stored...), named(err)
}

// EventsBy returns the newest events that a person has caused, up to 1000; without a name those of all persons.
func (e *Engine[TTx]) EventsBy(ctx context.Context, by string) (list []Event, err error) {
	list, err = e.events(ctx, "by <> '' AND (by = $1 OR $1 = '') ORDER BY at DESC, number DESC LIMIT 1000", by)
	return list, named(err)
}

// queued returns the first event, which the row itself holds.
func (r *row) queued() Event {
	return Event{WriteID: r.ID, At: r.Written, Kind: EventQueued, Standing: standing(StateQueued)}
}

// events reads the stored events of a history.
func (e *engine) events(ctx context.Context, where string, arg string) (list []Event, err error) {
	err = query(ctx, e.db, func(scan func(...any) error) error {
		var event Event
		detail, s := "", &event.Standing
		if err := scan(&event.WriteID, &event.At, &event.Kind, &event.By, &event.Note, &s.State, &s.Reason, &detail); err != nil {
			return err
		}
		if detail != "" {
			if err := json.Unmarshal([]byte(detail), &event.Seen); err != nil {
				return err
			}
		}
		list = append(list, event)
		return nil
	}, "SELECT write_id, at, kind, by, note, state, reason, detail FROM quickstream.event WHERE "+where, arg)
	return list, err
}

// record adds an event to the history of a write or of the installation. The caller has locked its row.
func (e *engine) record(ctx context.Context, tx tx, r *row, event Event) error {
	detail := ""
	if event.Seen.Result != "" {
		data, err := json.Marshal(event.Seen)
		if err != nil {
			return err
		}
		detail = string(data)
	}
	return execute(ctx, tx, `INSERT INTO quickstream.event (write_id, number, at, kind, by, note, state, reason, detail)
		VALUES ($1, coalesce((SELECT max(number) FROM quickstream.event WHERE write_id = $1), 0) + 1, `+database.Now+`, $2, $3, $4, $5, $6, $7)`,
		r.ID, event.Kind, event.By, event.Note, r.State, r.Reason, detail)
}

// recordInstallation adds an event of a person to the installation's history.
func (e *engine) recordInstallation(ctx context.Context, tx tx, event Event) error {
	if err := setMeta(ctx, tx, "lock of events", ""); err != nil {
		return err
	}
	return e.record(ctx, tx, &row{}, event)
}

// checkPerson refuses a name or a reason that is empty, too long or not printable.
func checkPerson(by, note string) error {
	for _, text := range []string{by, note} {
		if text == "" || len(text) > 200 || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return errors.New("durable: by and note are required, one line of printable text of up to 200 bytes")
		}
	}
	return nil
}
