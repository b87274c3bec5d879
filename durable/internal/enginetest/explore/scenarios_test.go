package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/webhooks"
)

// scenario is a few actors and what was before them.
type scenario[TTx comparable] struct {
	name    string
	script  script
	refuses int  // so many calls of OnOutcome fail
	fine    bool // each statement is a step
	meets   bool // the gate runs it on PostgreSQL too, where several transactions are open at a time
	long    bool // the gate does not run it on SQLite
	forgets bool // what is over is forgotten
	said    bool // a person has said that the order may be paid again
	copied  bool // the database is a copy of one that is in use
	loses   bool // commits are lost, and what they sent is sent again under its key
	nightly bool // there is one difference in the night
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
			_ = s.work(ctx, e, "next_at")
		}
	}}
}

// newest works on the newest payment that is due, and oldest on the oldest.
func newest[TTx comparable]() actor[TTx] { return first[TTx]("worker on the newest", "DESC") }
func oldest[TTx comparable]() actor[TTx] { return first[TTx]("worker on the oldest", "ASC") }

func first[TTx comparable](name, order string) actor[TTx] {
	return actor[TTx]{name: name, acts: func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		for _, id := range e.texts(ctx, "SELECT id FROM quickstream.write WHERE order_id NOT LIKE 'other%' AND next_at <= $1 ORDER BY written_at "+order+" LIMIT 1", s.clock) {
			_ = e.tasks.Write(ctx, id)
		}
	}}
}

// mortal is an actor whose process may end.
func mortal[TTx comparable](a actor[TTx]) actor[TTx] {
	a.mortal = true
	return a
}

// starter is a process that starts, looks what is being sent, and works.
func starter[TTx comparable](name string) actor[TTx] {
	return actor[TTx]{name: name, acts: func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		_ = e.tasks.Begin(ctx)
		_ = s.work(ctx, e, "next_at")
	}}
}

// recovering is a process that starts, reads what was lost, and works.
func recovering[TTx comparable]() actor[TTx] {
	return actor[TTx]{name: "starter", acts: func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		_ = e.tasks.Begin(ctx)
		_ = e.tasks.ReadLost(ctx)
		_ = s.work(ctx, e, "next_at")
	}}
}

// customer pays the order so many times.
func customer[TTx comparable](times int) actor[TTx] {
	return actor[TTx]{name: "customer", acts: func(ctx context.Context, _ *scene[TTx], e *engine[TTx]) {
		for i := range times { // the form is rendered again after each end
			_, _ = e.pay(ctx, fmt.Sprint("attempt ", i), "O-1")
		}
	}}
}

// webhook delivers the event of the first transaction so many times, and acts on it.
func webhook[TTx comparable](times int) actor[TTx] {
	return actor[TTx]{name: "webhook", acts: func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		for range times {
			if receipt := s.latest(ctx); receipt != "" {
				n := notification("event", string(webhooks.EventTypePayToPaymentApproved), receipt)
				if e.tasks.Keep(ctx, n) == nil {
					_ = e.tasks.Notification(ctx, n.ID, n.Digest())
				}
			}
		}
	}}
}

// latest asks the service for its newest transaction, in a step.
func (s *scene[TTx]) latest(ctx context.Context) string {
	t := turnOf(ctx)
	t.Yield()
	t.Reads("service")
	t.Says("asks the service")
	if len(s.service.ledger) == 0 {
		return ""
	}
	return s.service.ledger[len(s.service.ledger)-1].receipt
}

// comparison holds the day against the service's list.
func comparison[TTx comparable]() actor[TTx] {
	return actor[TTx]{name: "comparison", acts: func(ctx context.Context, _ *scene[TTx], e *engine[TTx]) {
		var date quickstream.Date
		if date.UnmarshalText([]byte(settlement)) == nil {
			_ = e.Compare(ctx, date)
		}
	}}
}

// decider is a person who asks the service what became of the order's payment, and says so.
func decider[TTx comparable]() actor[TTx] {
	return actor[TTx]{name: "person", acts: func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		p, err := e.PaymentOf(ctx, "O-1")
		if err != nil || p.State != durable.StateResolving && p.State != durable.StateNotFound && p.State != durable.StateEscalated {
			return
		}
		verdict, receipt := durable.VerdictNotSent, s.latest(ctx)
		if receipt != "" {
			verdict = durable.VerdictApproved
		}
		if e.commit(ctx, func(tx TTx) error {
			return e.Decide(ctx, tx, p.ID, durable.Decision{Verdict: verdict, ReceiptNumber: receipt, By: "Alex", Note: "support says so"})
		}) == nil {
			s.said["O-1"], s.decided[p.ID] = true, s.happened()
		}
	}}
}

