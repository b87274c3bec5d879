package enginetest

import (
	"go/parser"
	gotoken "go/token"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/console"
	"github.com/quickstream-go/quickstream/sandbox"
)

// A refund is made once, however often its form is sent. If two people see the same page, one of them makes it.
func TestConsoleRefund(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p := o.paid("A")
	jo, kim := o.page("jo", p.ID), o.page("kim", p.ID)
	asked := o.submit("jo", jo, "refund", "how", "part", "amount", "4.00")
	assert.Contains(t, asked.body, "Sent at once if the payment has settled, otherwise when it has")
	first := o.submit("jo", asked, "refund", "note", "a torn page")
	require.Contains(t, first.body, "The refund is stored, and sent by itself.")
	assert.Contains(t, first.body, "Refund: asked for: a torn page")
	assert.Contains(t, first.body, `by Jo`)
	again := o.submit("jo", asked, "refund", "note", "a torn page")
	assert.Equal(t, http.StatusOK, again.status, "a second click is the same refund")
	other := o.refunds("jo", jo, "part", "5.00", "a torn page")
	assert.Equal(t, http.StatusUnprocessableEntity, other.status)
	assert.Contains(t, other.body, "Something has happened to the payment since your page was shown")
	second := o.refunds("kim", kim, "all", "", "a torn page")
	assert.Equal(t, http.StatusUnprocessableEntity, second.status)
	assert.Contains(t, second.body, "Something has happened to the payment since your page was shown")
	assert.Contains(t, second.body, "by Jo", "the second person is shown the first")
	d := o.details(p.ID)
	require.Len(t, d.FollowUps, 1)
	assert.Equal(t, "8.34", d.Left.String())
	kim = o.page("kim", p.ID)
	assert.Contains(t, kim.body, "All that is left, $8.34")
	assert.Contains(t, kim.body, "Being refunded")
	for name, wrong := range map[string][]string{
		"too much": {"how", "part", "amount", "9.00", "note", "x"}, "no amount": {"how", "part", "note", "x"}, "no reason": {"how", "all", "sure", "yes"},
		"two lines": {"how", "all", "sure", "yes", "note", "x\ny"}, "nothing chosen": {"note", "x"}, "no version": {"how", "all", "note", "x", "version", "0"},
		"all, and an amount": {"how", "all", "amount", "5.00", "note", "x", "sure", "yes"}, "void": {"how", "void", "note", "x"},
		"cents of cents": {"how", "part", "amount", "1.001", "note", "x"}, "below zero": {"how", "part", "amount", "-1", "note", "x"},
		"an id of their own": {"how", "all", "note", "x", "write", "mine"},
	} {
		answer := o.submit("kim", o.page("kim", p.ID), "refund", wrong...)
		assert.Equal(t, http.StatusUnprocessableEntity, answer.status, name)
		assert.Contains(t, answer.body, "Not done.", name)
	}
	typed := o.submit("kim", o.page("kim", p.ID), "refund", "how", "part", "amount", "9.00")
	assert.Regexp(t, `id="how-part" checked>`, typed.body, "what was chosen stays")
	assert.Contains(t, typed.body, `value="9.00"`, "what was typed stays")
	require.Len(t, o.details(p.ID).FollowUps, 1)
	o.refunds("kim", o.page("kim", p.ID), "all", "", "the rest")
	assert.False(t, o.page("jo", p.ID).offers("refund"), "nothing is left")
}

