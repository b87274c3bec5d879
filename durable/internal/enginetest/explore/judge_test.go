package explore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/webhooks"
)

// bystanders writes rows that no actor has to do with: of other orders, in every state, which are
// due later, and notifications under the ids that actors use.
func (s *scene[TTx]) bystanders() {
	later := s.clock.Add(time.Hour)
	for i, state := range []durable.State{durable.StateQueued, durable.StateSending, durable.StateResolving, durable.StateNotFound, durable.StateSettled} {
		next, outcome, claim := later, "", "claim"
		switch state {
		case durable.StateSettled:
			next, outcome = time.Time{}, "approved"
		case durable.StateQueued:
			claim = ""
		default:
		}
		intent := fmt.Sprintf(`{"version":%d,"operation":"Transactions.Pay","idempotencyKey":"%d"}`, quickstream.IntentVersion, i)
		s.plant(planted{id: "other " + string(state), order: "other " + string(state), state: string(state), outcome: outcome, claim: claim, next: next, at: s.clock, intent: intent, failures: 1})
	}
	for id, digest := range map[string]string{"event": "other", "other": notification("event", string(webhooks.EventTypePayToPaymentApproved), "1000").Digest()} {
		s.do(`INSERT INTO quickstream.notification (id, digest, raw, state, next_at, due_at, received_at, changed_at, failures, problem, carrier)
			VALUES ($1, $2, '{}', 'received', $3, $3, $4, $4, 1, 'waits', 'other')`, id, digest, later, s.clock)
	}
}

// planted is a write that no actor has to do with.
type planted struct {
	id, order, follows, state, outcome, claim, receipt, intent, pending string
	next, at, changed                                                   time.Time
	failures                                                            int
}

func (s *scene[TTx]) plant(p planted) {
	if p.changed.IsZero() {
		p.changed = p.at
	}
	kind := "payment"
	if p.follows != "" {
		kind = "follow_up"
	}
	s.do(`INSERT INTO quickstream.write (id, order_id, kind, operation, follows, business, source, token, request, state, outcome, reversal, version, claim, sends, key_number,
		permit, next_at, due_at, written_at, changed_at, database_at, replaced_by, receipt, reference, intent_id, end_to_end_id, amount, currency, settles_on,
		intent, lookups, pending, failures, problem, decision)
		VALUES ($1, $2, $3, 'Transactions.Pay', $4, '', '', '', '', $5, $6, 'none', 1, $7, 0, 1,
		'', $8, $8, $9, $10, $9, '', $11, '', '', '', $12, 'AUD', '', $13, '', $14, $15, '', '')`,
		p.id, p.order, kind, p.follows, p.state, p.outcome, p.claim, p.next, p.at, p.changed, p.receipt, decimal.New(1234, -2), p.intent, p.pending, p.failures)
}

// rowsOfOthers are the rows of the bystanders.
func (s *scene[TTx]) rowsOfOthers() string {
	except := " AND id NOT LIKE 'gone%'"
	var rows []string
	s.each(func(scan func(...any) error) error {
		var id, state, claim, pending, problem string
		var version, failures int
		var next, due time.Time
		err := scan(&id, &state, &version, &claim, &next, &due, &pending, &failures, &problem)
		if state == string(durable.StateSending) { // a process that starts looks it up
			next, due = time.Time{}, time.Time{}
		}
		rows = append(rows, fmt.Sprint(id, state, version, claim, next, due, pending, failures, problem))
		return err
	}, "SELECT id, state, version, claim, next_at, due_at, pending, failures, problem FROM quickstream.write WHERE order_id LIKE 'other%'"+except+" ORDER BY id")
	s.each(func(scan func(...any) error) error {
		var id, digest, state, problem string
		var failures int
		var next, due time.Time
		err := scan(&id, &digest, &state, &next, &due, &failures, &problem)
		rows = append(rows, fmt.Sprint(id, digest, state, next, due, failures, problem))
		return err
	}, "SELECT id, digest, state, next_at, due_at, failures, problem FROM quickstream.notification WHERE carrier = 'other' ORDER BY id, digest")
	return strings.Join(rows, "\n")
}

// payment is a write as it stands in the end, with the keys that it was sent under.
type payment struct {
	id, order, kind, receipt string
	durable.Standing
	next    time.Time
	decided bool
	keys    []string
}

