package enginetest

import (
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/console"
	"github.com/quickstream-go/quickstream/sandbox"
)

// desk is a person at the console of a shop. They follow links and send forms of the page that they see, and nothing else.
type desk struct {
	*watched
	office  *office
	now     reply
	address string // of the page, from which it is read anew
	never   []string
	steps   []string
	visited []visit
}

type visit struct{ page, body string }

// opens shows the first page of the engine that works now.
func (d *desk) opens() {
	d.Helper()
	d.returns()
	d.shows("", func() reply { return d.office.get("jo", "") })
}

// returns has the console be that of the engine that works now.
func (d *desk) returns() {
	params := d.stored()
	d.office = officeOf(d.shop, func(o *console.Options) {
		o.PayAgain = func(context.Context, durable.Payment) (quickstream.TransactionParams, error) { return params, nil }
	})
}

// deploys runs another program.
func (d *desk) deploys() {
	d.Helper()
	require.NoError(d, d.engine.Stop(d.Context()))
	d.engine = d.start(d.counts)
	d.returns()
}

// shows reads a page, and judges it.
func (d *desk) shows(address string, read func() reply) {
	d.Helper()
	before, ledger := d.versions(), d.box.Ledger()
	d.now, d.address = read(), address
	page, _, _ := strings.Cut(address, "?")
	d.visited = append(d.visited, visit{page, d.now.body})
	if found := regexp.MustCompile(`data-address="([^"]*)"`).FindStringSubmatch(d.now.body); found != nil {
		d.address = html.UnescapeString(found[1])
	}
	for _, form := range d.never {
		assert.False(d, d.now.offers(form), "%s is offered after %s on\n%s", form, d.steps, d.now.short())
	}
	for _, form := range []string{"decide", "pay-again", "refund", "look-up", "notify"} {
		if !d.now.offers(form) {
			continue
		}
		values := d.now.form(form)
		id := values.Get("id")
		version, err := strconv.ParseInt(values.Get("version"), 10, 64)
		require.NoError(d, err)
		assert.True(d, before[id] <= version && version <= d.versions()[id], "%s has version %d, and the payment %d", form, version, d.versions()[id])
		d.judgesForm(form, d.read(id), ledger)
	}
	if of, err := url.Parse(d.address); err == nil && of.Path == "payment" {
		d.judgesWords(d.read(of.Query().Get("id")), ledger)
	}
}

// versions are those of all writes.
func (d *desk) versions() (versions map[string]int64) {
	d.Helper()
	require.NoError(d, json.Unmarshal([]byte(d.text("SELECT json_group_object(id, version) FROM quickstream.write")), &versions))
	return versions
}

// longestSend is for how long a process may be sending what it has claimed, as the README says.
const longestSend = 5 * time.Minute

// judgesForm compares what is offered about a payment with what was true of it before.
func (d *desk) judgesForm(form string, r durable.Record, before sandbox.Ledger) {
	d.Helper()
	switch form {
	case "decide", "pay-again":
		sent := one[time.Time](d.shop, "SELECT last_sent_at FROM quickstream.write WHERE id = $1", r.ID)
		assert.GreaterOrEqual(d, d.clock.Now().Sub(sent), longestSend, "%s is offered while a process may be sending it", form)
		assert.Contains(d, []durable.State{durable.StateResolving, durable.StateNotFound, durable.StateEscalated}, r.State, "%s is offered of what is %s", form, r.Text())
		assert.True(d, form == "decide" || d.paymentOf(r.Order).ID == r.ID, "the order has another payment")
	case "refund":
		assert.Positive(d, left(before, r.ReceiptNumber), "a refund is offered of a payment of which nothing is left")
	}
}

// judgesWords compares what is said about a payment with the ledger: money that was taken was taken before.
func (d *desk) judgesWords(r durable.Record, before sandbox.Ledger) {
	d.Helper()
	says := func(text string) bool { return strings.Contains(d.now.body, "<p>"+text) }
	switch {
	case says("The money was taken."):
		assert.Positive(d, left(before, r.ReceiptNumber), "the money of %s was not taken", r.Order)
	case says("It was cancelled before settlement. The customer has the money."), says("It was taken, and all of it was refunded. The customer gets the money back."):
		assert.Zero(d, left(d.box.Ledger(), r.ReceiptNumber), "the customer has not the money of %s", r.Order)
	case says("The customer was charged twice for one order. Refund one"):
		assert.EqualValues(d, 2*1234, paid(before)[r.Order], "%s is not charged twice", r.Order)
	}
}

// left is what is left of a transaction, in cents, by the ledger.
func left(ledger sandbox.Ledger, receipt string) (left int64) {
	for _, entry := range ledger {
		switch {
		case entry.Outcome != "approved":
		case entry.Receipt == receipt:
			left += entry.Amount
		case entry.OriginalReceipt == receipt:
			left -= entry.Amount
		}
	}
	return left
}

