package enginetest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

const stale = "Something has happened to the payment since your page was shown"

// Two people who are asked about the two payments of a double charge do not both refund one.
func TestConsoleTwoRefunds(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.chargedTwice("A")
	page := o.page("kim", "A")
	page.body = page.body[strings.LastIndex(page.body, `action="refund"`):] // the form of the other payment
	jo, kim := o.submit("jo", o.page("jo", "A"), "refund"), o.submit("kim", page, "refund")
	require.NotEqual(t, jo.form("refund").Get("id"), kim.form("refund").Get("id"))
	assert.Contains(t, o.submit("jo", jo, "refund", "note", "charged twice").body, "The refund is stored")
	assert.Contains(t, o.submit("kim", kim, "refund", "note", "charged twice").body, stale)
}

// A person who is asked whether the rest goes back does not give back more, because a refund has ended meanwhile.
func TestConsoleRefundEnded(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.paid("A")
	require.NoError(t, o.Engine().Pause(t.Context(), "Kim", "two people refund"))
	o.refunds("kim", o.page("kim", "A"), "part", "5.00", "torn page")
	asked := o.submit("jo", o.page("jo", "A"), "refund", "how", "all")
	assert.Contains(t, asked.body, "$7.34")
	require.NoError(t, o.Engine().Cancel(t.Context(), o.details("A").FollowUps[0].ID, "Kim", "the page is not torn"))
	assert.Contains(t, o.submit("jo", asked, "refund", "note", "the rest").body, stale)
}

// A refund from before a double charge was for something else: the double charge stays on the first page.
func TestConsoleRefundedBefore(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.paidAgain("A", 12*24*time.Hour)
	o.Advance(36 * time.Hour)
	o.refunds("jo", o.page("jo", "A/2"), "all", "", "the customer has cancelled")
	require.True(t, o.Settled(o.details("A/2").FollowUps[0].ID).Done())
	o.reaches("A", "needs_person.double_charged")
	assert.Contains(t, o.get("jo", "").body, "Charged twice")
	page := o.page("jo", "A")
	assert.Contains(t, page.body, "If that was for the second charge, refund nothing more.")
	assert.NotContains(t, page.body, "Do not refund another one")
	assert.Equal(t, 1, strings.Count(page.body, "Refund this one"))
}

// The form of an earlier pause does not end a later one, and that of an earlier restoring not a later one.
func TestConsoleOldForms(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	ctx := t.Context()
	require.NoError(t, o.Engine().Pause(ctx, "Lee", "a wrong price"))
	old := o.get("jo", "installation")
	require.NoError(t, o.Engine().Unpause(ctx, "Lee", "the price is right"))
	o.Advance(time.Second)
	require.NoError(t, o.Engine().Pause(ctx, "Kim", "stolen cards are used"))
	assert.Equal(t, http.StatusUnprocessableEntity, o.submit("jo", old, "unpause", "note", "the price is right").status)
	assert.Equal(t, "Kim", o.health().PausedBy)
	o.inject(sandbox.Fault{Operation: bySettlement, Kind: sandbox.Status(500, sandbox.ServiceError)})
	begin := func() { require.NoError(t, o.Engine().BeginRestoring(ctx, o.Now().Add(-time.Hour), "Lee", "a backup")) }
	begin()
	old = o.get("jo", "installation")
	require.NoError(t, o.Engine().EndRestoring(ctx, "Lee", "it is compared"))
	o.Advance(time.Second)
	begin()
	assert.Contains(t, o.submit("jo", old, "end-restoring", "note", "it is compared").body, "It has ended since your page was shown.")
	assert.NotZero(t, o.health().Restoring)
	o.submit("jo", o.get("jo", "installation"), "end-restoring", "note", "it is compared")
	assert.Zero(t, o.health().Restoring)
}

// A payment that a lost history may have sent is not shown as one that was not, and money that is only held not as paid.
func TestConsoleLostWrites(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	o.pay("held", o.preauthorisation())
	held := o.Settled("held")
	o.loses("held")
	o.compare(held.SettlementDate)
	page := o.get("jo", "installation")
	assert.Contains(t, page.body, "Capture it before the order is shipped.")
	assert.NotContains(t, page.body, "Ship the order")

	require.NoError(t, o.Engine().Pause(t.Context(), "Kim", "a backup is put back"))
	o.pay("A", o.stored())
	assert.Contains(t, o.page("jo", "A").body, "Nothing has happened to the money yet")
	o.edit("suspect = 1", "A")
	page = o.page("jo", "A")
	assert.NotContains(t, page.body, "Nothing has happened to the money yet")
	assert.Contains(t, page.body, "it may have been sent before a restore")
	assert.Contains(t, page.body, "it may have been sent, and is looked up before it ends")
	assert.Equal(t, 1, o.shop.get("A").Sends)
}
