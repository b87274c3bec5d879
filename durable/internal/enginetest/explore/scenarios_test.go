package explore

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// scenario is a few actors and the state in which they begin.
type scenario[TTx comparable] struct {
	name    string
	script  script
	refuses int             // so many calls of OnOutcome fail
	fine    bool            // each statement is a step
	meets   bool            // the gate runs it on PostgreSQL too, where several transactions are open at a time
	past    database.Change // of the database's history
	again   bool            // a person has said that the order may be paid again
	setting func(ctx context.Context, s *scene[TTx], e *engine[TTx])
	actors  []actor[TTx]
}

// actor is a process, or a person who uses one.
type actor[TTx comparable] struct {
	name   string
	mortal bool
	acts   func(ctx context.Context, s *scene[TTx], e *engine[TTx])
}

// worker works on what is due, so many times.
func worker[TTx comparable](name string, times int) actor[TTx] {
	return actor[TTx]{name: name, acts: func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		for range times {
			_ = s.work(ctx, e)
		}
	}}
}

// mortal is an actor whose process may end.
func mortal[TTx comparable](a actor[TTx]) actor[TTx] {
	a.mortal = true
	return a
}

// does returns an actor that does one thing.
func does[TTx comparable](name string, do func(ctx context.Context, s *scene[TTx], e *engine[TTx])) actor[TTx] {
	return actor[TTx]{name: name, acts: do}
}

// customer pays the order under an id.
func customer[TTx comparable](attempts ...string) actor[TTx] {
	return does("customer", func(ctx context.Context, _ *scene[TTx], e *engine[TTx]) {
		for _, attempt := range attempts {
			_ = e.pay(ctx, attempt, "O-1")
		}
	})
}

// later lets time pass before an actor acts.
func later[TTx comparable](a actor[TTx], d time.Duration) actor[TTx] {
	acts := a.acts
	a.acts = func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		t := turnOf(ctx)
		t.Yield()
		t.Writes("clock")
		t.Says("time passes")
		s.clock = s.clock.Add(d)
		acts(ctx, s, e)
	}
	return a
}

// queued is a payment that waits, and paid one that is approved.
func queued[TTx comparable](ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	if err := e.pay(ctx, "1", "O-1"); err != nil {
		s.Fatal(err)
	}
}

func paid[TTx comparable](ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	queued(ctx, s, e)
	if err := s.work(ctx, e); err != nil {
		s.Fatal(err)
	}
}

// lost is a payment whose answer was lost.
func lost[TTx comparable](ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	s.service.script = script{lose: map[int]bool{0: true}, hidden: true}
	queued(ctx, s, e)
	if err := e.tasks.Send(ctx, "1"); err != nil {
		s.Fatal(err)
	}
}

// refunds commits refunds of a payment, which then wait.
func refunds[TTx comparable](cents ...int64) func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	return func(ctx context.Context, _ *scene[TTx], e *engine[TTx]) {
		for i, c := range cents {
			_ = e.commit(ctx, func(tx TTx) error {
				_, _, err := e.Refund(ctx, tx, durable.NewWrite{ID: fmt.Sprintf("refund %d of %d", i, c)}, "1", quickstream.RefundParams{PrincipalAmount: decimal.New(c, -2), Currency: quickstream.CurrencyAUD})
				return err
			})
		}
	}
}

func both[TTx comparable](all ...func(ctx context.Context, s *scene[TTx], e *engine[TTx])) func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	return func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		for _, do := range all {
			do(ctx, s, e)
		}
	}
}

// webhook delivers the event of the newest transaction and acts on it.
func webhook[TTx comparable](times int) actor[TTx] {
	return does("webhook", func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		for range times {
			t := turnOf(ctx)
			t.Yield()
			t.Reads("service")
			t.Says("asks the service")
			if len(s.service.ledger) == 0 {
				continue
			}
			n := notification("event", s.service.ledger[len(s.service.ledger)-1].receipt)
			if e.tasks.Keep(ctx, n) == nil {
				_ = e.tasks.Inbox(ctx, n.ID, n.Digest())
			}
		}
	})
}

