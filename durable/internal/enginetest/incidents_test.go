package enginetest

import (
	"cmp"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
)

// incident is a fault of a shop, and the way of a person through the console from its first page to the right end.
type incident struct {
	name string
	fault
	// page is where the person sees it, and says what the page says.
	page, says string
	// steps are the links that they follow and the forms that they send, after the first page.
	steps int
	walk  func(d *desk)
	// stays are the alerts that still fire at the end, because they end by time.
	stays []string
}

// named is a fault of the matrix.
func named(name string) fault {
	all := faults()
	return all[slices.IndexFunc(all, func(f fault) bool { return f.name == name })]
}

func incidents() []incident {
	return []incident{
		{name: "lost answers in an outage", fault: named("lost answers in an outage"), page: "", says: "Unknown for long.*unknown for 7 hours", steps: 4, walk: (*desk).outage},
		{name: "held notifications", fault: named("held notifications"), page: "attention", says: "Held notifications", steps: 2, walk: (*desk).heldNotification},
		{name: "a refused OnOutcome", fault: named("a refused OnOutcome"), page: "attention", says: "The shop's program refuses the outcome", steps: 4, walk: (*desk).refusedHook},
		{name: "a clock ahead", fault: named("a clock ahead of the service's"), page: "installation", says: "Service's clock</dt><dd>.* behind", steps: 1, walk: (*desk).clockAhead},
		{name: "an older copy put back", fault: fault{fires: []string{"QuickstreamMaybeCopy"}, begins: (*watched).olderCopy}, page: "", says: "Perhaps a copy", steps: 5, walk: (*desk).olderCopy},
		{name: "a full disk", fault: named("a full disk"), page: "", says: "Late.*has waited for", steps: 5, walk: (*desk).fullDisk},
		{name: "a failing comparison", fault: named("a failing comparison"), page: "installation", says: "Failing since", steps: 4, walk: (*desk).failingComparison, stays: []string{"QuickstreamDifferences"}},
		{name: "a customer on the phone", fault: named("a customer on the phone: an answer was lost ten minutes ago"), page: "payment", says: "not known yet", steps: 7, walk: (*desk).customerCalls},
		{name: "a double charge", fault: named("a double charge"), page: "attention", says: "Charged twice", steps: 6, walk: (*desk).doubleCharge, stays: []string{"QuickstreamDoubleCharged"}},
		{name: "300 unknown at once", fault: named("300 unknown at once"), page: "", says: "Many unknown.*decide none of them now", steps: 3, walk: (*desk).manyUnknown},
	}
}

// TestIncidents makes each incident. Its alert fires, its page shows it, no page on the way offers what is wrong, and at
// the end the ledger of the service and the shop agree, and the alert has ended.
func TestIncidents(t *testing.T) {
	t.Parallel()
	for _, i := range incidents() {
		t.Run(i.name, func(t *testing.T) {
			t.Parallel()
			var edits []func(*durable.Options[*sql.Tx])
			if i.options != nil {
				edits = append(edits, i.options)
			}
			d := &desk{watched: newWatched(t, edits...)}
			d.settled(d.pay("A", d.stored()))
			d.compareToday()
			before := d.scrape()
			i.begins(d.watched)
			after := d.scrape()
			alerts(t, "begins", before, after, cmp.Or(i.held, faultyFor), i.fires)
			d.opens()
			i.walk(d)
			assert.Len(t, d.steps, i.steps, "%s", d.steps)
			assert.True(t, slices.ContainsFunc(d.visited, func(v visit) bool {
				return strings.TrimPrefix(v.page, "./") == i.page && regexp.MustCompile("(?s)"+i.says).MatchString(v.body)
			}), "no page %q said %q", i.page, i.says)
			if !slices.Contains(i.stays, "QuickstreamOverdue") { // the engine may still be at what has become due
				d.until(0, func(status durable.Health) bool { return status.Overdue == 0 })
			}
			alerts(t, "ends", before, d.scrape(), faultyFor, i.stays)
			t.Logf("%s | %s | %s | %d: %s", i.name, strings.Join(i.fires, ", "), cmp.Or(i.page, "first page"), len(d.steps), strings.Join(d.steps, "; "))
		})
	}
}