// again is a person who has the order paid again in place of an absent payment.
func again[TTx comparable](name string) actor[TTx] {
	return actor[TTx]{name: name, acts: func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		if e.commit(ctx, func(tx TTx) error {
			_, _, err := e.PayAgain(ctx, tx, durable.NewWrite{ID: name, Order: "O-1"}, s.names["payment"], "Alex", "support says so", token(name))
			return err
		}) == nil {
			s.said["O-1"] = true
		}
	}}
}

// refunder asks for a refund of so many cents.
func refunder[TTx comparable](name string, cents ...int64) actor[TTx] {
	return actor[TTx]{name: name, acts: func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		for i, n := range cents {
			_ = e.refund(ctx, fmt.Sprint(name, " ", i), s.names["payment"], n)
		}
	}}
}

func (e *engine[TTx]) refund(ctx context.Context, id, of string, cents int64) error {
	return e.commit(ctx, func(tx TTx) error {
		_, _, err := e.Refund(ctx, tx, durable.NewWrite{ID: id}, of, quickstream.RefundParams{PrincipalAmount: decimal.New(cents, -2), Currency: quickstream.CurrencyAUD})
		return err
	})
}

// reverser asks for a reversal of all that is left.
func reverser[TTx comparable](name string) actor[TTx] {
	return actor[TTx]{name: name, acts: func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		_ = e.commit(ctx, func(tx TTx) error {
			_, _, err := e.Reverse(ctx, tx, durable.NewWrite{ID: name}, s.names["payment"])
			return err
		})
	}}
}

// voider asks for a void.
func voider[TTx comparable]() actor[TTx] {
	return actor[TTx]{name: "clerk who voids", acts: func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		_ = e.commit(ctx, func(tx TTx) error {
			_, _, err := e.Void(ctx, tx, durable.NewWrite{ID: "void"}, s.names["payment"])
			return err
		})
	}}
}

// ordered has the order's payment written.
func ordered[TTx comparable](ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	id, err := e.pay(ctx, "first attempt", "O-1")
	if err != nil {
		s.Fatal(err)
	}
	s.names["payment"] = id
}

// paid has the order paid.
func paid[TTx comparable](ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	ordered(ctx, s, e)
	if err := s.work(ctx, e, "next_at"); err != nil {
		s.Fatal(err)
	}
	s.names["receipt"] = s.service.ledger[0].receipt
}

// unknown has the order's payment sent, charged or not, and its answer lost. Nothing shows it yet.
func unknown[TTx comparable](charged bool) func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	return func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		ordered(ctx, s, e)
		s.service.script = script{hidden: true, lose: map[int]bool{0: true}}
		if !charged {
			s.service.script = script{fail: map[int]bool{0: true}}
		}
		_ = s.work(ctx, e, "next_at")
	}
}

// later is a setting ten minutes later, when nobody can be sending any more.
func later[TTx comparable](setting func(context.Context, *scene[TTx], *engine[TTx])) func(context.Context, *scene[TTx], *engine[TTx]) {
	return func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		setting(ctx, s, e)
		s.clock = s.clock.Add(10 * time.Minute)
	}
}

// twice has the order paid twice, by a person's decision, and both payments looked for.
func twice[TTx comparable](ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	absent[TTx](true)(ctx, s, e)
	s.service.script = script{hidden: true, lose: map[int]bool{1: true}}
	for _, entry := range s.service.ledger {
		entry.hidden = true
	}
	again[TTx]("again").acts(ctx, s, e)
	s.do("UPDATE quickstream.write SET next_at = NULL, due_at = NULL WHERE id = $1", s.names["payment"])
	_ = s.work(ctx, e, "next_at")
	s.service.show()
	s.clock = s.clock.Add(time.Hour)
	s.do("UPDATE quickstream.write SET next_at = $1, due_at = $1 WHERE order_id = 'O-1'", s.clock)
}

