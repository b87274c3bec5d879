package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/resolve"
)

// compareAt is when the day before is held against the service's list.
func compareAt() resolve.TimeOfDay { return resolve.TimeOfDay{Hour: 4} }

// comparison is one run of it.
type comparison struct {
	Date         string
	Begun, Ended int64
	Failed       bool
	Differences  []difference
}

// difference is what the service and the shop say differently.
type difference struct {
	Kind, OrderID    string
	Operation, State string // here
	Amount           int64
	Receipt, Status  string // there
	Taken            sql.NullInt64
}

// nightly compares each day that is over, once, until ctx ends. Options.CompareAt of
// durable does the same; here each run is written down, one that finds nothing too.
func (s *server) nightly(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		dates, err := s.uncompared(ctx)
		for _, date := range dates {
			err = errors.Join(err, s.compare(ctx, date))
		}
		if err != nil && ctx.Err() == nil {
			s.logger.WarnContext(ctx, "comparing", "error", err)
		}
	}
}

// lastDay is the last day that is over, from the morning after it.
func (s *server) lastDay() quickstream.Date {
	now, at := s.clock.Now().In(s.sydney), compareAt()
	if now.Hour() < at.Hour || now.Hour() == at.Hour && now.Minute() < at.Minute {
		return s.today().AddDays(-2)
	}
	return s.today().AddDays(-1)
}

// uncompared are the days that are over and were not compared since, from the first that
// was. What has failed is due again after ten minutes.
func (s *server) uncompared(ctx context.Context) ([]quickstream.Date, error) {
	rows, err := s.db.QueryContext(ctx, `WITH RECURSIVE day (date) AS (
			SELECT min(coalesce(min(date), ?1), ?1) FROM shop_comparison UNION ALL SELECT date(date, '+1 day') FROM day WHERE date < ?1)
		SELECT date FROM day WHERE NOT EXISTS (SELECT 1 FROM shop_comparison c WHERE c.date = day.date AND (whole AND ended > 0 AND NOT failed OR begun > ?2))`,
		s.lastDay().String(), micros(s.clock.Now().Add(-10*time.Minute)))
	if err != nil {
		return nil, err
	}
	return all(rows, func(scan func(...any) error) (quickstream.Date, error) {
		var date string
		if err := scan(&date); err != nil {
			return quickstream.Date{}, err
		}
		return quickstream.ParseDate(date)
	})
}

// compare holds a day against the service's list, one day at a time, and writes down what
// it finds.
func (s *server) compare(ctx context.Context, date quickstream.Date) error {
	s.comparing.Lock()
	defer s.comparing.Unlock()
	err := s.within(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM shop_difference WHERE date = ?", date.String())
		if err == nil {
			_, err = tx.ExecContext(ctx, `INSERT INTO shop_comparison (date, whole, begun) VALUES (?, ?, ?)
				ON CONFLICT (date) DO UPDATE SET whole = excluded.whole, begun = excluded.begun, ended = 0, failed = 0`,
				date.String(), date.Compare(s.lastDay()) <= 0, micros(s.clock.Now()))
		}
		return err
	})
	if err != nil {
		return err
	}
	ctx, span := s.telemetry.tracer.Start(ctx, "compare")
	defer span.End()
	err = s.engine.Compare(ctx, date)
	_, stored := s.db.ExecContext(ctx, "UPDATE shop_comparison SET ended = ?, failed = ? WHERE date = ?", micros(s.clock.Now()), err != nil, date.String())
	return errors.Join(err, stored)
}

// onDifference is notified of what a comparison finds.
func (s *server) onDifference(ctx context.Context, d durable.Difference) error {
	var found difference
	if d.Write != nil {
		w := d.Write.Common()
		found = difference{OrderID: w.Order, Operation: string(w.Operation), State: w.Name(), Amount: cents(w.Amount)}
	}
	if t := d.Transaction; t != nil {
		found.OrderID = cmp.Or(found.OrderID, t.CustomerReferenceNumber)
		found.Receipt, found.Status = t.ReceiptNumber, string(t.Status)
		if t.PrincipalAmount != nil {
			found.Taken = sql.NullInt64{Int64: cents(t.PrincipalAmount.Amount), Valid: true}
		}
	}
	_, err := s.db.ExecContext(ctx, "INSERT INTO shop_difference (date, kind, order_id, operation, state, amount, receipt, status, taken) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		d.Date.String(), string(d.Kind), found.OrderID, found.Operation, found.State, found.Amount, found.Receipt, found.Status, found.Taken)
	return err
}

// firstDay is the first day that was compared, from when on the shop has anything.
func (s *server) firstDay(ctx context.Context) (string, error) {
	var first string
	err := s.db.QueryRowContext(ctx, "SELECT coalesce(min(date), ?) FROM shop_comparison", s.lastDay().String()).Scan(&first)
	return first, err
}

// compareNow compares a day that somebody asks for, in the background: a day of many
// payments takes a while.
func (s *server) compareNow(w http.ResponseWriter, r *http.Request) {
	first, err := s.firstDay(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	date, err := quickstream.ParseDate(r.PostFormValue("date"))
	if err != nil || date.String() < first || date.Compare(s.today()) > 0 {
		r.URL.Path = "/office/comparison"
		notice := fmt.Sprintf("Not done: choose a day from %s, before which the shop has nothing, to today.", first)
		s.officeAnswer(w, r, http.StatusUnprocessableEntity, "office-comparison", "Comparison", notice, s.comparisonData)
		return
	}
	s.running.Go(func() {
		if err := s.compare(s.ending, date); err != nil {
			s.logger.WarnContext(s.ending, "comparing", "error", err)
		}
	})
	http.Redirect(w, r, "/office/comparison?date="+date.String(), http.StatusSeeOther)
}

// comparisonData are the day that somebody has asked for, the last seven, and all that are
// not in order.
func (s *server) comparisonData(r *http.Request) (any, error) {
	first, err := s.firstDay(r.Context())
	if err != nil {
		return nil, err
	}
	rows, err := s.db.QueryContext(r.Context(), `SELECT date, begun, ended, failed FROM shop_comparison
		WHERE failed OR date IN (SELECT date FROM shop_difference)
		OR date IN (SELECT date FROM shop_comparison ORDER BY date DESC LIMIT 7) OR date = ?1 ORDER BY date = ?1 DESC, date DESC`, r.URL.Query().Get("date"))
	if err != nil {
		return nil, err
	}
	runs, err := all(rows, func(scan func(...any) error) (c comparison, err error) {
		err = scan(&c.Date, &c.Begun, &c.Ended, &c.Failed)
		return c, err
	})
	if err != nil {
		return nil, err
	}
	for i := range runs {
		rows, err := s.db.QueryContext(r.Context(), "SELECT kind, order_id, operation, state, amount, receipt, status, taken FROM shop_difference WHERE date = ? ORDER BY number LIMIT 100", runs[i].Date)
		if err != nil {
			return nil, err
		}
		runs[i].Differences, err = all(rows, func(scan func(...any) error) (d difference, err error) {
			err = scan(&d.Kind, &d.OrderID, &d.Operation, &d.State, &d.Amount, &d.Receipt, &d.Status, &d.Taken)
			return d, err
		})
		if err != nil {
			return nil, err
		}
	}
	return struct {
		Runs                    []comparison
		First, Yesterday, Today string
		At                      string
	}{runs, first, s.today().AddDays(-1).String(), s.today().String(), fmt.Sprintf("%02d:%02d", compareAt().Hour, compareAt().Minute)}, nil
}
