package enginetest

import (
	"database/sql"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

const mayPayAgain = "the order can be paid again"

// The page of a payment that took no money says that its order can be paid again only if no other payment of the order was
// taken, or may be. A capture that took no money leaves its pre-authorisation.
func TestConsoleOrderElsewhere(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	first := o.ends("A/1", "A", o.card("4111111111444496"))
	assert.Contains(t, o.page("jo", first.ID).body, mayPayAgain)
	o.ends("A/2", "A", o.card(sandbox.CardAttempted))
	page := o.page("jo", first.ID)
	assert.Contains(t, page.body, "No money was taken by it.")
	assert.NotContains(t, page.body, mayPayAgain)

	preauth := o.ends("B", "B", o.preauthorisation())
	o.Sandbox.NextTransaction(sandbox.Declined("51"))
	require.NoError(t, o.Tx(func(tx *sql.Tx) error {
		_, _, err := o.Engine().Capture(t.Context(), tx, durable.NewWrite{ID: "C"}, preauth.ID, quickstream.CaptureParams{
			PrincipalAmount: preauth.Amount, Currency: preauth.Currency,
			StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		})
		return err
	}))
	require.Equal(t, "declined", o.Settled("C").Name())
	page = o.page("jo", "C")
	assert.Contains(t, page.body, "No money was taken by it.")
	assert.NotContains(t, page.body, mayPayAgain)
}

// The amount taken is shown with the surcharge of the card, and so is the rest after a refund of all.
func TestConsoleSurcharge(t *testing.T) {
	t.Parallel()
	o := officeOf(serves(t, sandbox.WithBusiness(sandbox.DefaultBusiness, "Shop", sandbox.Surcharge{Scheme: "VISA", CardType: "CREDIT", BasisPoints: 110})))
	p := o.paid("A")
	page := o.page("jo", p.ID)
	assert.Contains(t, page.body, "<dt>Taken</dt><dd>$12.48</dd>")
	o.Advance(48 * time.Hour)
	o.refunds("jo", o.page("jo", p.ID), "all", "", "changed their mind")
	refund := o.Settled(o.details(p.ID).FollowUps[0].ID)
	require.Equal(t, "approved", refund.Name(), refund.Problem)
	page = o.page("jo", p.ID)
	assert.Contains(t, page.body, "<strong>$0.14</strong>")
	assert.Contains(t, page.body, "It was taken, and all of it but the surcharge was refunded.")
	assert.False(t, page.offers("refund"))
}

// A refund that was executed twice is not shown as a payment that was charged twice: neither its page nor the first page
// asks for another refund.
func TestConsoleRefundedTwice(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p := o.paid("A")
	o.Advance(48 * time.Hour)
	_, err := o.refund(" R", p.ID, 500)
	require.NoError(t, err)
	refund := o.Settled(" R")
	o.edit("state = 'needs_person', reason = 'double_charged'", refund.ID)
	page := o.page("jo", refund.ID) // an id that begins with a blank has a page, too
	assert.Contains(t, page.body, "The service has done it twice.")
	assert.NotContains(t, page.body, "Refund one of the two payments")
	page = o.get("jo", "")
	assert.Contains(t, page.body, "Done twice")
	assert.NotContains(t, page.body, "Charged twice")
	assert.Equal(t, []string{"A"}, page.orders())
}

// After a failed look-up no page says that the service was asked. The first page says that it does not answer, until it does.
func TestConsoleLookUpFails(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	p, other := o.lost("A"), o.lost("C")
	o.inject(sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Status(http.StatusBadGateway, sandbox.HTML)})
	page := o.submit("jo", o.page("jo", p.ID), "look-up")
	assert.Equal(t, http.StatusUnprocessableEntity, page.status)
	assert.Contains(t, page.body, "Not done. The service could not be asked.")
	assert.Contains(t, o.get("jo", "").body, "The service does not answer.")
	o.paid("B")
	assert.Contains(t, o.get("jo", "").body, "The service seems to be back.")
	o.Sandbox.ClearFaults()
	assert.Contains(t, o.submit("jo", o.page("jo", other.ID), "look-up").body, "The service was asked.")
	assert.NotContains(t, o.get("jo", "").body, "The service seems to be back.", "a look-up was answered")
}