// absent has the order's payment looked up in vain until it is absent.
func absent[TTx comparable](charged bool) func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	return func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		unknown[TTx](charged)(ctx, s, e)
		for range 40 {
			w, err := e.Write(ctx, s.names["payment"])
			if err != nil {
				s.Fatal(err)
			}
			p := w.Common()
			if p.State == durable.StateNotFound {
				if charged {
					s.service.show()
				}
				s.do("UPDATE quickstream.write SET next_at = $1, due_at = $1 WHERE id = $2", s.clock, p.ID)
				return
			}
			s.clock = p.Due
			_ = s.work(ctx, e, "next_at")
		}
		s.Fatal("it did not become not_found")
	}
}

// scenarios are all of them.
func scenarios[TTx comparable]() []scenario[TTx] {
	working, other, starting := mortal(worker[TTx]("worker", 1)), mortal(worker[TTx]("another worker", 1)), mortal(starter[TTx]("starter"))
	const slow, page = `{"status":429,"developerMessage":"slow down","customerMessage":"no"}`, "<html>"
	return []scenario[TTx]{
		{
			meets: true, name: "two workers and a customer who repeats", setting: ordered[TTx],
			actors: []actor[TTx]{working, other, customer[TTx](2)},
		},
		{
			name: "a process that ends, one that starts, and a customer who repeats", setting: ordered[TTx],
			actors: []actor[TTx]{working, starting, customer[TTx](1)},
		},
		{
			meets: true, long: true, name: "a lost answer, a process that starts, and a customer who repeats", setting: ordered[TTx], script: script{lose: map[int]bool{0: true}},
			actors: []actor[TTx]{working, starting, customer[TTx](1)},
		},
		{
			long: true, name: "a gateway's 429 after the charge, a process that starts, and an event", setting: ordered[TTx], script: script{refuse: map[int]answer{0: {429, slow}}},
			actors: []actor[TTx]{working, starting, webhook[TTx](1)},
		},
		{
			name: "a page's 401 after the charge, a customer who repeats, and another process", setting: ordered[TTx], script: script{refuse: map[int]answer{0: {401, page}}},
			actors: []actor[TTx]{working, worker[TTx]("another worker", 2), customer[TTx](1)},
		},
		{
			name: "an event, its repetition, and the answer", setting: ordered[TTx],
			actors: []actor[TTx]{working, mortal(webhook[TTx](1)), webhook[TTx](1)},
		},
		{
			name: "the comparison, an event and the answer", setting: ordered[TTx],
			actors: []actor[TTx]{working, mortal(comparison[TTx]()), webhook[TTx](1)},
		},
		{
			name: "a person who decides, a look-up and an event", setting: later(unknown[TTx](true)),
			actors: []actor[TTx]{decider[TTx](), working, mortal(webhook[TTx](1))},
		},
		{
			name: "a person who decides while somebody sends", setting: ordered[TTx],
			actors: []actor[TTx]{working, starting, decider[TTx]()},
		},
		{
			meets: true, name: "two persons who pay again, and a look-up that finds", setting: absent[TTx](true),
			actors: []actor[TTx]{again[TTx]("person"), again[TTx]("another person"), mortal(worker[TTx]("worker", 2))},
		},
		{
			name: "a person who pays again, two workers, and nothing that was charged", setting: absent[TTx](false),
			actors: []actor[TTx]{again[TTx]("person"), mortal(worker[TTx]("worker", 2)), worker[TTx]("another worker", 1)},
		},
		{
			meets: true, name: "a person who pays again, two workers, and what was charged", setting: absent[TTx](true),
			actors: []actor[TTx]{again[TTx]("person"), worker[TTx]("worker", 1), newest[TTx]()},
		},
		{
			name: "a person who pays again, a worker and the comparison", setting: absent[TTx](true),
			actors: []actor[TTx]{again[TTx]("person"), mortal(worker[TTx]("worker", 2)), comparison[TTx]()},
		},
		{
			name: "a payment that is found after another was declined, one who pays by a card's details, and a customer", setting: passed[TTx], said: true,
			actors: []actor[TTx]{mortal(worker[TTx]("worker", 1)), mortal(direct[TTx]()), customer[TTx](1)},
		},
		{
			meets: true, name: "two clerks who refund, and a worker", setting: paid[TTx], script: script{settled: true},
			actors: []actor[TTx]{refunder[TTx]("clerk", 800), refunder[TTx]("another clerk", 800), mortal(worker[TTx]("worker", 2))},
		},
		{
			name: "a clerk who refunds, one who voids, and a worker", setting: paid[TTx],
			actors: []actor[TTx]{refunder[TTx]("clerk", 1234), voider[TTx](), mortal(worker[TTx]("worker", 2))},
		},
		{
			name: "a clerk who reverses, one who refunds a part, and a worker", setting: paid[TTx],
			actors: []actor[TTx]{reverser[TTx]("reversal"), refunder[TTx]("clerk", 500), mortal(worker[TTx]("worker", 2))},
		},
		{
			name: "a job that refunds one line twice, one that refunds another, and a worker", setting: paid[TTx], script: script{settled: true},
			actors: []actor[TTx]{refunder[TTx]("line 1", 500), refunder[TTx]("line 1", 500), mortal(refunder[TTx]("line 2", 500))},
		},
		{
			long: true, name: "a 429 of the service's, a process that starts, and a customer who repeats", setting: ordered[TTx], script: script{limit: map[int]bool{0: true}},
			actors: []actor[TTx]{working, starting, customer[TTx](1)},
		},
		{
			long: true, name: "a refund, a process that ends, one that starts, and a customer who repeats", setting: refundable[TTx], script: script{settled: true},
			actors: []actor[TTx]{working, starter[TTx]("starter"), customer[TTx](1)},
		},
		{
			name: "a decline, a customer who pays again, and an event", setting: ordered[TTx], script: script{decline: map[int]bool{0: true}},
			actors: []actor[TTx]{mortal(worker[TTx]("worker", 2)), customer[TTx](2), webhook[TTx](1)},
		},
		{
			name: "a shop that is busy, two workers and a person who decides", setting: later(unknown[TTx](true)), refuses: 1,
			actors: []actor[TTx]{working, worker[TTx]("another worker", 2), decider[TTx]()},
		},
		{
			name:   "a card's details, a payment by a token, and a worker",
			actors: []actor[TTx]{mortal(direct[TTx]()), customer[TTx](2), mortal(worker[TTx]("worker", 2))},
		},
		{
			name: "a restored backup, a worker and a customer who repeats", setting: ordered[TTx],
			actors: []actor[TTx]{restored[TTx](), working, customer[TTx](1)},
		},
		{
			name: "two payments of an order that are found at once, and a customer", setting: twice[TTx], said: true,
			actors: []actor[TTx]{oldest[TTx](), mortal(newest[TTx]()), customer[TTx](1)},
		},
		{
			long: true, name: "a standby that is promoted without the last commits, a worker and a process that starts", setting: ordered[TTx], loses: true,
			actors: []actor[TTx]{promoted[TTx](), working, recovering[TTx]()},
		},
		{
			name: "a standby that is promoted without an order, a worker and a customer who repeats", loses: true,
			actors: []actor[TTx]{promoted[TTx](), mortal(worker[TTx]("worker", 2)), customer[TTx](2)},
		},
		{
			long: true, name: "a copy of a database, its original, and a worker, where keys are forgotten", setting: ordered[TTx], copied: true, loses: true, script: script{forgets: true},
			actors: []actor[TTx]{original[TTx](), recovering[TTx](), working},
		},
		{
			name: "a server's clock that is a year ahead, what forgets, and a worker", setting: ordered[TTx],
			actors: []actor[TTx]{leaping[TTx](), forgetter[TTx](), mortal(worker[TTx]("worker", 2))},
		},
		{
			name: "what is forgotten, a clerk who refunds, and a worker", setting: old[TTx], forgets: true, script: script{settled: true},
			actors: []actor[TTx]{forgetter[TTx](), refunder[TTx]("clerk", 500, 500), mortal(worker[TTx]("worker", 1))},
		},
		{
			name: "an event that comes early, two that work on it, and a service that shows late", setting: early[TTx],
			actors: []actor[TTx]{working, worker[TTx]("another worker", 1), shower[TTx]()},
		},
		{
			name: "a payment that came back after a refund, a customer who pays again, and two workers", setting: returned[TTx],
			actors: []actor[TTx]{customer[TTx](1), mortal(worker[TTx]("worker", 1)), worker[TTx]("another worker", 1)},
		},
		{
			name: "two that compare at night, and a customer", setting: yesterdays[TTx], nightly: true,
			actors: []actor[TTx]{nightly[TTx]("night"), nightly[TTx]("another night"), customer[TTx](1)},
		},
		{
			name: "two notifications of one id, and two that work on them", setting: notified[TTx],
			actors: []actor[TTx]{working, worker[TTx]("another worker", 1), customer[TTx](1)},
		},
		{
			name: "two that hand out what is due, and a worker", setting: unknown[TTx](true),
			actors: []actor[TTx]{mortal(sweeper[TTx]("sweeper")), mortal(sweeper[TTx]("another sweeper")), working},
		},
	}
}

