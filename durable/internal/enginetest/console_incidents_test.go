package enginetest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// follow opens a link of a page.
func (o *office) follow(p reply, text string) reply {
	o.T.Helper()
	return o.get("jo", p.link(text))
}

// In an outage the first page says that the service does not answer, how many outcomes are unknown, and what not to do. None of
// these payments can be decided or refunded. Afterwards one button looks all up, and says how many look-ups have failed.
func TestConsoleOutage(t *testing.T) {
	t.Parallel()
	const payments = 120
	o := openOffice(t)
	now := func() reply { return o.send("jo", http.MethodGet, "", nil) } // as the page reads itself
	away := sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Status(http.StatusBadGateway, sandbox.HTML)}
	o.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: payments * 3}, away)
	var orders []string
	for i := range payments {
		orders = append(orders, fmt.Sprint("order ", i))
		o.pay(orders[i], o.card(sandbox.CardAttempted))
	}
	eventually(o.T, func() bool { return o.health().Writes[durable.StateUnknown] == payments }, "all are unknown")
	o.Advance(3 * time.Minute)
	eventually(o.T, func() bool { return strings.Contains(now().body, "The service does not answer.") }, "a look-up has failed")
	page := o.get("jo", "")
	assert.NotContains(t, page.body, "All is well.")
	assert.Regexp(t, fmt.Sprintf(`<strong>Outcome unknown.</strong> %d payments, the oldest for \d minutes. Do not take the money another way`, payments), page.body)
	assert.Regexp(t, `They are looked up by themselves, the next in \d+ (seconds|minutes)\.`, page.body)
	assert.Contains(t, page.body, "decide nothing")
	one := o.follow(page, orders[7]+"<")
	assert.False(t, one.offers("decide") || one.offers("refund") || one.offers("cancel"), "nothing is to be done but to look")

	o.clicks = 0
	first := o.get("jo", "")
	page = o.submit("jo", first, "look-up-all")
	assert.Regexp(t, `Look-up by Jo: \d+ of 120`, page.body)
	assert.False(t, page.offers("look-up-all"), "it is being done")
	o.Sandbox.ClearFaults()
	progress := regexp.MustCompile(`(\d+) of 120`)
	for n := 20; n <= payments; n += 20 { // a minute for each part
		eventually(o.T, func() bool {
			shown := progress.FindStringSubmatch(now().body)
			require.NotNil(t, shown)
			done, err := strconv.Atoi(shown[1])
			return err == nil && done >= n
		}, "they are looked up")
		if n == 20 {
			page = now()
			assert.NotRegexp(t, "does not answer|decide nothing", page.body)
			assert.Contains(t, page.body, "They are being looked up: wait for the end.")
		}
	}
	eventually(o.T, func() bool { return strings.Contains(now().body, "done, 120 of 120") }, "all were looked up")
	assert.Regexp(t, `120 of 120, \d+ <a href="payments\?tab=approved">approved</a>`, now().body)
	if page = now(); page.offers("look-up-all") { // the first of them failed
		assert.Regexp(t, `\d+ failed: the service could not be asked`, page.body)
		o.submit("jo", page, "look-up-all")
	}
	eventually(o.T, func() bool { return !strings.Contains(now().body, "Outcome unknown") }, "it is over")
	assert.LessOrEqual(t, o.clicks, 6)
	for _, order := range orders {
		assert.True(t, o.shop.get(order).Paid())
	}
	assert.Contains(t, o.page("jo", orders[7]).body, "looked up: approved")
	o.Judge(orders...)
}

// If nothing can be sent at all, no outcome is unknown, and the page does not say that all is well.
func TestConsoleUnreachable(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Unreachable(sandbox.ConnectionRefused)})
	o.pay("A", o.card(sandbox.CardAttempted))
	eventually(o.T, func() bool { return o.shop.get("A").Failures > 0 }, "it could not be sent")
	page := o.get("jo", "")
	assert.NotContains(t, page.body, "All is well.")
	assert.Contains(t, page.body, "1 payment could not be sent")
	assert.Regexp(t, "(?s)<summary>Technical</summary>.*nothing was sent", page.body)
	assert.Regexp(t, `It could not be sent, (once|\d times). It is tried again by itself.`, o.page("jo", "A").body)
	o.Sandbox.ClearFaults()
	assert.True(t, o.Settled("A").Paid())
	assert.NotContains(t, o.get("jo", "").body, "could not be sent")
}

