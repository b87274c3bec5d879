package enginetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
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

// kept is a write as the merchant's database has it in the end.
type kept struct {
	durable.Standing
	id, order, follows, receipt string
	receiptOf                   string // of the payment that it follows
	problem                     string
	waits                       bool // until an equal refund is known
	pending                     bool
	own                         string   // the merchant's own reference
	keys                        []string // of all that was ever claimed
	voids                       bool     // one of them was a void
}

// verdict is what the ledger, the history of the rows and what the merchant was told say
// of each other.
type verdict struct {
	wrong                       []string
	charged, rows, held         int
	refunded                    int // refunds that were asked for and made
	states                      map[string]int
	claims, told, notifications int
	kills, sent                 int
	apart                       map[string]int // gone wrong by a risk that the merchant takes
	world                       worlds.World
	entries                     map[string]sandbox.Ledger // by idempotency key, with the service's own retries
	outcomes                    map[string]string         // by receipt
	risky                       map[string]bool           // orders that are charged or paid by a risk
}

func (j *verdict) add(o *verdict) {
	j.kills, j.rows, j.charged, j.held = j.kills+o.kills, j.rows+o.rows, j.charged+o.charged, j.held+o.held
	j.sent, j.refunded = j.sent+o.sent, j.refunded+o.refunded
	j.claims, j.told, j.notifications = j.claims+o.claims, j.told+o.told, j.notifications+o.notifications
	j.wrong = append(j.wrong, o.wrong...)
	if j.states == nil {
		j.states, j.apart = map[string]int{}, map[string]int{}
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
	return fmt.Sprintf("%d kills, %d writes (%d claims, %d sent, %d charges, %d refunds, %d held), %d changes told, %d notifications, %v, apart %v, %d wrong",
		j.kills, j.rows, j.claims, j.sent, j.charged, j.refunded, j.held, j.told, j.notifications, j.states, j.apart, len(j.wrong))
}

func (j *verdict) complain(format string, args ...any) {
	j.wrong = append(j.wrong, fmt.Sprintf(format, args...))
}

// claimed is the condition of the rows of the history that are claims.
const claimed = "after LIKE 'sending%' AND before NOT LIKE 'sending%'"

// judge holds the merchant's database against the service's ledger.
func (v *village) judge() *verdict {
	v.Helper()
	j := &verdict{
		states: map[string]int{}, apart: map[string]int{}, world: v.world,
		entries: map[string]sandbox.Ledger{}, outcomes: map[string]string{}, risky: map[string]bool{},
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
	writes := v.kept()
	v.judgeTelling(j)
	of, receipts := map[string]*kept{}, map[string]*kept{}
	for _, p := range writes {
		j.rows++
		j.states[p.Text()]++
		if other := receipts[p.receipt]; p.receipt != "" && other != nil {
			j.complain("%s and %s have one receipt", p.id, other.id)
		}
		receipts[p.receipt] = p
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
			j.complain("%s of %s is %s (receipt %s, %d claims, %s): %s", p.id, p.order, p.Text(), p.receipt, len(p.keys), p.problem, text)
		}
	}
	v.judgeOrders(j, of)
	v.judgeRefunds(j, writes)
	v.judgeNotifications(j)
	v.judgeRequests(j)
	return j
}

// kept reads the writes, with all that was claimed for them.
func (v *village) kept() map[string]*kept {
	v.Helper()
	writes := map[string]*kept{}
	v.each(func(scan func(...any) error) error {
		p, pending := &kept{}, ""
		err := scan(&p.id, &p.order, &p.follows, &p.receipt, &p.State, &p.Outcome, &p.Reversal, &p.problem, &pending, &p.waits)
		p.pending = pending != ""
		writes[p.id] = p
		return err
	}, "SELECT id, order_id, follows, receipt, state, outcome, reversal, problem || lookups, pending, "+inLine+" FROM quickstream.write AS w")
	for _, p := range writes {
		if payment := writes[p.follows]; payment != nil {
			p.receiptOf = payment.receipt
		}
	}
	v.each(func(scan func(...any) error) error {
		var id, text string
		if err := scan(&id, &text); err != nil {
			return err
		}
		var intent quickstream.Intent
		if err := json.Unmarshal([]byte(text), &intent); err != nil {
			return err
		}
		p := writes[id]
		if intent.IdempotencyKey != "" && !slices.Contains(p.keys, intent.IdempotencyKey) {
			p.keys = append(p.keys, intent.IdempotencyKey)
		}
		if intent.OwnReference {
			p.own = intent.Reference
		}
		p.voids = p.voids || intent.Operation == quickstream.OperationVoid
		return nil
	}, "SELECT write_id, intent FROM history WHERE "+claimed+" ORDER BY number")
	return writes
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
	told := read("SELECT write_id, before, after FROM told ORDER BY number")
	changed := read("SELECT write_id, before, after FROM history WHERE before <> after AND after NOT LIKE 'queued%' AND after NOT LIKE 'sending%' AND after NOT LIKE 'resolving%' ORDER BY number")
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
	j.claims = int(v.count("SELECT count(*) FROM history WHERE " + claimed))
}

// payment says what is wrong with a write's standing, or "".
func (j *verdict) payment(p *kept) string {
	took, back, declines, open := j.sorted(p)
	charges := len(took) + len(back)
	if p.voids && j.outcomes[p.receiptOf] == "voided" {
		if p.Text() == approved && charges == 0 {
			return ""
		}
		return "its void was carried out"
	}
	switch {
	case p.pending:
		return "what the merchant refused was not told again"
	case charges > 1:
		return fmt.Sprintf("it was carried out %d times", charges)
	case p.State.InProgress() || p.State == durable.StateEscalated:
		// A PayTo payment may be approved after the last look: it is looked up again.
		followed := strings.Contains(p.problem, `"seen":{"result":"pending"`) && strings.Contains(p.problem, `"nextLook":`)
		if open > 0 || followed || p.waits || j.mayBeHeld() {
			j.held++
			return ""
		}
		return "it had to be settled"
	}
	switch p.Text() {
	case approved:
		if len(took) == 1 && took[0] == p.receipt {
			return ""
		}
	case voided:
		if len(back) == 1 {
			return ""
		}
	case declined, rejected:
		if charges == 0 && declines > 0 && open == 0 {
			return ""
		}
	case refused, notSent:
		if p.follows != "" && p.Text() == notSent {
			return "nothing was refunded"
		}
		if charges == 0 && declines == 0 && open == 0 {
			return ""
		}
	case notFound:
		if charges == 0 && open == 0 && (declines == 0 || j.mayBeHeld()) {
			return ""
		}
	default: // in no state that this merchant can come to
	}
	return fmt.Sprintf("the ledger has %d approved %v, %d voided, %d declined, %d open", len(took), took, len(back), declines, open)
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
func (j *verdict) mayBeHeld() bool { return oracle.MayHold(j.world) }

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
	for _, p := range of {
		if took, _, _, _ := j.sorted(p); len(took) == 0 && p.Paid() && j.risk(p) != "" {
			j.risky[p.order] = true // by an older payment under its reference
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
				j.risky[p.order] = j.risky[p.order] || j.risk(p) != ""
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
		if len(charged[o.id]) > 1 && !j.risky[o.id] {
			j.complain("%s was charged %d times: %s", o.id, len(charged[o.id]), strings.Join(charged[o.id], ", "))
		}
		if refunded[o.id] > o.amount {
			j.complain("%s cost %d and %d was refunded", o.id, o.amount, refunded[o.id])
		}
		if paid := states[o.id] == "paid"; paid != (len(charged[o.id]) == 1) && !j.risky[o.id] && states[o.id] != "escalated" {
			j.complain("%s is %q in the merchant's table and was charged %d times", o.id, states[o.id], len(charged[o.id]))
		}
	}
}

// judgeRefunds finds refunds that the merchant wanted and did not ask for, or for which the
// engine has another write: each of two equal lines has its own.
func (v *village) judgeRefunds(j *verdict, writes map[string]*kept) {
	v.Helper()
	v.each(func(scan func(...any) error) error {
		var id, order, state, orderState, payment string
		if err := scan(&id, &order, &state, &orderState, &payment); err != nil {
			return err
		}
		w := writes[id]
		switch {
		case state == "wanted" && orderState == "paid" && w == nil && j.risky[order]: // the older payment may have nothing left to refund
			j.apart["a refund of an order that was taken for an older payment"]++
		case state == "later" || state == "wanted":
			if w != nil || state == "wanted" && orderState == "paid" {
				j.complain("%s is %s, and %s is %s", id, state, order, orderState)
			}
		case w == nil || w.order != order || w.follows == "":
			j.complain("%s was asked for, and is %+v", id, w)
		case state != "asked" && state != w.Text() && !w.State.InProgress():
			j.complain("%s is %s to the merchant, and %s to the engine", id, state, w.Text())
		case w.Approved():
			j.refunded++
		}
		return nil
	}, "SELECT r.id, r.order_id, r.state, o.state, o.write_id FROM refunds r JOIN orders o ON o.id = r.order_id")
}

// judgeRequests finds what was sent twice under one key, whether it was executed or not, unless the
// answer before permits that: 401, 429 and 503, or none because it did not arrive.
func (v *village) judgeRequests(j *verdict) {
	v.Helper()
	final := map[string]bool{}
	for _, r := range v.box.Requests() {
		if r.IdempotencyKey == "" {
			continue
		}
		if final[r.IdempotencyKey] {
			j.complain("%s was sent again under %s", r.Operation, r.IdempotencyKey)
		}
		final[r.IdempotencyKey] = !slices.Contains([]int{http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable}, r.Status)
	}
	j.sent += len(final)
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
