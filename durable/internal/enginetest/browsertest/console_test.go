package browsertest

import (
	"context"
	"database/sql"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/console"
	"github.com/quickstream-go/quickstream/durable/durabletest"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/sandbox"
)

const (
	noFunds = "4111111111444496"
	newest  = "document.querySelector('#rows tbody .mark').innerText === " // its state
)

// office is the console of an engine on SQLite, in a browser.
type office struct {
	*tab
	*durabletest.Kit[*sql.Tx]

	db     *sql.DB
	origin string
}

func openOffice(t *testing.T) *office {
	t.Helper()
	p := open(t)
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "shop.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	kit := durabletest.New(t, sqlite.DB(db), durable.Options[*sql.Tx]{
		OnOutcome: func(context.Context, *sql.Tx, durable.OutcomeChange) error { return nil },
	})
	mux := http.NewServeMux()
	for prefix, name := range map[string]string{"/office": "Robin", "/kims": "Kim"} {
		handler, err := console.New(kit.Engine(), sqlite.DB(db), console.Options{Now: kit.Now, Authorize: func(*http.Request) (console.Person, error) {
			return console.Person{Name: name, Read: true, Act: true, Export: true}, nil
		}})
		require.NoError(t, err)
		t.Cleanup(handler.Close)
		mux.Handle(prefix+"/", http.StripPrefix(prefix, handler))
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &office{p, kit, db, server.URL + "/office/"}
}

// payment is one whose source decides what becomes of it.
func payment(source quickstream.CardSource) quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: source, PrincipalAmount: decimal.New(4995, -2), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIPhone, StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}
}

// pay asks for the payment of an order by a card.
func (o *office) pay(order, number string) (id string) {
	o.Helper()
	params := payment(quickstream.FromSingleUseToken(o.Token(number)))
	require.NoError(o, o.Tx(func(tx *sql.Tx) error {
		_, _, err := o.Engine().Pay(o.Context(), tx, durable.NewWrite{ID: order, Order: order}, params)
		return err
	}))
	return order
}

// The console's pages are good on a phone and on a desk, and a refund and a look-up are asked for there.
func TestConsole(t *testing.T) {
	o := openOffice(t)
	paid := o.Settled(o.pay("ORDER-1042", sandbox.CardAttempted)).ID
	o.Advance(72 * time.Hour) // a part can be refunded now
	o.do(chromedp.Navigate(o.origin + "payment?id=" + paid))
	o.look("console-paid")
	o.waitFor("document.querySelector('#part').offsetParent === null")
	o.do(chromedp.Click(chromedp.CSS("#how-part")), chromedp.SendKeys(chromedp.CSS("#part"), "5"))
	o.submit("form[action=refund]")
	o.says("Refund $5.00?")
	o.look("console-refund")
	o.do(chromedp.SendKeys(chromedp.CSS("#note-refund"), "a torn bag"))
	o.submit("form[action=refund]")
	o.says("The refund is stored, and sent by itself.")
	o.waitFor("document.querySelector('#money').innerText.includes('$44.95')")
	o.look("console-refunded")

	require.NoError(t, o.Sandbox.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Status(http.StatusBadGateway, sandbox.HTML), Times: 1}))
	lost := o.Settled(o.pay("ORDER-1043", sandbox.CardAttempted)).ID
	o.do(chromedp.Navigate(o.origin))
	o.says("Outcome unknown")
	o.look("console-now")
	o.do(chromedp.Navigate(o.origin + "payment?id=" + lost))
	o.submit("form[action=look-up]")
	o.says("What became of it")
	o.look("console-decide")

	o.Settled(o.pay("ORDER-1044", noFunds))
	o.Sandbox.NextTransaction(sandbox.Erred().ThenAfter(36*time.Hour, sandbox.Approved())) // no look-up shows it before
	o.pay("ORDER-1045", sandbox.CardAttempted)
	o.do(chromedp.Navigate(o.origin + "payments"))
	o.waitFor(newest + "'unknown'")
	o.look("console-payments")
	o.picture("console", 700)
	o.do(chromedp.Navigate(o.origin + "installation"))
	o.look("console-installation")

	require.NoError(t, o.Sandbox.Inject(sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Status(http.StatusBadGateway, sandbox.HTML)}))
	o.do(chromedp.Navigate(o.origin))
	o.submit("form[action=look-up-all]")
	o.says("failed: the service could not be asked")
	o.look("console-outage")

	o.Sandbox.ClearFaults()
	twice := o.Settled(o.pay("ORDER-1046", sandbox.CardAttempted)).ID
	_, err := o.db.ExecContext(t.Context(), "UPDATE quickstream_write SET state = 'needs_person', reason = 'double_charged' WHERE id = $1", twice)
	require.NoError(t, err)
	o.do(chromedp.Navigate(o.origin + "payment?id=" + twice))
	o.says("Refund one of the two")
	o.look("console-twice")
}