// paid is what each order has cost its customer, in cents, by the ledger.
func paid(ledger sandbox.Ledger) map[string]int64 {
	paid := map[string]int64{}
	for _, entry := range ledger {
		if order := entry.Metadata["quickstreamOrder"]; entry.Type == "PAYMENT" && order != "" {
			paid[order] += left(ledger, entry.Receipt)
		}
	}
	return paid
}

// click follows a link of the page. What stands before it are texts after which it is looked for.
func (d *desk) click(texts ...string) {
	d.Helper()
	part, last := d.now, len(texts)-1
	for _, text := range texts[:last] {
		_, rest, there := strings.Cut(part.body, text)
		require.True(d, there, "there is no %q in\n%s", text, d.now.short())
		part.body = rest
	}
	address := part.link(texts[last])
	d.steps = append(d.steps, "click "+texts[last])
	d.shows(address, func() reply { return d.office.get("jo", address) })
	require.Equal(d, http.StatusOK, d.now.status)
}

// fill sends a form of the page as a browser would: with fields and choices that it has, and with all that it requires.
func (d *desk) fill(action string, filled ...string) {
	d.Helper()
	values := d.now.form(action)
	form := regexp.MustCompile(`(?s)<form[^>]*action="` + regexp.QuoteMeta(action) + `".*?</form>`).FindString(d.now.body)
	for i := 0; i+1 < len(filled); i += 2 {
		field := regexp.MustCompile(`<input[^>]* name="` + filled[i] + `"( value="` + regexp.QuoteMeta(filled[i+1]) + `")?[^>]*>`).FindString(form)
		require.NotEmpty(d, field, "the form has no field %q", filled[i])
		require.True(d, !strings.Contains(field, `type="radio"`) || strings.Contains(field, `value="`+filled[i+1]+`"`), "nobody can choose %q", filled[i+1])
		values.Set(filled[i], filled[i+1])
	}
	for _, required := range regexp.MustCompile(`<input[^>]* name="([^"]*)"[^>]* required`).FindAllStringSubmatch(form, -1) {
		require.NotEmpty(d, values.Get(required[1]), "the form requires %q", required[1])
	}
	d.steps = append(d.steps, "fill "+strings.Trim(action, "./")+" "+strings.Join(filled, " "))
	address := "./?" + values.Encode()
	if strings.HasPrefix(form, `<form method="post"`) {
		d.shows(action, func() reply { return d.office.send("jo", http.MethodPost, action, values) })
		if address = d.now.header.Get("Location"); address == "" {
			return
		}
	}
	d.shows(address, func() reply { return d.office.get("jo", address) })
}

// sees looks for texts on the page, in their order.
func (d *desk) sees(texts ...string) {
	d.Helper()
	rest := d.now.body
	for _, text := range texts {
		at := regexp.MustCompile(text).FindStringIndex(rest)
		require.NotNil(d, at, "there is no %q after %s on\n%s", text, d.steps, d.now.short())
		rest = rest[at[1]:]
	}
}

// short is the text of a page, for messages.
func (p reply) short() string {
	_, text, _ := strings.Cut(p.body, "<main")
	text, _, _ = strings.Cut(text, "<details>")
	return regexp.MustCompile(`(\s*<[^>]*>\s*)+`).ReplaceAllString(text, " | ")
}

// watches waits until the page, which reads itself anew, says something, while time passes.
func (d *desk) watches(step time.Duration, text string) {
	d.Helper()
	require.Contains(d, d.now.body, "data-address", "the page stays as it is")
	require.Eventually(d, func() bool {
		d.clock.Advance(step)
		d.shows(d.address, func() reply { return d.office.get("jo", d.address) })
		return regexp.MustCompile("(?s)" + text).MatchString(d.now.body)
	}, time.Minute, 50*time.Millisecond, "%q does not come", text)
}

// judge compares the ledger with the shop: it has so many orders, for each the customer has paid once, and the engine
// and the shop know it. Those that were refunded have cost the customer nothing.
func (d *desk) judge(orders int, refunded ...string) {
	d.Helper()
	paid := paid(d.box.Ledger())
	assert.Len(d, paid, orders)
	params := d.stored()
	for order, sum := range paid {
		if slices.Contains(refunded, order) {
			assert.Zero(d, sum, "%s was refunded", order)
			continue
		}
		assert.EqualValues(d, 1234, sum, "%s costs 12.34", order)
		assert.True(d, d.paymentOf(order).Approved(), "the engine knows of %s", order)
		assert.Contains(d, d.states(order), approved, "the shop knows of %s", order)
		assert.NotEmpty(d, d.blocked(order, params), "it is not paid again")
	}
}
