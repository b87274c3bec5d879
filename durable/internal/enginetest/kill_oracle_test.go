package enginetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/internal/oracle"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

// kept is a payment as the merchant's database has it in the end.
type kept struct {
	id, order, receiptOf, receipt string
	state                         durable.State
	problem                       string
	pending                       bool
	own                           string   // the merchant's own reference
	keys                          []string // of all that was ever claimed
	voids                         bool     // one of them was a void
}

// verdict is what the ledger, the history of the rows and what the merchant was told say
// of each other.
type verdict struct {
	wrong                       []string
	charged, rows, held         int
	states                      map[durable.State]int
	claims, told, notifications int
	kills, sent                 int
	apart                       map[string]int // gone wrong by a risk that the merchant takes
	world                       worlds.World
	entries                     map[string]sandbox.Ledger // by idempotency key, with the service's own retries
	outcomes                    map[string]string         // by receipt
	references                  map[string]int
}

func (j *verdict) add(o *verdict) {
	j.kills, j.rows, j.charged, j.held = j.kills+o.kills, j.rows+o.rows, j.charged+o.charged, j.held+o.held
	j.sent += o.sent
	j.claims, j.told, j.notifications = j.claims+o.claims, j.told+o.told, j.notifications+o.notifications
	j.wrong = append(j.wrong, o.wrong...)
	if j.states == nil {
		j.states, j.apart = map[durable.State]int{}, map[string]int{}
	}
	for state, n := range o.states {
		j.states[state] += n
	}
	for risk, n := range o.apart {
		j.apart[risk] += n
	}
}

// String says what was counted.
func (j *verdict) String() string {
	return fmt.Sprintf("%d kills, %d payments (%d claims, %d sent, %d charges, %d held), %d changes told, %d notifications, %v, apart %v, %d wrong",
		j.kills, j.rows, j.claims, j.sent, j.charged, j.held, j.told, j.notifications, j.states, j.apart, len(j.wrong))
}

func (j *verdict) complain(format string, args ...any) {
	j.wrong = append(j.wrong, fmt.Sprintf(format, args...))
}

// judge holds the merchant's database against the service's ledger.
func (v *village) judge() *verdict {
	v.Helper()
	j := &verdict{
		states: map[durable.State]int{}, apart: map[string]int{}, world: v.world,
		entries: map[string]sandbox.Ledger{}, outcomes: map[string]string{}, references: map[string]int{},
	}
	ledger := v.box.Ledger()
	keys := map[string]string{}
	for _, e := range ledger {
		key := e.IdempotencyKey
		if key == "" { // the service's own retry of another one
			key = keys[e.OriginalReceipt]
		}
		keys[e.Receipt] = key
		j.entries[key] = append(j.entries[key], e)
		j.outcomes[e.Receipt] = e.Outcome
	}
	payments := v.kept()
	v.judgeTelling(j)
	of := map[string]*kept{}
	for _, p := range payments {
		j.rows++
		j.states[p.state]++
		for _, key := range p.keys {
			if of[key] != nil {
				j.complain("%s and %s were sent under one key", p.id, of[key].id)
			}
			of[key] = p
		}
		if text := j.payment(p); text == "" {
			continue
		} else if risk := j.risk(p); risk != "" {
			j.apart[risk]++
		} else {
			j.complain("%s of %s is %s (receipt %s, %d claims, %s): %s", p.id, p.order, p.state, p.receipt, len(p.keys), p.problem, text)
		}
	}
	v.judgeOrders(j, of)
	v.judgeNotifications(j)
	v.judgeRequests(j)
	return j
}