// A list changes without a reload. A half-filled form stays, and the page says that it is old.
func TestConsoleChanges(t *testing.T) {
	o := openOffice(t)
	o.do(chromedp.Navigate(o.origin + "payments"))
	o.says("Nothing was found.")
	o.do(chromedp.Evaluate[chromedp.Void]("window.same = true; undefined"))
	o.pay("ORDER-1", sandbox.CardAttempted)
	o.waitFor("window.same && " + newest + "'approved'")
	o.do(chromedp.Navigate(o.origin + "installation"))
	o.do(chromedp.SendKeys(chromedp.CSS("#note-pause"), "the service is away"))
	require.NoError(t, o.Engine().Pause(t.Context(), "Kim", "I was first"))
	o.says("This has changed since you began to fill it in")
	o.waitFor("document.querySelector('#note-pause').value === 'the service is away'")
}

// tabs presses the tabulator until something has the focus.
func (p *tab) tabs(selector string) {
	p.Helper()
	for range 60 {
		p.do(chromedp.KeyEvent("\t"))
		is, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("document.activeElement?.matches("+strconv.Quote(selector)+") === true"))
		require.NoError(p, err)
		if is {
			return
		}
	}
	p.Fatalf("the tabulator does not come to %s", selector)
}

// By the keyboard alone, from one page to the next: find a payment, refund a part, stop it, and log who has done so.
func TestConsoleKeyboard(t *testing.T) {
	o := openOffice(t)
	o.Settled(o.pay("ORDER-1042", sandbox.CardAttempted))
	o.do(chromedp.Navigate(o.origin))
	o.tabs(`a[href="payments"]`)
	o.do(chromedp.KeyEvent("\r"))
	o.says("Payments")
	o.tabs("#find")
	o.do(chromedp.KeyEvent("order-10\r"))
	o.says("ORDER-1042")
	o.tabs(`#rows a`)
	o.do(chromedp.KeyEvent("\r"))
	o.says("In short")
	o.tabs("#how-all")
	o.do(chromedp.KeyEvent(kb.ArrowDown))
	o.tabs("#part")
	o.do(chromedp.KeyEvent("5\r"))
	o.says("Refund $5.00?")
	o.tabs("#note-refund")
	o.do(chromedp.KeyEvent("a torn bag\r"))
	o.says("The refund is stored")
	o.tabs("form[action=cancel] button")
	o.do(chromedp.KeyEvent("\r"))
	o.says("If this was in time, it stands as cancelled below.")
	o.says("cancelled before it was sent")
	o.tabs(`a[href="installation"]`)
	o.do(chromedp.KeyEvent("\r"))
	o.says("asked for: a torn bag")
}

// Two people have six tabs open. All of them change, and of two who decide the second one is refused, and keeps what was typed.
func TestConsoleTabs(t *testing.T) {
	o := openOffice(t)
	id := o.Settled(o.pay("ORDER-1042", sandbox.CardAttempted)).ID
	var tabs []*tab
	for i := range 6 {
		one := o.another()
		one.do(chromedp.Navigate(strings.Replace(o.origin, "office", []string{"office", "kims"}[i%2], 1) + "payment?id=" + id))
		one.waitFor("document.querySelector('#how-all')")
		one.do(chromedp.Evaluate[chromedp.Void]("window.same = true; undefined"))
		tabs = append(tabs, one)
	}
	robin, kim := tabs[0], tabs[1]
	for _, one := range []*tab{robin, kim} {
		one.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('#how-all').click(); undefined"))
	}
	robin.submit("form[action=refund]")
	robin.says("Refund $49.95?")
	robin.do(chromedp.SendKeys(chromedp.CSS("#note-refund"), "a torn bag"))
	robin.submit("form[action=refund]")
	robin.says("The refund is stored")
	o.Settled(o.details(id).ID)
	for _, one := range tabs[2:] {
		one.waitFor("window.same && document.querySelector('#timeline').innerText.includes('by Robin')")
	}
	kim.says("This has changed since you began to fill it in")
	kim.submit("form[action=refund]")
	kim.says("Not done. Something has happened to the payment since your page was shown")
	require.Len(t, o.Sandbox.Ledger(), 1, "one void, and no refund")
	kim.mu.Lock()
	defer kim.mu.Unlock()
	require.Len(t, kim.problems, 1, "the answer 422")
	kim.problems = nil
}

// details is the newest write of a payment.
func (o *office) details(id string) durable.Write {
	o.Helper()
	d, err := o.Engine().Details(o.Context(), id)
	require.NoError(o, err)
	require.Len(o, d.FollowUps, 1)
	return d.FollowUps[0]
}