// The page says what becomes of the order when all is refunded: it stays paid, and cannot be paid again. On its day it is voided.
func TestConsoleRefundOfAll(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p := o.paid("A")
	o.Advance(48 * time.Hour)
	page := o.page("jo", p.ID)
	asked := o.submit("jo", page, "refund", "how", "all")
	assert.Contains(t, asked.body, "Refund $12.34?")
	assert.Contains(t, asked.body, "<dt>Order</dt><dd><strong>A</strong>")
	assert.Empty(t, o.details(p.ID).FollowUps, "it is asked first")
	assert.Contains(t, asked.body, "After a void the order can be paid again. After a refund it stays paid, and cannot.")
	o.refunds("jo", page, "all", "", "changed their mind")
	refund := o.Settled(o.details(p.ID).FollowUps[0].ID)
	assert.True(t, refund.Done())
	assert.Contains(t, o.page("jo", p.ID).body, "It was taken, and all of it was refunded. The customer gets the money back. The order stays paid.")
	assert.Contains(t, o.get("jo", "payments?find=A").body, `<span class="mark returned">refunded</span>`)

	today := o.paid("B")
	require.Equal(t, http.StatusOK, o.refunds("jo", o.page("jo", today.ID), "all", "", "changed their mind").status)
	o.reaches(today.ID, "voided")
	page = o.page("jo", today.ID)
	assert.Contains(t, page.body, "The customer has the money.")
	assert.Contains(t, page.body, "<strong>$0.00</strong>", "net")
	assert.False(t, page.offers("refund"))
}

// A payment can be decided only after a look-up of the last minute, once, and about the version that the person saw.
func TestConsoleDecide(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p := o.lost("A")
	page := o.page("jo", p.ID)
	assert.Contains(t, page.body, "That is no proof that no money was taken")
	require.False(t, page.offers("decide"))
	assert.Contains(t, page.body, "older than a minute")
	page = o.submit("jo", page, "look-up")
	require.True(t, page.offers("decide"), page.body)
	kim := o.page("kim", p.ID)
	other := o.paid("B")
	for name, wrong := range map[string][]string{
		"no result": {"note", "x"}, "no receipt": {"verdict", "approved", "note", "x"}, "no reason": {"verdict", "declined"},
		"no receipt number": {"verdict", "approved", "receipt", "?", "note", "x"}, "not there": {"verdict", "approved", "receipt", "1234567890", "note", "x"},
	} {
		answer := o.submit("jo", page, "decide", wrong...)
		assert.Equal(t, http.StatusUnprocessableEntity, answer.status, name)
		if name == "not there" {
			assert.Contains(t, answer.body, `value="1234567890"`, "what was typed stays")
		}
		page = o.submit("jo", answer, "look-up")
	}
	o.Advance(2 * time.Minute)
	late := o.submit("jo", page, "decide", "verdict", "declined", "note", "x")
	assert.Equal(t, http.StatusUnprocessableEntity, late.status, "the form is older than a minute")
	assert.Equal(t, "needs_person.not_found", o.shop.get(p.ID).Name())
	assert.False(t, late.offers("decide"))
	page = o.submit("jo", late, "look-up")
	answer := o.submit("jo", page, "decide", "verdict", "declined", "note", "support says so")
	assert.Contains(t, answer.body, "Decided.")
	assert.Contains(t, answer.body, "decided: declined: support says so")
	second := o.submit("kim", kim, "decide", "verdict", "not_sent", "note", "x")
	assert.Equal(t, http.StatusUnprocessableEntity, second.status)
	assert.Contains(t, second.body, "Something has happened")
	assert.Contains(t, second.body, "by Jo")
	assert.Equal(t, "declined", o.shop.get(p.ID).Name())
	assert.False(t, o.page("jo", other.ID).offers("decide"), "it is settled")
	assert.False(t, o.page("jo", other.ID).offers("look-up"))
}

