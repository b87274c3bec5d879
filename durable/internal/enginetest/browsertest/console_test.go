package browsertest

import (
	"context"
	"database/sql"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
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
	handler, err := console.New(kit.Engine(), sqlite.DB(db), console.Options{Authorize: func(*http.Request) (console.Person, error) {
		return console.Person{Name: "Robin", Read: true, Act: true, Export: true}, nil
	}})
	require.NoError(t, err)
	server := httptest.NewServer(http.StripPrefix("/office", handler))
	t.Cleanup(server.Close)
	t.Cleanup(handler.Close)
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
