package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// agreement is a customer's consent to be charged each month.
type agreement struct {
	Reference, OrderID, Visitor, Item string
	Amount                            int64
	Token                             string
	Status                            string // the service's word; "" until it was heard
	Started                           quickstream.Date
	Collected                         int // how many collections were written
	Created                           int64
}

// statusRefused is that of an agreement that the service did not take.
const statusRefused = "REFUSED"

const agreementColumns = "reference, order_id, visitor, item, amount, token, status, started, collected, created"

func scanAgreement(scan func(...any) error) (a agreement, err error) {
	var started string
	err = scan(&a.Reference, &a.OrderID, &a.Visitor, &a.Item, &a.Amount, &a.Token, &a.Status, &started, &a.Collected, &a.Created)
	if err == nil {
		a.Started, err = quickstream.ParseDate(started)
	}
	return a, err
}

// going is the condition of an agreement of which something may still come. One that has ended stays so, whatever an
// older answer says that comes late.
const going = "status NOT IN ('REFUSED', 'REJECTED', 'CANCELLED')"

// Refused reports whether there never was an agreement.
func (a agreement) Refused() bool { return a.Status == statusRefused }

// Ended reports whether nothing comes of the agreement any more.
func (a agreement) Ended() bool {
	return a.Refused() || a.Status == string(quickstream.AgreementStatusRejected) || a.Status == string(quickstream.AgreementStatusCancelled)
}

// Due is when the next collection is due: the same day of a month, or its last one.
func (a agreement) Due() quickstream.Date {
	first := time.Date(a.Started.Year, a.Started.Month+time.Month(a.Collected), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return quickstream.NewDate(first.Year(), first.Month(), min(a.Started.Day, last))
}

func (s *server) agreementOf(r *http.Request) (agreement, error) {
	return scanAgreement(s.db.QueryRowContext(r.Context(), "SELECT "+agreementColumns+" FROM shop_agreement WHERE reference = ? AND visitor = ?",
		r.PathValue("agreement"), visitorOf(r).number).Scan)
}

func (s *server) agreements(ctx context.Context, query string, args ...any) ([]agreement, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return all(rows, scanAgreement)
}

func (s *server) agreementsOf(ctx context.Context, visitor string) ([]agreement, error) {
	return s.agreements(ctx, "SELECT "+agreementColumns+" FROM shop_agreement WHERE visitor = ? ORDER BY created", visitor)
}

// agreementPage shows how an agreement stands. Beside the notifications, which may be
// late, it asks the service.
func (s *server) agreementPage(w http.ResponseWriter, r *http.Request) {
	a, err := s.agreementOf(r)
	if err != nil {
		s.missing(w, r, err)
		return
	}
	if a, err = s.refreshed(r.Context(), a); err != nil {
		s.fail(w, r, err)
		return
	}
	data, err := s.agreementStatus(r.Context(), a)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, http.StatusOK, "agreement", "Your PayTo agreement", data)
}

// refreshed is an agreement as the service has it, where that can be read.
func (s *server) refreshed(ctx context.Context, a agreement) (agreement, error) {
	if a.Token == "" || a.Ended() {
		return s.unsent(ctx, a)
	}
	limited, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	now, err := s.client.PayTo.Get(limited, a.Token)
	if err != nil {
		return a, nil // what was heard last is shown
	}
	a.Status = string(now.Status)
	return a, s.learn(ctx, s.db, now)
}

// unsent gives up an agreement that the program was killed before it could send: durable
// has none of that name, which it writes down before the first byte.
func (s *server) unsent(ctx context.Context, a agreement) (agreement, error) {
	switch _, err := s.engine.Write(ctx, a.Reference); {
	case !errors.Is(err, durable.ErrNoWrite):
		return a, err
	case a.Status != "" || s.clock.Now().UnixMicro()-a.Created < (2*time.Minute).Microseconds():
		return a, nil
	}
	a.Status = statusRefused
	_, err := s.db.ExecContext(ctx, "UPDATE shop_agreement SET status = ? WHERE reference = ? AND status = ''", statusRefused, a.Reference)
	return a, err
}

type agreementStatus struct {
	Agreement agreement
	Kind      string // finding, pending, active, suspended or over
	Next      string // the day of the next collection
	Orders    []order
	Open      bool // a collection has begun, and has no outcome yet
	Over      bool
}