func (s *scene[TTx]) payments() map[string]*payment {
	payments := map[string]*payment{}
	s.each(func(scan func(...any) error) error {
		p, decided := new(payment), ""
		err := scan(&p.id, &p.order, &p.kind, &p.receipt, &p.State, &p.Outcome, &p.Reversal, &p.next, &decided)
		p.decided = decided != ""
		payments[p.id] = p
		return err
	}, "SELECT id, order_id, kind, receipt, state, outcome, reversal, next_at, decision FROM quickstream.write WHERE order_id NOT LIKE 'other%'")
	s.each(func(scan func(...any) error) error {
		var id, text string
		if err := scan(&id, &text); err != nil {
			return err
		}
		var intent quickstream.Intent
		if err := json.Unmarshal([]byte(text), &intent); err != nil {
			return err
		}
		if p := payments[id]; p != nil && !slices.Contains(p.keys, intent.IdempotencyKey) {
			p.keys = append(p.keys, intent.IdempotencyKey)
		}
		return nil
	}, "SELECT payment, intent FROM history WHERE after = 'sending' ORDER BY number")
	return payments
}

// settle has a process that nobody disturbs do what is left to do, while time passes.
func (s *scene[TTx]) settle() error {
	s.service.script = script{}
	s.service.show()
	s.leap = 0
	ctx := context.Background()
	var e *engine[TTx]
	for range 4 {
		var due []time.Time
		s.each(func(scan func(...any) error) error {
			var at time.Time
			err := scan(&at)
			due = append(due, at)
			return err
		}, `SELECT due_at FROM quickstream.write WHERE order_id NOT LIKE 'other%' AND due_at IS NOT NULL AND (pending <> '' OR state IN ('queued', 'sending', 'resolving') OR due_at <= $1)
			UNION ALL SELECT due_at FROM quickstream.notification WHERE carrier <> 'other' AND due_at IS NOT NULL`, s.begun)
		restoring := len(s.texts(`SELECT name FROM quickstream.meta WHERE name = 'change of history' AND value LIKE '%"searching":true%'`)) > 0
		if len(due) == 0 && !restoring {
			return nil
		}
		if e == nil {
			var err error
			if e, err = s.boot(); err != nil {
				return err
			}
			if err := e.tasks.Begin(ctx); err != nil {
				return err
			}
		}
		if len(due) > 0 {
			if at := slices.MinFunc(due, time.Time.Compare); at.After(s.clock) {
				s.clock = at
			}
		}
		if restoring { // it looks for what a restored backup does not know
			s.clock = s.clock.Add(16 * time.Minute)
			if err := e.tasks.ReadLost(ctx); err != nil {
				return err
			}
		}
		if len(s.texts("SELECT name FROM quickstream.meta WHERE name = 'breaker' AND value <> ''")) > 0 {
			s.clock = s.clock.Add(time.Minute)
			if err := e.tasks.CheckBreaker(ctx); err != nil {
				return err
			}
		}
		if err := s.work(ctx, e, "due_at"); err != nil && !errors.Is(err, errBusy) {
			return err
		}
	}
	return nil // it is looked up for longer
}

// work works on what is due, by one of the columns that say so.
func (s *scene[TTx]) work(ctx context.Context, e *engine[TTx], column string) (failed error) {
	for _, id := range e.texts(ctx, "SELECT id FROM quickstream.write WHERE order_id NOT LIKE 'other%' AND "+column+" <= $1 ORDER BY written_at, id", s.clock) {
		failed = errors.Join(failed, e.tasks.Write(ctx, id))
	}
	for _, id := range e.texts(ctx, "SELECT id || ' ' || digest FROM quickstream.notification WHERE carrier <> 'other' AND "+column+" <= $1 ORDER BY id, digest", s.clock) {
		id, digest, _ := strings.Cut(id, " ")
		failed = errors.Join(failed, e.tasks.Notification(ctx, id, digest))
	}
	return failed
}

// texts reads one column of texts in a transaction of its own.
func (e *engine[TTx]) texts(ctx context.Context, query string, args ...any) (found []string) {
	_ = e.commit(ctx, func(tx TTx) error {
		rows, err := e.db.Join(tx).Query(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			found = append(found, text)
		}
		return rows.Err()
	})
	return found
}

// Judge holds the rows against the service's ledger and what the shop was told.
func (s *scene[TTx]) Judge() error {
	var wrong []error
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	s.run = nil
	wrong = append(wrong, s.wrong...)
	if s.nightly && s.differences != 1 {
		complain("the night's difference was told %d times", s.differences)
	}
	if others := s.rowsOfOthers(); others != s.others {
		complain("rows of other orders were changed:\n%s\n%s", s.others, others)
	}
	if err := s.settle(); err != nil {
		complain("what is left cannot be done: %w", err)
	}
	for _, id := range s.texts("SELECT id FROM quickstream.notification WHERE state = 'done' AND due_at IS NOT NULL") {
		complain("notification %s is done, and due", id)
	}
	for _, id := range s.texts("SELECT payment FROM told WHERE after = 'event' GROUP BY payment HAVING count(*) > 1") {
		complain("the shop was told of notification %s more than once", id)
	}
	payments := s.payments()
	of := map[string]*payment{}
	for _, p := range payments {
		for _, key := range p.keys {
			of[key] = p
		}
		s.judge(p, complain)
	}
	s.judgeMoney(complain)
	s.judgeTelling(complain)
	sent := map[string]int{}
	for _, post := range s.service.posts {
		if sent[post.key]++; post.key != "" && sent[post.key] == 2 && !s.loses {
			complain("%s was sent twice under one key", of[post.key].id)
		}
	}
	for _, id := range s.texts("SELECT id FROM quickstream.write WHERE id LIKE 'gone%' AND intent <> ''") {
		if s.forgets {
			complain("%s was not forgotten", id)
		}
	}
	for _, sent := range s.service.posts {
		if p := of[sent.key]; p != nil && s.decided[p.id] > 0 && s.decided[p.id] < sent.at {
			complain("%s was sent after a person had decided", p.id)
		}
	}
	s.judgeOrders(payments, complain)
	return errors.Join(wrong...)
}

