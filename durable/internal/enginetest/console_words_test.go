package enginetest

import (
	"context"
	"database/sql"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/console"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const mayPayAgain = "the order can be paid again"

// The page of a payment that took no money says that its order can be paid again only if no other payment of it was taken,
// or may be. A capture that took none leaves its pre-authorisation.
func TestConsoleOrderElsewhere(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	first := o.settled(o.pay("A", o.card("4111111111444496")))
	assert.Contains(t, o.page("jo", first.ID).body, mayPayAgain)
	o.paid("A")
	page := o.page("jo", first.ID)
	assert.Contains(t, page.body, "No money was taken by it.")
	assert.NotContains(t, page.body, mayPayAgain)

	preauth := o.settled(o.pay("B", o.held()))
	o.box.NextTransaction(sandbox.Declined("51"))
	capture := o.settled(o.pay("B", quickstream.CaptureParams{
		OriginalReceiptNumber: preauth.ReceiptNumber, PrincipalAmount: preauth.Amount, Currency: preauth.Currency,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}))
	require.Equal(t, declined, capture.Text())
	page = o.page("jo", capture.ID)
	assert.Contains(t, page.body, "No money was taken by it.")
	assert.NotContains(t, page.body, mayPayAgain)
}

// A payment that another one has replaced waits for nobody, and no page says that a person has to decide about its order.
func TestConsoleReplaced(t *testing.T) {
	t.Parallel()
	var o *office
	o = openOffice(t, func(opts *console.Options) {
		opts.PayAgain = func(context.Context, durable.Payment) (quickstream.TransactionParams, error) {
			return o.card(sandbox.CardAttempted), nil
		}
	})
	p := o.lost("A")
	assert.Equal(t, []string{"A"}, o.get("jo", "attention").orders())
	assert.Contains(t, o.page("jo", p.ID).body, "The order cannot be paid again until a person decides.")
	page := o.submit("jo", o.page("jo", p.ID), "look-up")
	require.Contains(t, page.body, "The order can be paid again at once.", "of a decision")
	o.submit("jo", page, "pay-again", "note", "the customer agrees")
	o.settled(o.paymentOf("A").ID)
	assert.Empty(t, o.get("jo", "attention").orders())
	page = o.submit("jo", o.page("jo", p.ID), "look-up")
	assert.Contains(t, page.body, "another payment was asked for instead: the customer agrees")
	assert.NotContains(t, page.body, "decided: not found")
	assert.NotContains(t, page.body, "until a person decides")
	require.True(t, page.offers("decide"))
	assert.NotContains(t, page.body, "can be paid again at once")
}

// What was taken is shown with the surcharge of the card, and so is what is left of it after a refund of all.
func TestConsoleSurcharge(t *testing.T) {
	t.Parallel()
	s := &shop[*sql.Tx]{T: t, db: onFile(t, filepath.Join(t.TempDir(), "shop.db")), clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock),
		sandbox.WithBusiness(sandbox.DefaultBusiness, "Shop", sandbox.Surcharge{Scheme: "VISA", CardType: "CREDIT", BasisPoints: 110}))
	s.engine = s.start()
	o := officeOf(s)
	p := o.paid("A")
	page := o.page("jo", p.ID)
	assert.Contains(t, page.body, "<dt>Taken</dt><dd>$12.48</dd>")
	o.clock.Advance(48 * time.Hour)
	o.submit("jo", o.page("jo", p.ID), "refund", "how", "all", "note", "changed their mind")
	refund := o.settled(o.details(p.ID).FollowUps[0].ID)
	require.Equal(t, approved, refund.Text(), refund.Problem)
	page = o.page("jo", p.ID)
	assert.Contains(t, page.body, "<strong>$0.14</strong>")
	assert.Contains(t, page.body, "It was taken, and all of it but the surcharge was refunded.")
	assert.False(t, page.offers("refund"))
}

// A refund that was executed twice is no payment that was charged twice: its page, and that for people, do not ask for
// another refund.
func TestConsoleRefundedTwice(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p := o.settledLongAgo("A")
	refund := o.reaches(o.refund(p.ID, 500), approved, time.Minute)
	require.Equal(t, " ", refund.ID[:1], "an id that begins with a blank has a page, too")
	o.corrupt("state = 'double_charged'", refund.ID)
	page := o.page("jo", refund.ID)
	assert.Contains(t, page.body, "The service has done it twice.")
	assert.NotContains(t, page.body, "Refund one of the two payments")
	page = o.get("jo", "attention")
	assert.Contains(t, page.body, "Done twice")
	assert.NotContains(t, page.body, "Charged twice")
	assert.Equal(t, []string{"A"}, page.orders())
}