// alerts compares the alerts that fire, where promtool is installed.
func alerts(t *testing.T, name string, before, after scrape, held time.Duration, alerts []string) {
	t.Helper()
	t.Run(name, func(t *testing.T) { fires(t, before, after, held, alerts) })
}

// unclear are the forms that nobody is offered while an outcome is not known.
var unclear = []string{"decide", "pay-again", "refund"}

func (d *desk) outage() {
	d.never = unclear
	d.click("Under way")
	d.click("B")
	d.sees("Do not take the money another way", "not known")
	d.fill("look-up")
	d.sees("Not done. The service could not be asked", "resolving", "The service could not be asked", "look-up failed")
	d.box.ClearFaults()
	d.never = []string{"decide", "pay-again"}
	d.fill("look-up")
	d.sees("The money was taken")
	d.judge(2)
}

func (d *desk) heldNotification() {
	d.never = []string{"decide", "pay-again", "refund", "pause"}
	d.click("For a person")
	d.sees("It has failed", "It is tried again")
	d.settled(d.pay("B", d.stored())) // sales go on
	d.deploys()                       // with an OnEvent that does not fail
	d.fill("retry")
	d.watches(0, "Nothing waits for a person.")
	assert.Zero(d, d.status().Received)
	d.judge(2)
}

func (d *desk) refusedHook() {
	d.never = unclear
	d.click("For a person")
	d.sees("The money is where the service says")
	d.click("B")
	d.sees("what is known of it is not stored yet", "The shop's program refuses what is known of it", "Nothing is lost")
	assert.NotContains(d, d.now.body, "the answer is not here yet")
	assert.NotContains(d, d.now.body, "It may be on its way")
	d.fill("notify", "note", "mended")
	d.sees("Not done", "refuses the outcome again")
	d.refuses(nil)
	d.never = []string{"decide", "pay-again"}
	d.fill("notify", "note", "mended now")
	d.watches(0, "The money was taken")
	d.judge(2)
}

func (d *desk) clockAhead() {
	d.never = unclear
	d.sees("Clocks apart")
	d.click("Installation")
	d.sees("Database's clock", "Service's clock</dt><dd>10 minutes behind the installation&#39;s time")
	d.settled(d.pay("B", d.stored()))
	d.deploys() // on a machine whose clock was set
	d.settled(d.pay("C", d.stored()))
	d.watches(0, "All is well")
	d.judge(3)
}

// olderCopy puts a file back in which B is missing, and C waits. Both were paid.
func (w *watched) olderCopy() {
	require.NoError(w, w.engine.Stop(w.Context()))
	waits := w.pay("C", w.stored())
	w.inject(away(settlements))
	w.older(func() {
		w.settled(w.pay("B", w.stored()))
		w.settled(waits)
	})
}

func (d *desk) olderCopy() {
	d.never = []string{"decide", "pay-again"}
	d.click("Installation")
	d.sees("Say so only if no other program works with the original database")
	d.fill("confirm-history", "note", "the machine of the original is gone")
	d.sees("Restoring", "history confirmed: the machine of the original is gone")
	d.click("Payments")
	d.fill("./", "find", "B")
	d.sees("Restoring", "Payments that the database lacks are being read", "There is nothing here")
	d.box.ClearFaults()
	d.watches(time.Second, ">B</a>")
	d.click(">Order<", "B")
	d.sees("The money was taken")
	d.restored()
	d.reaches(d.paymentOf("C").ID, approved, time.Minute)
	d.judge(3)
}

// moneyBack is what the page of a reversed payment says: it is voided, or refunded after its cut-off.
const moneyBack = "The customer (has the money|gets the money back)"