// The page of a payment of unknown outcome shows no amount to refund, and that of one that was found after a
// lost answer shows no error.
func TestConsoleUnknown(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	page := o.page("jo", o.lost("A").ID)
	assert.Contains(t, page.body, "<dt>Taken</dt><dd>not known</dd>")
	assert.Contains(t, page.body, "<dt>Net</dt><dd><strong>not known</strong></dd>")
	assert.NotContains(t, page.body, "Being refunded")
	o.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 1})
	o.pay("B", o.card(sandbox.CardAttempted))
	found := o.Settled("B")
	page = o.page("jo", found.ID)
	assert.Contains(t, page.body, "<dt>Taken</dt><dd>$12.34</dd>")
	assert.NotContains(t, page.body, "quickstream:", "an error is under Technical, and it has none")
	o.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Status(http.StatusServiceUnavailable, sandbox.ServiceError)})
	o.pay("C", o.card(sandbox.CardAttempted))
	eventually(o.T, func() bool { w := o.shop.get("C"); o.Work(w); return w.State == durable.StateQueued && w.Sends > 0 }, "it was refused once")
	page = o.page("jo", "C")
	assert.Contains(t, page.body, "<dt>Taken</dt><dd>not known</dd>")
	assert.NotContains(t, page.body, "Nothing has happened to the money yet")
}

// A payment that the engine still looks up cannot be decided after a look-up that shows nothing: one that failed, or one that
// finds nothing while a transaction may be missing from look-ups.
func TestConsoleDecideEarly(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Status(http.StatusBadGateway, sandbox.HTML), Times: 1})
	o.pay("A", o.card(sandbox.CardAttempted))
	p := o.reaches("A", "unknown")
	o.Advance(6 * time.Minute)
	page := o.submit("jo", o.page("jo", p.ID), "look-up")
	assert.False(t, page.offers("decide"), "it may be found later")
	assert.Contains(t, page.body, "or not be shown yet, until")
	eventually(t, func() bool { // the engine looks it up too, and the page is then one of before
		values := o.page("jo", p.ID).form("look-up")
		values.Set("verdict", "not_sent")
		answer := o.send("jo", http.MethodPost, "decide", values)
		return answer.status == http.StatusUnprocessableEntity && strings.Contains(answer.body, "Not done. It may be on its way to the service, or not be shown yet, until")
	}, "it is too early")
	assert.Equal(t, "unknown", o.shop.get(p.ID).Name())
	o.Advance(10 * time.Minute)
	page = o.submit("jo", o.page("jo", p.ID), "look-up")
	assert.True(t, page.offers("decide"), page.body)
	assert.Contains(t, page.body, "That does not mean that it was not sent: choose not sent only if support has said so.")
	assert.Contains(t, page.body, "<dt>Next look-up by itself</dt>")
	o.inject(sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Status(http.StatusBadGateway, sandbox.HTML)})
	page = o.submit("jo", o.page("jo", p.ID), "look-up")
	assert.False(t, page.offers("decide"), "the service was not asked")
	assert.Contains(t, page.body, "The service could not be asked")
}

// If a payment may have been sent twice, a decline that a look-up shows settles nothing yet, and the page says why.
func TestConsoleDeclineShown(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 3})
	o.pay("A", o.card("4111111111444496"))
	o.reaches("A", "unknown")
	o.Advance(6 * time.Minute)
	page := o.submit("jo", o.page("jo", "A"), "look-up")
	assert.Contains(t, page.body, "If nothing else is found, it ends as declined by itself after the day's cut-off.")
	require.True(t, page.offers("decide"), page.body)
	assert.Contains(t, page.body, "The service shows: <strong>declined (code 51)</strong>. It may have been sent more than once")
}

// A decision with the receipt of another payment, or of another amount, is refused.
func TestConsoleReceipt(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p := o.lost("A")
	larger := o.card(sandbox.CardAttempted)
	larger.PrincipalAmount = decimal.New(1300, -2)
	another, more := o.paid("B"), o.ends("C", "C", larger)
	o.Advance(time.Hour)
	for receipt, text := range map[string]string{another.ReceiptNumber: "the receipt is that of another write", more.ReceiptNumber: "has another amount"} {
		page := o.submit("jo", o.page("jo", p.ID), "look-up")
		answer := o.submit("jo", page, "decide", "verdict", "approved", "receipt", receipt, "note", "x")
		assert.Contains(t, answer.body, text)
	}
	assert.Equal(t, "needs_person.not_found", o.shop.get(p.ID).Name())
}