// One payment that could not be sent, while others go through, is no outage.
func TestConsoleNotSentYet(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	require.NoError(t, o.Engine().Pause(t.Context(), "Kim", "it is edited"))
	o.pay("A", o.card(sandbox.CardAttempted))
	require.NoError(t, o.db.exec(t.Context(), "UPDATE quickstream.write SET failures = 1, problem = 'nothing was sent', next_at = next_at + 3600000000, version = version + 1 WHERE id = 'A'"))
	assert.Contains(t, o.get("jo", "").body, "Paused.")
	require.NoError(t, o.Engine().Unpause(t.Context(), "Kim", "go on"))
	assert.Contains(t, o.get("jo", "").body, "The service cannot be reached.", "nothing was answered since")
	o.Advance(time.Second)
	o.paid("B")
	page := o.get("jo", "")
	assert.Contains(t, page.body, "Not sent yet.")
	assert.Contains(t, page.body, "yes, and some are tried again")
	assert.NotContains(t, page.body, "cannot be reached")
	require.NoError(t, o.db.exec(t.Context(), "UPDATE quickstream.write SET failures = 2, version = version + 1 WHERE id = 'A'"))
	assert.Contains(t, o.get("jo", "").body, "The service cannot be reached.", "it has failed twice without being sent")
}

// A payment that the service has refused for now, and that a person has cancelled, is looked up and not sent again: its page says so.
func TestConsoleCancelRefused(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Status(http.StatusServiceUnavailable, sandbox.ServiceError)})
	o.pay("A", o.stored())
	eventually(o.T, func() bool { w := o.shop.get("A"); return w.State == durable.StateQueued && w.Sends > 0 }, "it is refused")
	assert.Contains(t, o.page("jo", "A").body, "then sent again by itself")
	eventually(o.T, func() bool { return o.Engine().Cancel(t.Context(), "A", "Jo", "the customer has left") == nil }, "it is cancelled")
	page := o.page("jo", "A")
	assert.Contains(t, page.body, "A person has cancelled it. It is looked up once more, and not sent again.")
	assert.NotContains(t, page.body, "sent again by itself")
	assert.NotContains(t, page.body, "cancelled before it was sent")
	assert.False(t, page.offers("cancel"))
}

// A customer who was charged twice gets one payment back: the page shows both side by side, and offers nothing else.
func TestConsoleChargedTwice(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.chargedTwice("A")
	o.clicks = 0
	page := o.follow(o.get("jo", ""), "A<")
	for _, id := range []string{"A", "A/2"} {
		assert.Contains(t, page.body, o.shop.get(id).ReceiptNumber)
	}
	assert.Equal(t, 2, strings.Count(page.body, `action="refund"`), "one for each")
	assert.False(t, page.offers("look-up") || page.offers("decide") || page.offers("cancel"))
	for _, wrong := range []string{"part", "void"} {
		assert.Equal(t, http.StatusUnprocessableEntity, o.submit("kim", page, "refund", "how", wrong, "amount", "1.00").status)
	}
	asked := o.submit("jo", page, "refund")
	assert.Contains(t, asked.body, "The order stays paid by the other one, and cannot be paid again. If the shop has held the order, a person there has to release it.")
	done := o.submit("jo", asked, "refund", "note", "charged twice")
	assert.Regexp(t, "Do not refund another one for that|all of it was refunded", done.body, "the refund may be under way, or done")
	assert.LessOrEqual(t, o.clicks-2, 4, "clicks") // two were wrong on purpose
	for _, id := range []string{"A", "A/2"} {
		assert.NotContains(t, o.page("jo", id).body, "Refund this one")
	}
	assert.NotContains(t, o.get("jo", "").body, "Charged twice")
	back := o.details("A").FollowUps
	if len(back) == 0 {
		back = o.details("A/2").FollowUps
	}
	require.Len(t, back, 1)
	require.True(t, o.Settled(back[0].ID).Done())
	assert.NotContains(t, o.get("jo", "payments").body, ">charged twice<", "it is over")
	assert.Contains(t, o.page("jo", map[string]string{"A": "A/2", "A/2": "A"}[back[0].Follows]).body, "<summary>Refund more of this order</summary>")
	assert.Contains(t, o.page("jo", "A").body, "It was replaced by <a")
	assert.EqualValues(t, 1234, int64(o.charged("A"))*1234-o.refunded(), "one of two stays")
}