func (d *desk) fullDisk() {
	d.never = []string{"decide", "pay-again"}
	d.click("Installation")
	d.sees("Late", "Waiting for its turn", "minutes at the longest")
	d.click("Payments")
	d.click(">Order<", "A<")
	form := d.now
	d.fill("refund", "how", "all", "note", "a torn page")
	d.sees("it is not known whether it was", "a form that is sent twice does nothing twice")
	d.room()
	d.now = form // a step back
	d.fill("refund", "how", "all", "note", "a torn page")
	d.sees("It is stored")
	d.watches(time.Second, moneyBack)
	d.until(time.Second, func(h durable.Health) bool { return len(h.Writes) == 0 })
	d.judge(11, "A")
}

func (d *desk) failingComparison() {
	d.never = []string{"decide", "pay-again"}
	d.sees("The comparison fails", "for 4 hours")
	d.click("Installation")
	d.sees("Failing since", "502")
	b := d.settled(d.pay("B", d.stored())) // perhaps after the cut-off of the day on which A settles
	receipt := b.ReceiptNumber
	d.put("DELETE FROM quickstream.write WHERE receipt = $1", receipt) // what only the comparison finds
	d.box.ClearFaults()
	d.compare(b.SettlesOn)
	d.watches(0, "The programs work. The last comparison with the service found 1 difference.*Differences</dt><dd>1<")
	_, _, err := d.engine.TakeIn(d.Context(), d.newWrite("B"), receipt)
	require.NoError(d, err)
	d.compare(b.SettlesOn)
	d.watches(0, "Differences</dt><dd>0<")
	d.sees("All is well")
	d.click("Payments")
	d.fill("./", "find", receipt)
	d.click(">Order<", "B")
	d.sees("The money was taken")
	d.judge(2)
}

func (d *desk) customerCalls() {
	params := d.stored()
	params.CustomerReferenceNumber = "customer-77"
	d.reaches(d.pay("C", params), resolving, 0)
	d.never = unclear
	d.fill("customer", "reference", "customer-77") // one knows their number
	d.click(">Order<", "C")
	d.sees("Do not take the money another way", "not known")
	d.click("Payments")
	d.fill("./", "find", "B") // another one their order
	d.click(">Order<", "B")
	d.sees("Do not take the money another way")
	d.box.ClearFaults()
	d.never = []string{"decide", "pay-again"}
	d.fill("look-up")
	d.sees("The money was taken", "Voided if that can still be done")
	d.fill("refund", "how", "all", "note", "the customer asks for it")
	d.watches(time.Second, moneyBack)
	d.until(time.Minute, func(h durable.Health) bool { return h.Unknown == 0 })
	d.judge(3, "B")
}

func (d *desk) doubleCharge() {
	d.never = []string{"decide", "pay-again"}
	d.click("For a person")
	d.sees("Charged twice", "refund all of it")
	d.click("Charged twice", "B")
	d.sees("Refund one of the two payments, once", "What else there is of the order")
	twice := d.address
	d.click("What else there is of the order", "B")
	d.fill("refund", "how", "all", "note", "charged twice")
	d.watches(time.Second, moneyBack)
	d.click("What else there is of the order", "B")
	assert.Equal(d, twice, d.address)
	assert.NotContains(d, strings.ToLower(d.now.short()), "refund one of the two", "that is done")
	assert.NotContains(d, strings.ToLower(d.now.short()), "refund all of one of the two", "that is done")
	d.click("For a person")
	d.sees("Nothing waits for a person")
	d.judge(2)
}

func (d *desk) manyUnknown() {
	d.never = unclear
	d.click("Under way")
	d.clock.Advance(10 * time.Minute)
	d.click(fmt.Sprint("lost ", lostAtOnce-1))
	d.sees("Do not take the money another way")
	d.fill("look-up")
	d.sees("Many unknown", "decide none of them now")
	d.box.ClearFaults()
	d.never = []string{"decide", "pay-again"}
	d.watches(time.Minute, "The money was taken")
	d.until(time.Minute, func(h durable.Health) bool { return h.Unknown == 0 })
	d.judge(lostAtOnce + 1)
}
