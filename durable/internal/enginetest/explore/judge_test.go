package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/durable"
)

// stood is a write as it is in the end.
type stood struct {
	id, order, follows, receipt, reference string
	durable.Standing
	amount            decimal.Decimal
	changes, notified int64
	decided           bool
}

func (s *scene[TTx]) writes() (all []stood) {
	s.each(func(scan func(...any) error) error {
		var w stood
		err := scan(&w.id, &w.order, &w.follows, &w.receipt, &w.reference, &w.State, &w.Reason, &w.amount, &w.changes, &w.notified, &w.decided)
		all = append(all, w)
		return err
	}, "SELECT id, order_id, follows, receipt, reference, state, reason, amount, changes, notified, decided FROM quickstream.write ORDER BY id")
	return all
}

// settle runs an undisturbed process that does the remaining work, while time passes.
func (s *scene[TTx]) settle() error {
	s.service.script = script{}
	s.service.show()
	ctx := context.Background()
	e, err := s.boot()
	if err != nil {
		return err
	}
	for range 60 {
		if err := e.tasks.Recognise(ctx); err != nil {
			return err
		}
		var next time.Time
		open := 0
		s.each(func(scan func(...any) error) error {
			var at time.Time
			var state durable.State
			var changes, notified int64
			err := scan(&at, &state, &changes, &notified)
			if state.InProgress() || changes > notified {
				if open++; next.IsZero() || at.Before(next) {
					next = at
				}
			}
			return err
		}, "SELECT next_at, state, changes, notified FROM quickstream.write")
		restoring := len(e.texts(ctx, "SELECT name FROM quickstream.meta WHERE name = 'restoring' AND value <> ''")) > 0
		paused := len(e.texts(ctx, "SELECT name FROM quickstream.meta WHERE name = 'breaker' AND value <> ''")) > 0
		if open == 0 && !restoring {
			return nil
		}
		if s.clock = s.clock.Add(time.Second); next.After(s.clock) {
			s.clock = next
		}
		if restoring {
			s.clock = s.clock.Add(6 * time.Minute)
			_ = e.ConfirmHistory(ctx, "Kim", "it is no copy")
			if err := e.tasks.Restore(ctx); err != nil {
				return err
			}
		}
		if paused {
			s.clock = s.clock.Add(2 * time.Minute)
			if err := e.tasks.Breaker(ctx); err != nil {
				return err
			}
		}
		if err := s.work(ctx, e); err != nil && !errors.Is(err, errBusy) {
			return err
		}
	}
	return nil // its look-ups take longer
}

// Judge compares what the shop and the engine know with the service's ledger.
func (s *scene[TTx]) Judge() error {
	s.run = nil
	errs := slices.Clone(s.wrong)
	if err := s.settle(); err != nil {
		return errors.Join(append(errs, fmt.Errorf("it does not settle: %w", err))...)
	}
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	writes := s.writes()
	charged, by := map[string]int{}, map[string]int{} // by order, and by reference
	receipts := map[string]int{}
	refunded := map[string]decimal.Decimal{}
	for _, e := range s.service.ledger {
		if e.approved() {
			receipts[e.receipt] = 1
		}
		switch {
		case e.kind == "REFUND" && e.approved():
			refunded[e.original] = refunded[e.original].Add(e.amount)
			by[e.reference]++
		case e.approved():
			charged[e.order]++
			by[e.reference]++
		case e.status == "Voided":
			by[e.reference]++
		}
	}
	blocks := map[string]int{}
	for _, w := range writes {
		known := w.decided || w.Reason == durable.ReasonDoubleCharged
		switch taken := max(by[w.reference], receipts[w.receipt]); {
		case w.reference == "" || known:
		case taken > 1:
			wrong("%s was executed %d times", w.id, taken)
		case w.State == durable.StateApproved && taken == 0:
			wrong("%s is %s, and was not executed", w.id, w.Name())
		case taken == 1 && (w.State == durable.StateDeclined || w.State == durable.StateNotSent):
			wrong("%s is %s, and was executed", w.id, w.Name())
		}
		if w.follows == "" && w.State.Blocks() && w.Reason != durable.ReasonDoubleCharged {
			blocks[w.order]++
		}
		if w.changes != w.notified {
			wrong("OnOutcome took %d of %d changes of %s", w.notified, w.changes, w.id)
		}
		if taken := refunded[w.receipt]; w.receipt != "" && w.follows == "" && taken.GreaterThan(w.amount) {
			wrong("%s of %s of %s was refunded", taken, w.amount, w.id)
		}
	}
	for order, times := range charged {
		if times > 1 && !s.again {
			wrong("order %s was charged %d times", order, times)
		}
	}
	errs = append(errs, s.calls(writes)...)
	return errors.Join(errs...)
}

// calls returns what is wrong with the calls of OnOutcome: each has to begin where the last one ended, and the last
// one has to be the write's standing.
func (s *scene[TTx]) calls(writes []stood) (errs []error) {
	last, times := map[string]string{}, map[string]int{}
	s.each(func(scan func(...any) error) error {
		var id, before, after string
		err := scan(&id, &before, &after)
		if before != last[id] {
			errs = append(errs, fmt.Errorf("OnOutcome got %s from %q, and last that it is %q", id, before, last[id]))
		}
		if times[id]++; before == after {
			errs = append(errs, fmt.Errorf("OnOutcome was called twice because that %s is %s", id, after))
		}
		last[id] = after
		return err
	}, "SELECT payment, before, after FROM reported ORDER BY number")
	for _, w := range writes {
		if w.State.InProgress() {
			continue
		}
		if last[w.id] != w.Name() {
			errs = append(errs, fmt.Errorf("%s is %s, and OnOutcome last got %q", w.id, w.Name(), last[w.id]))
		}
	}
	return errs
}