// kept reads the payments, with all that was claimed for them.
func (v *village) kept() map[string]*kept {
	v.Helper()
	payments := map[string]*kept{}
	v.each(func(scan func(...any) error) error {
		p, pending := &kept{}, ""
		err := scan(&p.id, &p.order, &p.receiptOf, &p.receipt, &p.state, &p.problem, &pending)
		p.pending = pending != ""
		payments[p.id] = p
		return err
	}, "SELECT id, order_id, receipt_of, receipt, state, problem || resolution, pending FROM quickstream.payment")
	v.each(func(scan func(...any) error) error {
		var id, text string
		if err := scan(&id, &text); err != nil {
			return err
		}
		var intent quickstream.Intent
		if err := json.Unmarshal([]byte(text), &intent); err != nil {
			return err
		}
		p := payments[id]
		if intent.IdempotencyKey != "" && !slices.Contains(p.keys, intent.IdempotencyKey) {
			p.keys = append(p.keys, intent.IdempotencyKey)
		}
		if intent.OwnReference {
			p.own = intent.Reference
		}
		p.voids = p.voids || intent.Operation == quickstream.OperationVoid
		return nil
	}, "SELECT payment, intent FROM history WHERE after = 'sending' AND before <> 'sending' ORDER BY number")
	return payments
}

// judgeTelling holds what OnOutcome was told against every change that the database has
// seen.
func (v *village) judgeTelling(j *verdict) {
	v.Helper()
	read := func(statement string) map[string][]string {
		changes := map[string][]string{}
		v.each(func(scan func(...any) error) error {
			var id, before, after string
			err := scan(&id, &before, &after)
			changes[id] = append(changes[id], before+" to "+after)
			return err
		}, statement)
		return changes
	}
	told := read("SELECT payment, before, after FROM told ORDER BY number")
	changed := read("SELECT payment, before, after FROM history WHERE before <> after AND after NOT IN ('prepared', 'sending', 'unknown') ORDER BY number")
	for id := range maps.Keys(told) {
		if changed[id] == nil {
			j.complain("%s: told %v and nothing has changed", id, told[id])
		}
	}
	for id, changes := range changed {
		j.told += len(changes)
		if !slices.Equal(changes, told[id]) {
			j.complain("%s: changed %v and told %v", id, changes, told[id])
		}
	}
	j.claims = int(v.count("SELECT count(*) FROM history WHERE after = 'sending' AND before <> 'sending'"))
}

// payment says what is wrong with a payment's state, or "".
func (j *verdict) payment(p *kept) string {
	took, voided, declined, open := j.sorted(p)
	charges := len(took) + len(voided)
	if p.voids && j.outcomes[p.receiptOf] == "voided" {
		if p.state == durable.StateVoided && charges == 0 {
			return ""
		}
		return "its void was carried out"
	}
	switch {
	case p.pending:
		return "what the merchant refused was not told again"
	case charges > 1:
		return fmt.Sprintf("it was carried out %d times", charges)
	case p.state.Open() || p.state == durable.StateEscalated:
		if open > 0 || j.mayBeHeld(p) {
			j.held++
			return ""
		}
		return "it had to be settled"
	}
	switch p.state {
	case durable.StateApproved:
		if len(took) == 1 && took[0] == p.receipt {
			return ""
		}
	case durable.StateVoided:
		if len(voided) == 1 {
			return ""
		}
	case durable.StateDeclined:
		if charges == 0 && declined > 0 && open == 0 {
			return ""
		}
	case durable.StateRefused, durable.StateNotSent:
		if p.receiptOf != "" && p.state == durable.StateNotSent {
			return "nothing was given back"
		}
		if charges == 0 && declined == 0 && open == 0 {
			return ""
		}
	case durable.StateAbsent:
		if charges == 0 && open == 0 && (declined == 0 || j.mayBeHeld(p)) {
			return ""
		}
	default: // in no state that this merchant can come to
	}
	return fmt.Sprintf("the ledger has %d approved %v, %d voided, %d declined, %d open", len(took), took, len(voided), declined, open)
}

// sorted are the transactions that were made for a payment.
func (j *verdict) sorted(p *kept) (took, voided []string, declined, open int) {
	for _, key := range p.keys {
		for _, e := range j.entries[key] {
			switch e.Outcome {
			case "approved":
				took = append(took, e.Receipt)
			case "voided":
				voided = append(voided, e.Receipt)
			case "declined", "rejected":
				declined++
			default:
				open++
			}
		}
	}
	return took, voided, declined, open
}