// passed has a charged payment that is absent, and the one that was to be paid in its place declined.
func passed[TTx comparable](ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	absent[TTx](true)(ctx, s, e)
	s.service.script = script{decline: map[int]bool{1: true}}
	if err := e.commit(ctx, func(tx TTx) error {
		_, _, err := e.PayAgain(ctx, tx, durable.NewWrite{ID: "again", Order: "O-1"}, s.names["payment"], "Alex", "support says so", token("again"))
		return err
	}); err != nil {
		s.Fatal(err)
	}
	if err := e.tasks.Write(ctx, "again"); err != nil {
		s.Fatal(err)
	}
}

// yesterdays has a transaction of yesterday that nobody has written down.
func yesterdays[TTx comparable](_ context.Context, s *scene[TTx], _ *engine[TTx]) {
	sydney, err := time.LoadLocation("Australia/Sydney")
	if err != nil {
		s.Fatal(err)
	}
	date := quickstream.DateOf(s.clock.In(sydney)).AddDays(-1).String()
	s.service.ledger = append(s.service.ledger, &entry{receipt: "999", kind: "PAYMENT", status: "Approved", body: map[string]any{"receiptNumber": "999", "settlementDate": date}})
}

// nightly compares the day before, if nobody else does.
func nightly[TTx comparable](name string) actor[TTx] {
	return actor[TTx]{name: name, acts: func(ctx context.Context, _ *scene[TTx], e *engine[TTx]) { _ = e.tasks.Nightly(ctx) }}
}