// The history of the installation names the person who pauses, unpauses and retries.
func TestConsoleInstallation(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	page := o.get("jo", "installation")
	assert.Contains(t, page.body, "No person has changed a payment or the installation yet. Comparisons are not listed.")
	assert.Contains(t, o.get("jo", "").body, "All is well. The shop's own list of orders is not seen here.")
	assert.Equal(t, http.StatusUnprocessableEntity, o.submit("jo", page, "pause").status, "no reason")
	page = o.submit("jo", page, "pause", "note", "the bank asks for it")
	assert.Regexp(t, "Jo has paused the installation, .* ago: the bank asks for it", page.body)
	assert.False(t, page.offers("pause"))
	assert.Contains(t, o.get("reader", "").body, "Jo has paused the installation")
	o.submit("kim", page, "unpause", "note", "done")
	assert.Contains(t, o.get("jo", "").body, "All is well.")
	assert.Zero(t, o.health().Paused)
}

// If clocks are apart, the page says which one is wrong, and that nothing has to be stopped.
func TestConsoleClocks(t *testing.T) {
	t.Parallel()
	o := officeOf(serves(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.ClockSkew = 3 * time.Minute })))
	o.paid("B")
	assert.Regexp(t, "Clocks apart.*(2|3) minutes ahead of the database&#39;s.*Payments go on.*the service's clock is wrong", o.get("jo", "installation").body)
}

// A write that OnOutcome refuses is listed for a person, and OnOutcome is notified again from its page.
func TestConsoleNotify(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.paid("waiting")
	o.edit("notified = 0", "waiting")
	assert.NotContains(t, o.get("jo", "").body, "refuses the outcome", "its hook has not run yet")
	o.edit("notified = changes", "waiting")
	o.refuses(assert.AnError)
	o.pay("A", o.card(sandbox.CardAttempted))
	eventually(o.T, func() bool { o.Work(o.shop.get("A")); return o.health().HookFailed == 1 }, "it is refused")
	o.clicks = 0
	first := o.get("jo", "")
	assert.NotContains(t, first.body, "All is well.")
	assert.Contains(t, first.body, "1 for a person")
	assert.Contains(t, first.body, "The shop's program refuses the outcome")
	page := o.follow(first, "A<")
	assert.Contains(t, page.body, "Its developers have to repair that. Nothing is lost.")
	answer := o.submit("jo", page, "notify", "note", "repaired")
	assert.Equal(t, 3, o.clicks)
	assert.Equal(t, http.StatusUnprocessableEntity, answer.status)
	assert.Contains(t, answer.body, "refuses the outcome again")
	assert.Regexp(t, "(?s)<summary>Technical</summary><pre[^>]*>.*"+assert.AnError.Error(), answer.body, "the hook's own message")
	assert.Contains(t, answer.body, `value="repaired"`, "what was typed stays")
	o.refuses(nil)
	assert.Contains(t, o.submit("jo", answer, "notify", "note", "repaired").body, "has accepted the outcome")
	assert.Contains(t, o.names("A"), "approved")
}

// Texts of people and of others are shown as text, and tokens are not shown.
func TestConsoleEscapes(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	const hostile = `"><b id=hostile>'/../?&#`
	o.people["jo"] = console.Person{Name: hostile, Read: true, Act: true}
	p := o.paid(hostile)
	answer := o.refunds("jo", o.page("jo", p.ID), "all", "", hostile)
	require.Equal(t, http.StatusOK, answer.status)
	o.submit("jo", o.get("jo", "installation"), "pause", "note", hostile)
	for _, path := range []string{"", "payment?id=" + url.QueryEscape(p.ID), "installation", "payments?find=" + url.QueryEscape(hostile), "payments?find=" + url.QueryEscape(hostile)} {
		page := o.get("jo", path)
		assert.Contains(t, page.body, "b id=hostile", path)
		assert.NotContains(t, page.body, "<b id=hostile", path)
	}
	found := o.get("jo", "payments?find="+url.QueryEscape(hostile))
	require.Contains(t, found.orders(), hostile)
	assert.Equal(t, http.StatusOK, o.get("jo", found.link("&#34;&gt;&lt;b id=hostile")).status, "its page is linked")
}