// judge holds one payment against the ledger.
func (s *scene[TTx]) judge(p *payment, complain func(string, ...any)) {
	var took, voided int
	for _, e := range s.service.ledger {
		if e.key == "" || !slices.Contains(p.keys, e.key) {
			continue
		}
		switch e.status {
		case "Approved":
			took++
		case "Voided":
			voided++
		}
	}
	switch {
	case took+voided > 1:
		complain("%s charged %d times", p.id, took+voided)
	case p.State.InProgress() && (p.next.IsZero() || p.State == durable.StateSending || took+voided > 0):
		complain("%s is %s, and nothing is left to do", p.id, p.Text())
	case p.State.InProgress():
	case p.decided:
	case took == 1 && !p.Paid():
		complain("%s is approved and stands as %s", p.id, p.Text())
	case took+voided == 0 && p.Paid() && !s.knows(p.receipt):
		complain("%s stands as %s and is not", p.id, p.Text())
	}
}

// knows reports whether the service has an approved transaction under a receipt.
func (s *scene[TTx]) knows(receipt string) bool {
	return slices.ContainsFunc(s.service.ledger, func(e *entry) bool { return e.receipt == receipt && e.status != "Declined" })
}

// judgeMoney looks at what each order has cost.
func (s *scene[TTx]) judgeMoney(complain func(string, ...any)) {
	charged, refunded := map[string]int{}, map[string]decimal.Decimal{}
	for _, e := range s.service.ledger {
		switch {
		case !e.approved():
		case e.kind == "REFUND":
			refunded[e.original] = refunded[e.original].Add(e.amount)
		default:
			charged[e.order]++
		}
	}
	for order, n := range charged {
		if n > 1 && !s.said[order] {
			complain("%s was charged %d times", order, n)
		}
	}
	for _, e := range s.service.ledger {
		if s.texts("SELECT count(*) || '' FROM quickstream.write WHERE intent = '' AND order_id = $1", e.order)[0] != "0" {
			continue // it was forgotten, and limits no refunds any more
		}
		if sum := refunded[e.receipt]; sum.GreaterThan(e.amount) || sum.IsPositive() && e.status == "Voided" {
			complain("of %s with %s %s was refunded", e.receipt, e.amount, sum)
		}
	}
}

// judgeOrders finds what was claimed although another payment of its order was approved.
func (s *scene[TTx]) judgeOrders(payments map[string]*payment, complain func(string, ...any)) {
	stands := map[string]string{} // the state of each payment at that time
	s.each(func(scan func(...any) error) error {
		var id, order, state string
		err := scan(&id, &order, &state)
		stands[id] = state
		if p := payments[id]; p == nil || p.kind != "payment" || state != string(durable.StateSending) {
			return err
		}
		for _, other := range payments {
			if at := stands[other.id]; other.id != id && other.order == order && other.kind == "payment" && (at == "approved" || at == "double charged") {
				complain("%s was claimed while %s of its order was approved", id, other.id)
			}
		}
		return err
	}, "SELECT payment, ordered, after FROM history ORDER BY number")
}

// judgeTelling holds what the shop was told against every change of a row.
func (s *scene[TTx]) judgeTelling(complain func(string, ...any)) {
	read := func(query string) map[string][]string {
		changes := map[string][]string{}
		for _, change := range s.texts(query) {
			id, what, _ := strings.Cut(change, ":")
			changes[id] = append(changes[id], what)
		}
		return changes
	}
	told := read("SELECT payment || ':' || before || ' to ' || after FROM told WHERE after <> 'event' ORDER BY number")
	changed := read("SELECT payment || ':' || before || ' to ' || after FROM history WHERE after NOT IN ('queued', 'sending', 'resolving') ORDER BY number")
	for id := range told {
		if changed[id] == nil {
			complain("%s: told %q and nothing has changed", id, told[id])
		}
	}
	for id, changes := range changed {
		if !slices.Equal(changes, told[id]) {
			complain("%s: changed %q and told %q", id, changes, told[id])
		}
	}
}