// The timeline of what is no payment says what became of it, and nothing of money.
func TestConsoleOtherWrites(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	kinds := o.tracked()
	require.NoError(t, o.shop.send("account", kinds["account"].call))
	page := o.page("jo", o.writeOf("account").ID)
	assert.Contains(t, page.body, "Stored account: the service has done it")
	assert.NotContains(t, page.body, "the answer did not come")

	require.NoError(t, o.box.Inject(sandbox.Fault{Operation: kinds["agreement"].operation, Kind: sandbox.ResetAfterCommit(), Times: 3}))
	require.ErrorIs(t, o.shop.send("agreement", kinds["agreement"].call), quickstream.ErrOutcomeUnknown)
	found := o.reaches(o.writeOf("agreement").ID, approved, time.Minute)
	page = o.page("jo", found.ID)
	assert.Contains(t, page.body, "PayTo agreement: the service was asked: it is done")
	assert.NotContains(t, page.body, "the money was released")

	require.NoError(t, o.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.Unreachable(sandbox.ConnectionRefused), Times: 3}))
	require.ErrorIs(t, o.shop.send("card", kinds["card"].call), quickstream.ErrNotSent)
	page = o.page("jo", o.writeOf("card").ID)
	assert.Contains(t, page.body, "the service did not carry it out")
	assert.NotContains(t, page.body, "it is sent again")

	void := o.paid("voided")
	o.submit("jo", o.page("jo", void.ID), "refund", "how", "void", "note", "changed their mind")
	o.reaches(void.ID, voided, time.Minute)
	assert.Contains(t, o.page("jo", void.ID).body, "Payment: the money was released")
}

// A write without an order is shown without all others that have none.
func TestConsoleWithoutOrder(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	call := o.tracked()["account"].call
	var ids []string
	for _, id := range []string{"one", "another"} {
		_, err := durable.Send(t.Context(), o.engine, durable.NewWrite{ID: id}, func(stored quickstream.CallOption) (any, error) {
			return call(t.Context(), id, stored)
		})
		require.NoError(t, err)
		ids = append(ids, id)
	}
	o.corrupt(`intent = replace(intent, '"version":1', '"version":9')`, ids[1])
	o.page("jo", ids[0])
}

// A look-up that failed is not said to have asked the service.
func TestConsoleLookUpFails(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p := o.lost("A")
	require.NoError(t, o.box.Inject(sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Status(http.StatusBadGateway, sandbox.HTML)}))
	page := o.submit("jo", o.page("jo", p.ID), "look-up")
	assert.Equal(t, http.StatusUnprocessableEntity, page.status)
	assert.Contains(t, page.body, "Not done. The service could not be asked.")
	o.box.ClearFaults()
	assert.Contains(t, o.submit("jo", page, "look-up").body, "The service was asked.")
}

// Nobody is shown the payments of all customers as those of one without a reference.
func TestConsoleNoCustomer(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.paid("A")
	page := o.send("jo", http.MethodPost, "customer", url.Values{"reference": {" "}})
	assert.Equal(t, http.StatusUnprocessableEntity, page.status)
	assert.Empty(t, page.orders())
}

// The history of the installation says what a person has confirmed or ended.
func TestConsoleHistory(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	require.NoError(t, o.engine.Stop(t.Context()))
	require.NoError(t, o.engineOf().Restored(t.Context(), o.clock.Now()))
	o.engine = o.start()
	require.NoError(t, o.engine.ConfirmHistory(t.Context(), "Kim", "the only copy"))
	require.NoError(t, o.engine.EndRestoring(t.Context(), "Kim", "the lists are away"))
	require.NoError(t, o.engine.ConfirmFacility(t.Context(), "Kim", "another address"))
	page := o.get("jo", "installation")
	for _, text := range []string{"history confirmed: the only copy", "restoring ended: the lists are away", "facility confirmed: another address"} {
		assert.Contains(t, page.body, text)
	}
}