func (s *server) agreementStatus(ctx context.Context, a agreement) (agreementStatus, error) {
	at := agreementStatus{Agreement: a}
	switch quickstream.AgreementStatus(a.Status) {
	case quickstream.AgreementStatusCreated, quickstream.AgreementStatusPending:
		at.Kind = "pending"
	case quickstream.AgreementStatusActive:
		at.Kind, at.Next = "active", a.Due().In(s.sydney).Format("2 January 2006")
	case quickstream.AgreementStatusSuspended:
		at.Kind = "suspended"
	default:
		at.Kind = "finding"
	}
	if a.Ended() {
		at.Kind, at.Over = "over", true
	}
	mine, err := s.ordersOf(ctx, a.Visitor)
	for _, o := range mine {
		if o.Agreement == a.Reference {
			at.Orders = append(at.Orders, o)
			at.Open = at.Open || o.open()
		}
	}
	return at, err
}

// State changes with what the page shows.
func (at agreementStatus) State() string {
	state := at.Kind
	for _, o := range at.Orders {
		state += " " + o.ID + ":" + o.State
	}
	return state
}

// collect collects what is due by agreements, until ctx ends.
func (s *server) collect(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		err := s.collectAll(ctx, n%10 == 0)
		if err != nil && ctx.Err() == nil {
			s.logger.WarnContext(ctx, "collecting", "error", err)
		}
	}
}

// collectAll collects what is due. With ask it asks the service first how all agreements
// stand: a notification may have been lost.
func (s *server) collectAll(ctx context.Context, ask bool) error {
	list, err := s.agreements(ctx, "SELECT "+agreementColumns+" FROM shop_agreement WHERE "+going)
	for _, a := range list {
		if ask || a.Token == "" {
			var failed error
			a, failed = s.refreshed(ctx, a)
			err = errors.Join(err, failed)
		}
		if a.Status == string(quickstream.AgreementStatusActive) {
			err = errors.Join(err, s.collectNext(ctx, a))
		}
	}
	return err
}

// collectNext writes the payment of an agreement's next month, if it is due. The count goes
// on in the same transaction, so that a month is collected once, and none after a page has said that the agreement
// has ended.
func (s *server) collectNext(ctx context.Context, a agreement) error {
	if a.Due().Compare(s.today()) > 0 {
		return nil
	}
	a, err := s.refreshed(ctx, a)
	if err != nil || a.Status != string(quickstream.AgreementStatusActive) {
		return err
	}
	o := order{ID: a.OrderID, Visitor: a.Visitor, Item: a.Item, Amount: a.Amount, Agreement: a.Reference}
	if a.Collected > 0 {
		o.ID = fmt.Sprintf("%s-%d", a.OrderID, a.Collected+1)
	}
	ctx, span := s.telemetry.tracer.Start(ctx, "collect")
	defer span.End()
	return s.within(ctx, func(tx *sql.Tx) error {
		counted, err := tx.ExecContext(ctx, "UPDATE shop_agreement SET collected = collected + 1 WHERE reference = ? AND collected = ? AND status = ?",
			a.Reference, a.Collected, a.Status)
		if err != nil {
			return err
		}
		if n, err := counted.RowsAffected(); err != nil || n != 1 {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO shop_order (id, visitor, item, amount, agreement, created) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO NOTHING`, o.ID, o.Visitor, o.Item, o.Amount, o.Agreement, micros(s.clock.Now()))
		if err != nil {
			return err
		}
		params := s.params(o)
		params.Source = quickstream.FromPayTo(quickstream.PayToPayment{AgreementToken: a.Token})
		// One attempt for a month. What is declined can be paid at the checkout.
		w := durable.NewWrite{ID: fmt.Sprintf("%s-%d", a.Reference, a.Collected+1), Order: o.ID}
		if _, _, err = s.engine.Pay(ctx, tx, w, params); err != nil && !errors.Is(err, durable.ErrOrderOpen) {
			return err
		}
		if err = s.begun(ctx, tx, o.ID); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE shop_order SET state = ? WHERE id = ? AND "+payable, statePaying, o.ID)
		return err
	})
}