// scenarios returns all scenarios.
func scenarios[TTx comparable]() []scenario[TTx] {
	two := []actor[TTx]{worker[TTx]("worker one", 1), worker[TTx]("worker two", 1)}
	dying := []actor[TTx]{mortal(worker[TTx]("worker one", 1)), later(worker[TTx]("worker two", 2), 3*time.Minute)}
	cancel := does("person", func(ctx context.Context, _ *scene[TTx], e *engine[TTx]) {
		_ = e.Cancel(ctx, "1", "Kim", "a wrong price")
	})
	return []scenario[TTx]{
		{name: "two workers", meets: true, setting: queued[TTx], actors: two},
		{name: "a process ends", setting: queued[TTx], actors: dying},
		{name: "a process ends and the answer is lost", script: script{lose: map[int]bool{0: true}}, setting: queued[TTx], actors: dying},
		{name: "look-ups lag", script: script{lose: map[int]bool{0: true}, hidden: true}, setting: queued[TTx], actors: two},
		{name: "a request does not arrive", script: script{fail: map[int]bool{0: true}}, setting: queued[TTx], actors: two},
		{name: "no answer and no key", script: script{lose: map[int]bool{0: true, 1: true}, forgets: true}, setting: queued[TTx], actors: dying},
		{name: "a gateway refuses what was carried out", script: script{refuse: map[int]answer{0: {403, "<html>"}}}, setting: queued[TTx], actors: two},
		{name: "too many requests", script: script{limit: map[int]bool{0: true}}, setting: queued[TTx], actors: []actor[TTx]{worker[TTx]("worker one", 1), later(worker[TTx]("worker two", 1), time.Minute)}},
		{name: "declined and paid again", script: script{decline: map[int]bool{0: true}}, setting: queued[TTx], actors: []actor[TTx]{worker[TTx]("worker", 2), customer[TTx]("2")}},
		{name: "two forms of one order", meets: true, actors: []actor[TTx]{customer[TTx]("1"), customer[TTx]("2"), worker[TTx]("worker", 2)}},
		{name: "one form twice", meets: true, actors: []actor[TTx]{customer[TTx]("1"), customer[TTx]("1"), worker[TTx]("worker", 1)}},
		{name: "a webhook comes first", meets: true, setting: queued[TTx], actors: []actor[TTx]{worker[TTx]("worker", 1), webhook[TTx](2)}},
		{name: "a webhook and a lost answer", script: script{lose: map[int]bool{0: true}}, setting: queued[TTx], actors: []actor[TTx]{worker[TTx]("worker", 2), webhook[TTx](1)}},
		{name: "the hook fails", refuses: 2, setting: queued[TTx], actors: []actor[TTx]{worker[TTx]("worker one", 2), worker[TTx]("worker two", 1)}},
		{name: "two look-ups", meets: true, setting: lost[TTx], actors: []actor[TTx]{worker[TTx]("worker one", 2), later(worker[TTx]("worker two", 2), 10*time.Second)}},
		{name: "cancelled while it is claimed", meets: true, setting: queued[TTx], actors: []actor[TTx]{worker[TTx]("worker", 1), cancel}},
		{name: "paused while it is claimed", setting: queued[TTx], actors: []actor[TTx]{worker[TTx]("worker", 1), does("person", func(ctx context.Context, _ *scene[TTx], e *engine[TTx]) {
			_ = e.Pause(ctx, "Kim", "wait")
			_ = e.Unpause(ctx, "Kim", "go on")
		})}},
		{name: "two refunds of one payment", meets: true, setting: paid[TTx], actors: []actor[TTx]{does("person one", refunds[TTx](800)), does("person two", refunds[TTx](900)), worker[TTx]("worker", 1)}},
		{name: "refunds whose answers are lost", script: script{lose: map[int]bool{1: true, 2: true}, hidden: true}, setting: both(paid[TTx], refunds[TTx](600, 600)), actors: two},
		{name: "equal refunds and two workers", setting: both(paid[TTx], refunds[TTx](400, 400, 434)), actors: two},
		{name: "a void beside a refund", meets: true, setting: paid[TTx], actors: []actor[TTx]{does("person one", refunds[TTx](1234)), does("person two", func(ctx context.Context, _ *scene[TTx], e *engine[TTx]) {
			_ = e.commit(ctx, func(tx TTx) error {
				_, _, err := e.Void(ctx, tx, durable.NewWrite{ID: "void"}, "1")
				return err
			})
		}), worker[TTx]("worker", 1)}},
		{name: "a reversal and a new form", setting: both(paid[TTx], func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
			if err := e.commit(ctx, func(tx TTx) error {
				_, _, err := e.Reverse(ctx, tx, durable.NewWrite{ID: "reversal"}, "1")
				return err
			}); err != nil {
				s.Fatal(err)
			}
		}), actors: []actor[TTx]{worker[TTx]("worker", 2), customer[TTx]("2")}},
		{name: "a history is lost with a claim", past: database.Changed, setting: forgotten[TTx], actors: []actor[TTx]{restorer[TTx]("worker one"), restorer[TTx]("worker two")}},
		{name: "a history is lost with a payment", past: database.Changed, setting: both(paid[TTx], func(_ context.Context, s *scene[TTx], _ *engine[TTx]) {
			for _, table := range []string{"quickstream.write", "quickstream.event", "reported", "history"} {
				s.do("DELETE FROM " + table)
			}
		}), actors: []actor[TTx]{customer[TTx]("2"), restorer[TTx]("worker"), restorer[TTx]("worker two")}},
		{name: "a copy", past: database.MaybeCopy, setting: forgotten[TTx], actors: []actor[TTx]{restorer[TTx]("worker one"), worker[TTx]("worker two", 1)}},
	}
}

// forgotten is a payment that was sent, and that the database lacks because it was restored from a backup.
func forgotten[TTx comparable](ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	queued(ctx, s, e)
	s.do("CREATE TABLE backup AS SELECT * FROM quickstream.write")
	if err := s.work(ctx, e); err != nil {
		s.Fatal(err)
	}
	for _, statement := range []string{"DELETE FROM quickstream.write", "INSERT INTO quickstream.write SELECT * FROM backup", "DELETE FROM quickstream.event", "DELETE FROM reported", "DELETE FROM history"} {
		s.do(statement)
	}
}

// restorer is a process that recognises the change of the history, reads the lists and works.
func restorer[TTx comparable](name string) actor[TTx] {
	return does(name, func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		_ = e.tasks.Recognise(ctx)
		_ = e.tasks.Restore(ctx)
		_ = s.work(ctx, e)
	})
}