// mayBeHeld reports whether nobody can tell in this world what became of a payment whose
// answer was lost, as any may be whose process was killed.
func (j *verdict) mayBeHeld(p *kept) bool {
	charged := func(key string) bool { return len(j.entries[key]) > 0 }
	lost := oracle.LostWrite{
		Kind: oracle.Payment, Made: slices.ContainsFunc(p.keys, charged), OwnReference: p.own != "", Begins: p.own != "",
		OverPages: slices.Contains([]string{"1", "2"}, j.world.Value("PageSize")),
	}
	if p.receiptOf != "" {
		lost.Kind, lost.Twin = oracle.Refund, true
	}
	return lost.Held(j.world) != ""
}

// risk names what the merchant has taken knowingly.
func (j *verdict) risk(p *kept) string {
	retried := 0
	for _, key := range p.keys {
		for _, e := range j.entries[key] {
			if e.IdempotencyKey == "" {
				retried++
			}
		}
	}
	switch {
	case retried > 0 && j.world.Value("SoftDeclineCodes") == "01,05,51,91":
		return "the service retries declines that nobody calls soft"
	case p.own == "" && j.world.Value("ReusedReferences") != "none":
		return "a reference that the client has made, used a month ago"
	}
	return ""
}

// judgeOrders looks at what was charged by order: a payer does not care what key a charge
// has.
func (v *village) judgeOrders(j *verdict, of map[string]*kept) {
	v.Helper()
	charged, refunded := map[string][]string{}, map[string]int64{}
	risky := map[string]bool{}
	for _, p := range of {
		if took, _, _, _ := j.sorted(p); len(took) == 0 && p.state == durable.StateApproved && j.risk(p) != "" {
			risky[p.order] = true // by an older payment under its reference
		}
	}
	for key, entries := range j.entries {
		p := of[key]
		if p == nil {
			j.complain("the merchant knows nothing of %s for %s under %s", entries[0].Receipt, entries[0].CustomerReferenceNumber, key)
			continue
		}
		for _, e := range entries {
			switch {
			case e.Outcome != "approved":
			case e.Type == "PAYMENT":
				j.charged++
				charged[p.order] = append(charged[p.order], e.Receipt)
				risky[p.order] = risky[p.order] || j.risk(p) != ""
			case e.Type == "REFUND":
				refunded[p.order] += e.Amount
			}
		}
	}
	states := map[string]string{}
	v.each(func(scan func(...any) error) error {
		var id, state string
		err := scan(&id, &state)
		states[id] = state
		return err
	}, "SELECT id, state FROM orders")
	for _, o := range v.orders {
		if len(charged[o.id]) > 1 && !risky[o.id] {
			j.complain("%s was charged %d times: %s", o.id, len(charged[o.id]), strings.Join(charged[o.id], ", "))
		}
		if refunded[o.id] > o.amount {
			j.complain("%s cost %d and %d was given back", o.id, o.amount, refunded[o.id])
		}
		if paid := states[o.id] == "paid"; paid != (len(charged[o.id]) == 1) && !risky[o.id] && states[o.id] != "escalated" {
			j.complain("%s is %q in the merchant's table and was charged %d times", o.id, states[o.id], len(charged[o.id]))
		}
	}
}

// judgeRequests finds what was sent twice, whether it was carried out or not.
func (v *village) judgeRequests(j *verdict) {
	v.Helper()
	sent := map[string]int{}
	for _, r := range v.box.Requests() {
		if r.IdempotencyKey == "" {
			continue
		}
		if sent[r.IdempotencyKey]++; sent[r.IdempotencyKey] == 2 {
			j.complain("%s was sent twice under %s", r.Operation, r.IdempotencyKey)
		}
	}
	j.sent += len(sent)
}

// judgeNotifications finds those that were acknowledged and are not acted on.
func (v *village) judgeNotifications(j *verdict) {
	v.Helper()
	states := map[string]string{}
	v.each(func(scan func(...any) error) error {
		var id, state string
		err := scan(&id, &state)
		states[id] = state
		return err
	}, "SELECT id, state FROM quickstream.notification")
	for _, d := range v.box.Deliveries() {
		switch {
		case d.State == sandbox.DeliveryDone && states[d.ID] != "done":
			j.complain("notification %s was acknowledged and is %q", d.ID, states[d.ID])
		case states[d.ID] == "received":
			j.complain("notification %s was kept and not acted on", d.ID)
		}
		j.notifications++
	}
}