// chargedTwice charges an order twice: its first payment is found after a person had another one made.
func (o *office) chargedTwice(order string) {
	o.T.Helper()
	o.paidAgain(order, 9*24*time.Hour)
	o.reaches(order, "needs_person.double_charged")
}

// paidAgain has a person have another payment of an order made, whose first one appears late.
func (o *office) paidAgain(order string, late time.Duration) {
	o.T.Helper()
	ctx := o.T.Context()
	o.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.CommitLate(late), Times: 1})
	o.pay(order, o.stored())
	o.reaches(order, "needs_person.not_found")
	seen, err := o.Engine().LookUp(ctx, "Kim", "before I decide", order)
	require.NoError(o.T, err)
	require.NoError(o.T, o.Tx(func(tx *sql.Tx) error {
		_, _, err := o.Engine().PayAgain(ctx, tx, durable.NewWrite{ID: order + "/2", Order: order, Version: seen[0].Version, By: "Kim", Note: "it will not come"},
			order, o.card(sandbox.CardAttempted))
		return err
	}))
	require.True(o.T, o.Settled(order+"/2").Paid())
}

// A refund for the wrong order can be cancelled from the page of the payment as long as it waits, but not after it was sent.
func TestConsoleCancel(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p := o.paid("A")
	o.refunds("kim", o.page("kim", p.ID), "part", "5.00", "a torn page")
	o.clicks = 0
	page := o.follow(o.get("jo", "payments?find=a"), "A<")
	assert.Contains(t, page.body, "Refund of $5.00: not sent yet.")
	assert.NotContains(t, o.get("jo", "").body, "could not be sent", "it waits for the settlement")
	o.clicks--
	page = o.submit("jo", page, "cancel")
	assert.Contains(t, page.body, "If this was in time, it stands as cancelled below.")
	assert.Contains(t, page.body, "cancelled before it was sent")
	assert.Equal(t, 3, o.clicks)
	page = o.page("jo", p.ID)
	assert.False(t, page.offers("cancel"))
	assert.Contains(t, page.body, "All that is left, $12.34")
	o.refunds("kim", page, "part", "4.00", "a torn page")
	late := o.page("jo", p.ID)
	o.Advance(72 * time.Hour)
	o.Settled(o.details(p.ID).FollowUps[1].ID)
	answer := o.submit("jo", late, "cancel")
	assert.Equal(t, http.StatusUnprocessableEntity, answer.status)
	assert.Contains(t, answer.body, "It is too late: it was sent.")
	assert.EqualValues(t, 400, o.refunded())
	log := o.get("jo", "installation").body
	for _, deed := range []string{"Kim</span>, <a href=\"payment?id=", "asked for: a torn page", "Jo</span>, <a", "cancelled before it was sent"} {
		assert.Contains(t, log, deed, "who has done what, with the payment")
	}
}

// An amount finds the payment, with the second when it was made, the digits of its card and its title. So do an order's
// number in upper or lower case, its beginning, a day with an hour, and the digits of the card.
func TestConsolePhone(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	require.NoError(t, o.Tx(func(tx *sql.Tx) error {
		_, _, err := o.Engine().Pay(t.Context(), tx, durable.NewWrite{ID: "1", Order: "Order-1", Title: "Two blue mugs"}, o.card(sandbox.CardAttempted))
		return err
	}))
	paid := o.Settled("1")
	require.NotEmpty(t, paid.CardDigits)
	o.clicks = 0
	list := o.get("jo", "payments?find=12.34")
	for _, text := range []string{"Two blue mugs", "card …" + paid.CardDigits, paid.Written.In(sydney(t)).Format("15:04:05")} {
		assert.Contains(t, list.body, text)
	}
	page := o.follow(list, "Order-1")
	assert.Contains(t, page.body, "<title>Payment of order Order-1 ")
	assert.Equal(t, 2, o.clicks)
	hour := paid.Written.In(sydney(t))
	for _, text := range []string{"ORDER-1", "order", "Ord", paid.ReceiptNumber, "$12.34", hour.Format("2/1/2006 15"), hour.Format("2 Jan 2006"), hour.Format("2/1/2006 15:04"), paid.CardDigits} {
		assert.Equal(t, []string{"Order-1"}, o.get("jo", "payments?find="+url.QueryEscape(text)).orders(), text)
	}
	for _, text := range []string{"rder", "12.35", hour.Add(-2 * time.Hour).Format("2/1/2006 15"), "\u00e9", "%"} {
		assert.Empty(t, o.get("jo", "payments?find="+url.QueryEscape(text)).orders(), text)
	}
	assert.Contains(t, o.get("jo", "payments?find=12.34+"+paid.CardDigits).body, "Fill in one thing only")
	assert.Contains(t, o.get("jo", "payments?from=2/1/2026&to=1/1/2026").body, "The first day is after the last one.")
	for _, name := range []string{"id", "find", "write"} {
		answer := o.send("jo", http.MethodPost, "cancel", url.Values{name: {strings.Repeat("x", 256)}})
		assert.Equal(t, http.StatusBadRequest, answer.status, name)
		assert.Contains(t, answer.body, "Nothing was done.")
	}
}

