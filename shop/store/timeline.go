package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
)

// The kinds of entries in an order's timeline.
const (
	kindAttempt = "attempt" // a request that does something
	kindLookUp  = "look-up" // a question what became of it
	kindEvent   = "event"   // a notification
	kindOutcome = "outcome" // what is known from then on
)

// entry is one line of an order's timeline.
type entry struct {
	Number  int64
	OrderID string
	At      int64
	Kind    string
	What    string
}

// executor is a transaction or the database.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// note adds to an order's timeline.
func (s *server) note(ctx context.Context, in executor, orderID, kind, what string) error {
	_, err := in.ExecContext(ctx, "INSERT INTO shop_timeline (order_id, at, kind, what) VALUES (?, ?, ?, ?)",
		orderID, micros(s.clock.Now()), kind, what)
	return err
}

// timeline returns what happened to an order, oldest first.
func (s *server) timeline(ctx context.Context, orderID string) ([]entry, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT number, order_id, at, kind, what FROM shop_timeline WHERE order_id = ? ORDER BY number", orderID)
	if err != nil {
		return nil, err
	}
	return all(rows, func(scan func(...any) error) (e entry, err error) {
		err = scan(&e.Number, &e.OrderID, &e.At, &e.Kind, &e.What)
		return e, err
	})
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
	answer := fmt.Sprintf("answered %d", attempt.StatusCode)
	if attempt.StatusCode == 0 {
		answer = "no answer (" + cmp.Or(string(attempt.Network), "unknown") + ")"
	}
	what := fmt.Sprintf("%s %s, %s after %s", call.Method, call.Route, answer, attempt.Duration.Round(time.Millisecond))
	if attempt.Number > 1 {
		what += fmt.Sprintf(", sent again with the same key (%d)", attempt.Number)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if err := s.note(ctx, s.db, orderID, kind, what); err != nil {
		s.logger.WarnContext(ctx, "an attempt is missing in the timeline", "error", err)
	}
}