// All pages say that the history is being restored, and that the database may be a copy. A person confirms and ends that, by name.
func TestConsoleHistory(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.inject(sandbox.Fault{Operation: bySettlement, Kind: sandbox.Status(http.StatusInternalServerError, sandbox.ServiceError)})
	o.paid("A")
	o.change(true)
	o.pay("B", o.card(sandbox.CardAttempted))
	eventually(o.T, func() bool { h := o.health(); return h.MaybeCopy && h.Unreadable != "" }, "a list cannot be read")
	for _, path := range []string{"", "installation"} {
		page := o.get("reader", path)
		assert.Contains(t, page.body, "may be a copy of one that is in use", path)
		assert.Contains(t, page.body, "Nothing is sent, because a list of the service cannot be read", path)
	}
	require.NoError(t, o.db.exec(t.Context(), "UPDATE quickstream.meta SET value = json_set(value, '$.read', '2000-01-02T00:00:00Z') WHERE name = 'restoring'"))
	for _, path := range []string{"", "installation"} {
		page := o.get("reader", path)
		assert.Contains(t, page.body, "New payments are sent.", path)
		assert.NotContains(t, page.body, "Nothing is sent", path)
	}
	page := o.get("jo", "installation")
	assert.False(t, page.offers("end-restoring"), "its original would send what was queued too")
	assert.Equal(t, http.StatusUnprocessableEntity, o.submit("jo", page, "confirm-history").status, "no reason")
	page = o.submit("jo", page, "confirm-history", "note", "the only one")
	assert.NotContains(t, page.body, "may be a copy")
	require.True(t, page.offers("end-restoring"), page.body)
	page = o.submit("jo", page, "end-restoring", "note", "the lists are away")
	assert.False(t, page.offers("end-restoring") || page.offers("confirm-history"))
	assert.Contains(t, page.body, "history confirmed: the only one")
	assert.Contains(t, page.body, "restoring ended: the lists are away")
	assert.Zero(t, o.health().Restoring)
}

// In each standing the page has a sentence. It says that the money was taken if it was, and that the order can be paid
// again only if it can.
func TestConsoleStandings(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.ends("A", "A", o.card("4111111111444496"))
	for standing, text := range map[durable.Standing]string{
		{State: durable.StateApproved}:                                         "The money was taken.",
		{State: durable.StateDeclined}:                                         "said no. No money was taken",
		{State: durable.StateDeclined, Reason: durable.ReasonRejected}:         "said no. No money was taken",
		{State: durable.StateDeclined, Reason: durable.ReasonRefused}:          "did not accept the request. No money was taken",
		{State: durable.StateNotSent}:                                          "decided that it never reached the service. No money was taken",
		{State: durable.StateNotSent, Reason: durable.ReasonCancelled}:         "given up before it was sent. No money was taken",
		{State: durable.StatePending, Reason: durable.ReasonSuspended}:         "Fraud screening holds it",
		{State: durable.StateVoided}:                                           "The customer has the money.",
		{State: durable.StateReturned}:                                         "The bank has returned the money",
		{State: durable.StateNeedsPerson, Reason: durable.ReasonReversed}:      "the money may have gone back",
		{State: durable.StateNeedsPerson, Reason: durable.ReasonNotFound}:      "no proof that no money was taken",
		{State: durable.StateNeedsPerson, Reason: durable.ReasonDoubleCharged}: "charged twice",
		{State: durable.StateNeedsPerson, Reason: durable.ReasonRestored}:      "and then decide",
		{State: durable.StateNeedsPerson, Reason: durable.ReasonAltered}:       "and then decide",
		{State: durable.StateNeedsPerson, Reason: durable.ReasonUnresolved}:    "and then decide",
		{State: durable.StateNeedsPerson, Reason: durable.ReasonLookupsFailed}: "look-ups have failed",
	} {
		o.edit("state = '"+string(standing.State)+"', reason = '"+string(standing.Reason)+"'", "A")
		page, w := o.page("jo", "A").body, o.shop.get("A")
		require.Equal(t, standing.Name(), w.Name())
		assert.Contains(t, page, text, standing.Name())
		taken := strings.Contains(page, "The money was taken.") || strings.Contains(page, "charged twice")
		assert.Equal(t, w.Paid(), taken, standing.Name())
		if strings.Contains(page, "No money was taken, and "+mayPayAgain) {
			assert.True(t, w.MayPayAgain(), standing.Name())
		}
	}
}

// Nothing is sent from a database of another facility until a person says that the installation has moved.
func TestConsoleFacility(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	require.NoError(t, o.db.exec(t.Context(), `UPDATE quickstream.meta SET value = replace(value, '"address":"', '"address":"https://elsewhere.example') WHERE name = 'facility'`))
	page := o.get("jo", "installation")
	assert.Contains(t, page.body, "Another facility.")
	assert.False(t, o.get("reader", "installation").offers("confirm-facility"))
	_, err := o.tryPay(durable.NewWrite{ID: "A", Order: "A"}, o.card(sandbox.CardAttempted))
	require.NoError(t, err)
	o.Work(o.shop.get("A"))
	assert.Zero(t, o.charged("A"))
	page = o.submit("jo", page, "confirm-facility", "note", "the service has another address")
	assert.False(t, page.offers("confirm-facility"))
	assert.Contains(t, page.body, "facility confirmed: the service has another address")
	assert.True(t, o.Settled("A").Paid())
	assert.Equal(t, 1, o.charged("A"))
}