// The console uses only the public API.
func TestConsoleImports(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../console/*.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	allowed := []string{"github.com/quickstream-go/quickstream", "github.com/quickstream-go/quickstream/durable", "github.com/quickstream-go/quickstream/csvreport", "github.com/quickstream-go/quickstream/resolve", "github.com/shopspring/decimal"}
	for _, file := range files {
		source, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotRegexp(t, `\b(SELECT|INSERT|UPDATE|DELETE)\b|\.Exec\(|tx\.Query\(`, string(source), file)
		parsed, err := parser.ParseFile(gotoken.NewFileSet(), file, source, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range parsed.Imports {
			path := strings.Trim(spec.Path.Value, `"`)
			assert.NotContains(t, path, "database/sql", file)
			if strings.Contains(path, ".") {
				assert.Contains(t, allowed, path, file)
			}
		}
	}
}

// A notification that is held is shown with its order and amount, and tried again from there. All is not well meanwhile.
func TestConsoleHeld(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.listen()
	params := o.mandate()
	o.Sandbox.NextTransaction(sandbox.Pending().ThenAfter(time.Hour, sandbox.Approved()))
	o.pay("A", params)
	p := o.reaches("A", "pending")
	o.inject(sandbox.Fault{Operation: "GET /transactions/{receiptNumber}", Kind: sandbox.Status(500, sandbox.HTML)})
	o.Advance(time.Hour)
	require.NoError(t, o.Sandbox.Flush(t.Context()))
	eventually(o.T, func() bool { o.Daily(); return o.health().Held > 0 }, "it is held")
	o.clicks = 0
	held := o.get("jo", "")
	assert.Regexp(t, `<strong><a href="payments\?find=A">Order A</a></strong>, \$`+p.Amount.StringFixed(2)+`, receipt `+p.ReceiptNumber+`,.*It has failed`, held.body)
	assert.NotContains(t, held.body, "All is well.")
	assert.Contains(t, held.body, "1 notification held.")
	o.Sandbox.ClearFaults()
	assert.Contains(t, o.submit("jo", held, "retry").body, "It is tried again in the next seconds.")
	assert.Equal(t, 2, o.clicks)
	assert.False(t, o.get("reader", "").offers("retry"))
	eventually(o.T, func() bool { o.Daily(); return o.health().Held == 0 }, "it is confirmed")
	assert.Equal(t, http.StatusOK, o.submit("jo", held, "retry").status, "it was confirmed meanwhile")
	assert.NotContains(t, o.get("jo", "").body, "Held notifications")
	assert.Equal(t, "approved", o.Settled("A").Name())
}

// The page of a refund names no money that was taken, and offers no refund of it.
func TestConsoleFollowUp(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p := o.paid("A")
	o.refunds("jo", o.page("jo", p.ID), "all", "", "x")
	o.reaches(p.ID, "voided")
	void := o.page("jo", o.details(p.ID).FollowUps[0].ID)
	assert.NotContains(t, void.body, "<dt>Taken</dt>")
	assert.Contains(t, void.body, "It follows <a")
	assert.False(t, void.offers("refund"))
	o.Settled(p.ID)
	o.clicks = 0
	assert.Contains(t, o.follow(o.get("jo", "payments?find=a"), "A<").body, "It has accepted the outcome. Notify it again only if", "a paid order that shows unpaid")
	assert.Equal(t, 2, o.clicks)
	assert.Contains(t, o.submit("jo", o.page("jo", p.ID), "notify", "note", "its row was lost").body, "has accepted the outcome")
}