// A comparison that fails is an alarm that says what to do. It is made again from the page, and each difference says what it
// means.
func TestConsoleCompare(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p := o.paid("A")
	o.Advance(72 * time.Hour)
	o.edit("amount = '1.00'", p.ID)
	_, err := o.Client.Transactions.Pay(t.Context(), params(quickstream.FromSingleUseToken(o.Token(sandbox.CardAttempted))))
	require.NoError(t, err)
	o.inject(sandbox.Fault{Operation: bySettlement, Kind: sandbox.Status(http.StatusInternalServerError, sandbox.ServiceError)})
	day := time.Date(p.SettlementDate.Year, p.SettlementDate.Month, p.SettlementDate.Day, 0, 0, 0, 0, time.UTC).Format("2/1/2006")
	wrong := o.submit("jo", o.get("jo", "installation"), "compare", "day", "11/30/2026")
	assert.Equal(t, http.StatusUnprocessableEntity, wrong.status)
	assert.Contains(t, wrong.body, `value="11/30/2026"`, "what was typed stays")
	o.submit("jo", wrong, "compare", "day", day)
	eventually(o.T, func() bool { return !o.health().Comparison.FailingSince.IsZero() }, "it fails")
	page := o.get("jo", "")
	assert.Contains(t, page.body, "<strong>The comparison fails.</strong>")
	assert.Contains(t, page.body, "Compare now when the service answers again")
	o.Sandbox.ClearFaults()
	eventually(o.T, func() bool {
		return !strings.Contains(o.send("jo", http.MethodGet, "", nil).body, "Comparison of "+day+" by Jo: 0")
	}, "it has ended")
	o.clicks = 0
	o.submit("jo", o.get("jo", "installation"), "compare", "day", day)
	assert.Equal(t, 2, o.clicks)
	eventually(o.T, func() bool { return o.health().Comparison.FailingSince.IsZero() }, "it succeeds")
	page = o.get("jo", "installation")
	assert.Contains(t, page.body, "The service took another amount. Compare it with the order, and refund what is too much.")
	assert.NotContains(t, page.body, "The comparison fails")
	first := o.get("jo", "")
	assert.Contains(t, first.body, "found 1 difference.</strong> <a href=\"installation#h-comparison\">")
	assert.NotContains(t, first.body, "All is well.")
	var found []durable.Found
	for _, kind := range []durable.DifferenceKind{
		durable.DifferenceMissingHere, durable.DifferenceMissingThere, durable.DifferenceAmount, durable.DifferenceState, durable.DifferenceLate, durable.DifferenceDoubleCharged,
		durable.DifferenceNotFoundCharged, durable.DifferenceNotOurs, durable.DifferenceUnreadable,
	} {
		found = append(found, durable.Found{Kind: kind})
	}
	text, err := json.Marshal(durable.Comparison{Found: found})
	require.NoError(t, err)
	require.NoError(t, o.db.exec(t.Context(), "UPDATE quickstream.meta SET value = '"+string(text)+"' WHERE name = 'comparison'"))
	page = o.get("jo", "installation")
	assert.Equal(t, len(found), strings.Count(page.body, "<li>Not here: "))
	assert.NotRegexp(t, "<li>Not here: [a-z ]+</li>", page.body, "a difference without a sentence")
}