// refundable has the order paid, and a refund written.
func refundable[TTx comparable](ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	paid(ctx, s, e)
	if err := e.refund(ctx, "refund", s.names["payment"], 500); err != nil {
		s.Fatal(err)
	}
}

// direct pays by the details of a card, which are not stored.
func direct[TTx comparable]() actor[TTx] {
	return actor[TTx]{name: "customer with a card", acts: func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		params := token("card")
		params.Source = quickstream.FromCard(quickstream.CardDetails{
			CardholderName: "Alex Example", CardNumber: quickstream.NewSecret("4111111111111111"), CVN: quickstream.NewSecret("123"), Expiry: quickstream.YearMonth{Year: 2099, Month: 12},
		})
		_, _ = durable.Send(ctx, e.Engine, durable.NewWrite{ID: "card", Order: "O-1"}, func(stored quickstream.CallOption) (*quickstream.Transaction, error) {
			return s.client.Transactions.Pay(ctx, params, stored)
		})
	}}
}

// restored is a person who says that the database was restored, from a backup of a minute ago,
// and reads what it does not know.
func restored[TTx comparable]() actor[TTx] {
	return actor[TTx]{name: "person who restores", acts: func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		_ = e.Restored(ctx, s.clock)
	}}
}

// promoted is a standby that takes over, without anything that was committed since it was cut off.
func promoted[TTx comparable]() actor[TTx] {
	return actor[TTx]{name: "standby", acts: func(ctx context.Context, s *scene[TTx], _ *engine[TTx]) {
		t := turnOf(ctx)
		t.Yield()
		for _, table := range []string{"write", "notification", "meta", "compared", "orders", "told"} {
			t.Writes(table)
		}
		t.Says("takes over without the last commits")
		s.put()
		s.past = database.Advanced
	}}
}

// original is the process of the database that this one is a copy of: it sends what both hold.
func original[TTx comparable]() actor[TTx] {
	return actor[TTx]{name: "original", acts: func(ctx context.Context, s *scene[TTx], _ *engine[TTx]) {
		for _, text := range s.texts("SELECT intent FROM quickstream.write WHERE id = $1", s.names["payment"]) {
			var intent quickstream.Intent
			if err := json.Unmarshal([]byte(text), &intent); err != nil {
				s.wrong = append(s.wrong, err)
			}
			_, _ = s.client.Transactions.Submit(ctx, intent, func(context.Context) error { return nil })
		}
	}}
}

