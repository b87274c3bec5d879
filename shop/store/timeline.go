package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// The kinds of entries in an order's timeline. The shop stores the first three; the others are read
// from the history that durable keeps of each write.
const (
	kindAttempt = "attempt" // a request that does something
	kindLookUp  = "look-up" // a question what became of it
	kindEvent   = "event"   // a notification
	kindOutcome = "outcome" // what is known from then on
	kindPerson  = "person"  // what somebody has done in the back office
)

// entry is one line of an order's timeline.
type entry struct {
	At   int64
	Kind string
	What string
}

// executor is a transaction or the database.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// note adds to an order's timeline.
func (s *server) note(ctx context.Context, orderID, kind, name, result, took string, try int) error {
	_, err := s.db.ExecContext(ctx, "INSERT INTO shop_timeline (order_id, at, kind, name, result, took, try) VALUES (?, ?, ?, ?, ?, ?, ?)",
		orderID, micros(s.clock.Now()), kind, name, result, took, try)
	return err
}

// timeline returns what happened to an order and its writes, oldest first.
func (s *server) timeline(ctx context.Context, orderID string, writes []write) ([]entry, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT at, kind, name || CASE WHEN result = '' THEN ''
			WHEN result GLOB '[0-9]*' THEN ', answered ' || result || ' after ' || took ELSE ', no answer (' || result || ') after ' || took END
			|| iif(try > 1, ', sent again with the same key (' || try || ')', '')
		FROM shop_timeline WHERE order_id = ? ORDER BY number`, orderID)
	if err != nil {
		return nil, err
	}
	list, err := all(rows, func(scan func(...any) error) (e entry, err error) {
		err = scan(&e.At, &e.Kind, &e.What)
		return e, err
	})
	for _, w := range writes {
		list = append(list, w.history()...)
	}
	slices.SortStableFunc(list, func(x, y entry) int { return cmp.Compare(x.At, y.At) })
	return list, err
}

// history is what the back office shows of a write's events.
func (w write) history() (list []entry) {
	code := ""
	for _, event := range w.Events {
		e := entry{At: micros(event.At)}
		code = cmp.Or(event.Seen.ResponseCode, code)
		switch event.Kind {
		case durable.EventQueued:
			if w.Follows == "" {
				continue
			}
			e.Kind, e.What = kindPerson, "give back "+money(w.Cents())
		case durable.EventDecided:
			e.Kind, e.What = kindPerson, fmt.Sprintf("%s decides: %s. %s", event.By, event.Standing.Text(), event.Note)
		case durable.EventNotified:
			e.Kind, e.What = kindOutcome, fmt.Sprintf("%s: %s", w.Operation, event.Standing.Text())
			if code != "" {
				e.What += " (code " + code + ")"
			}
		default:
			continue
		}
		list = append(list, e)
	}
	return list
}

type orderKey struct{}

// forOrder names the order that calls are made for. The library hands it on to its later
// calls about the same payment, after a restart too: see observer.
func forOrder(ctx context.Context, orderID string) context.Context {
	return context.WithValue(ctx, orderKey{}, orderID)
}

// observer writes each request about an order into its timeline, and does what next does.
// An observer sees no values, so that the order comes with the context: the library stores
// what Carrier returns with the payment, and gives it to Continue when it works on it.
func (s *server) observer(next quickstream.Observer) quickstream.Observer {
	with := next
	with.Carrier = func(ctx context.Context) string {
		orderID, _ := ctx.Value(orderKey{}).(string)
		if next.Carrier == nil {
			return orderID
		}
		return orderID + " " + next.Carrier(ctx)
	}
	with.Continue = func(ctx context.Context, carrier string) context.Context {
		orderID, rest, _ := strings.Cut(carrier, " ")
		if next.Continue != nil && rest != "" {
			ctx = next.Continue(ctx, rest)
		}
		return forOrder(ctx, orderID)
	}
	with.Attempt = func(ctx context.Context, call quickstream.CallInfo, attempt quickstream.AttemptInfo) {
		if next.Attempt != nil {
			next.Attempt(ctx, call, attempt)
		}
		if orderID, _ := ctx.Value(orderKey{}).(string); orderID != "" {
			s.noteAttempt(ctx, orderID, call, attempt)
		}
	}
	return with
}

func (s *server) noteAttempt(ctx context.Context, orderID string, call quickstream.CallInfo, attempt quickstream.AttemptInfo) {
	kind := kindAttempt
	if call.Method == http.MethodGet {
		kind = kindLookUp
	}
	result := strconv.Itoa(attempt.StatusCode)
	if attempt.StatusCode == 0 {
		result = cmp.Or(string(attempt.Network), "unknown")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := s.note(ctx, orderID, kind, call.Method+" "+call.Route, result, attempt.Duration.Round(time.Millisecond).String(), attempt.Number); err != nil {
		s.logger.WarnContext(ctx, "an attempt is missing in the timeline", "error", err)
	}
}