// leaping is the database's clock, a year ahead for a while.
func leaping[TTx comparable]() actor[TTx] {
	return actor[TTx]{name: "clock", acts: func(ctx context.Context, s *scene[TTx], _ *engine[TTx]) {
		t := turnOf(ctx)
		for _, leap := range []time.Duration{365 * 24 * time.Hour, 0} {
			t.Yield()
			t.Writes("clock")
			t.Says(fmt.Sprint("is ahead by ", leap))
			s.leap = leap
		}
	}}
}

// forgetter removes what is over for long.
func forgetter[TTx comparable]() actor[TTx] {
	return actor[TTx]{name: "what forgets", acts: func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		_ = e.tasks.Forget(ctx)
		s.each(func(scan func(...any) error) error {
			var id string
			s.wrong = append(s.wrong, fmt.Errorf("a payment is forgotten and something is being done to it"))
			return scan(&id)
		}, `SELECT id FROM quickstream.write WHERE order_id NOT LIKE 'other%' AND intent = '' AND EXISTS (SELECT 1 FROM quickstream.write f
			WHERE f.follows = quickstream.write.id AND f.state IN ('queued', 'sending', 'resolving'))`)
	}}
}

// old has an order paid long ago, and refunded in part.
func old[TTx comparable](ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	paid(ctx, s, e)
	s.service.script = script{settled: true}
	if err := e.refund(ctx, "refund", s.names["payment"], 500); err != nil {
		s.Fatal(err)
	}
	if err := s.work(ctx, e, "next_at"); err != nil {
		s.Fatal(err)
	}
	long := s.clock
	s.clock = s.clock.Add(100 * 24 * time.Hour)
	for _, p := range []planted{
		{id: "gone", at: long, changed: long},
		{id: "gone refund", follows: "gone", at: long, changed: long},
		{id: "other to be done", at: long, changed: long, next: s.clock.Add(time.Hour)},
		{id: "other refused", at: long, changed: long, pending: "[]"},
		{id: "other changed", at: long, changed: s.clock},
		{id: "other written", at: s.clock, changed: long},
	} {
		p.order, p.state, p.outcome, p.receipt, p.intent = "other "+p.id, "settled", "approved", p.id, "{}"
		s.plant(p)
	}
}

// early has the order's payment of unknown outcome, which no look-up shows yet, and an event about it.
func early[TTx comparable](ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	unknown[TTx](true)(ctx, s, e)
	_ = e.tasks.Keep(ctx, notification("event", string(webhooks.EventTypePayToPaymentApproved), s.service.ledger[0].receipt))
}

// shower is the service, which shows what it has carried out.
func shower[TTx comparable]() actor[TTx] {
	return actor[TTx]{name: "service", acts: func(ctx context.Context, s *scene[TTx], _ *engine[TTx]) {
		t := turnOf(ctx)
		t.Yield()
		t.Writes("service")
		t.Says("shows what it has carried out")
		s.service.show()
	}}
}

// returned has an order paid, refunded in part, and given back by the bank.
func returned[TTx comparable](ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	old(ctx, s, e)
	s.do("UPDATE quickstream.write SET reversal = 'returned', version = version + 1 WHERE id = $1", s.names["payment"])
	s.do("DELETE FROM history")
	s.do("DELETE FROM told")
	s.service.ledger[0].status = "Returned"
}

// notified has the order's payment of unknown outcome, an event about it kept twice, and one about a
// payment that was made in the portal.
func notified[TTx comparable](ctx context.Context, s *scene[TTx], e *engine[TTx]) {
	unknown[TTx](true)(ctx, s, e)
	s.service.show()
	for _, kind := range []webhooks.EventType{webhooks.EventTypePayToPaymentApproved, "payto.payment.other"} {
		_ = e.tasks.Keep(ctx, notification("event", string(kind), s.service.ledger[0].receipt))
	}
	s.service.ledger = append(s.service.ledger, &entry{receipt: "999", kind: "PAYMENT", status: "Approved", body: map[string]any{"receiptNumber": "999", "settlementDate": settlement}})
	_ = e.tasks.Keep(ctx, notification("portal", string(webhooks.EventTypePayToPaymentApproved), "999"))
}

// sweeper hands out what is due, and works on it.
func sweeper[TTx comparable](name string) actor[TTx] {
	return actor[TTx]{name: name, acts: func(ctx context.Context, s *scene[TTx], e *engine[TTx]) {
		_ = e.tasks.Sweep(ctx)
		_ = s.work(ctx, e, "next_at")
	}}
}
