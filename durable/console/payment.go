package console

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/resolve"
)

// view is a write as its page shows it.
type view struct {
	durable.Details
	row

	Method, Meaning string
	Back, Pending   decimal.Decimal // of a payment; Back was refunded, voided or returned
	Timeline        []deed
	Below, Others   []row // what follows it, and the other payments of its order
	Queued          []row // it, or what follows it
	Elsewhere       bool  // another payment of its order was taken, or may be
	Both            []payee
	Refused         bool // the program of the shop has not taken what is known
	Raw             string
	Offer           offer
}

// payee is one of the payments of an order that was charged twice, and the id of its refund.
type payee struct {
	row

	Offer offer
}

// Net is what is left of what was taken.
func (v view) Net() decimal.Decimal { return v.Taken.Sub(v.Back) }

// OutcomeOpen reports whether money may have been taken, or may not.
func (v view) OutcomeOpen() bool {
	switch v.State {
	case durable.StateSending, durable.StatePending, durable.StateUnknown:
		return true
	case durable.StateNeedsPerson:
		return v.Reason != durable.ReasonDoubleCharged
	default:
		return v.State == durable.StateQueued && v.Sends > 0
	}
}

// offer is what can be done about a write now.
type offer struct {
	Write   string // the id of what is made by the form, so that a second click makes nothing
	Refund  bool
	Part    bool // not of one of two payments: all of it goes back
	LookUp  bool
	Decide  []durable.Verdict
	Receipt bool   // a decision that it was approved needs one
	Why     string // nothing can be decided now
	Notify  bool
}

// Mark changes when something else is offered.
func (v view) Mark() string {
	return fmt.Sprint(v.Version, v.Offer.Decide, v.Offer.Why, v.Offer.LookUp, len(v.Queued), len(v.Both))
}

func (c *console[TTx]) payment(q request, notice string) {
	id := q.id()
	v, err := c.view(q.Context(), id)
	if err != nil {
		c.fail(q, err)
		return
	}
	title := v.What
	if v.Order != "" {
		title += " of order " + v.Order
	}
	c.show(q, page{Name: "payment", Title: title, Notice: notice, Address: "payment?id=" + url.QueryEscape(id), Content: v})
}

func (c *console[TTx]) view(ctx context.Context, id string) (v view, err error) {
	if v.Details, err = c.engine.Details(ctx, id); err != nil {
		return v, err
	}
	w := v.Details.Write
	v.row = rowOf(w)
	v.Refused = !w.Notified && w.Failures > 0 && w.State != durable.StateQueued
	v.Method = map[durable.SourceKind]string{durable.SourceToken: "entered by the customer", durable.SourceAccount: "stored", durable.SourceAgreement: "an agreement"}[v.Source]
	if w.State == durable.StateQueued {
		v.Queued = append(v.Queued, v.row)
	}
	for _, event := range v.Events {
		v.Timeline = append(v.Timeline, deed{event, v.row})
	}
	for _, f := range v.FollowUps {
		r := rowOf(f)
		v.Below = append(v.Below, r)
		if f.State == durable.StateQueued {
			v.Queued = append(v.Queued, r)
		}
		events, err := c.engine.Events(ctx, f.ID)
		if err != nil {
			return v, err
		}
		for _, event := range events {
			v.Timeline = append(v.Timeline, deed{event, r})
		}
	}
	slices.SortStableFunc(v.Timeline, func(x, y deed) int { return x.At.Compare(y.At) })
	all, err := c.engine.Writes(ctx, w.Order)
	if err != nil {
		return v, err
	}
	v.Others = slices.DeleteFunc(rowsOf(all), func(other row) bool {
		return other.ID == w.ID || slices.ContainsFunc(v.Below, func(f row) bool { return f.ID == other.ID })
	})
	v.Elsewhere = slices.ContainsFunc(all, func(other durable.Write) bool {
		return other.IsPayment() && other.ID != w.ID && other.State.Blocks() && other.ReplacedBy == ""
	})
	v.Back = w.Refunded
	for _, f := range v.FollowUps {
		if refunds := f.Operation == quickstream.OperationRefund || f.Operation == durable.OperationReverse; refunds && f.State.Blocks() && !f.Approved() {
			v.Pending = v.Pending.Add(f.Amount)
		}
	}
	if w.State == durable.StateVoided || w.State == durable.StateReturned {
		v.Taken, v.Back = w.Amount, w.Amount
	}
	v.Meaning = meaning(w, v.Elsewhere)
	if takes(w) && w.Approved() && slices.ContainsFunc(all, isTwice) {
		if v.Both, err = c.both(ctx, w.Order); err != nil {
			return v, err
		}
		if v.Meaning = twice; len(v.Both) == 0 {
			v.Meaning = "The customer was charged twice for one order, and one payment was refunded, or is being refunded. Do not refund another one for that."
		}
	}
	switch all := v.State == durable.StateApproved && v.Taken.IsPositive() && v.Back.GreaterThanOrEqual(v.Amount); {
	case v.Refused && v.OutcomeOpen():
		v.Meaning = "It was sent, and what is known of it is not stored yet, because the shop's program refuses it. Do not do it another way."
	case all && v.Net().IsPositive():
		v.Meaning = "It was taken, and all of it but the surcharge was refunded. The customer gets the money back. The order stays paid."
	case all:
		v.Meaning = "It was taken, and all of it was refunded. The customer gets the money back. The order stays paid."
	}
	v.Offer = c.offer(v)
	raw, err := json.MarshalIndent(v.Events, "", "  ")
	v.Raw = string(raw)
	return v, err
}

// both are the payments of an order that was charged twice; none if one of them was refunded, or is being refunded.
func (c *console[TTx]) both(ctx context.Context, order string) (both []payee, err error) {
	all, err := c.engine.Writes(ctx, order)
	if err != nil {
		return nil, err
	}
	charged, refunded := false, false
	for _, w := range all {
		charged = charged || isTwice(w)
		if back := w.State == durable.StateVoided || w.State == durable.StateReturned; !w.IsPayment() || !w.Approved() && !back {
			continue
		}
		d, err := c.engine.Details(ctx, w.ID)
		if err != nil {
			return nil, err
		}
		if d.Left.IsPositive() {
			both = append(both, payee{rowOf(w), offer{Write: formPrefix + rand.Text()}})
		} else {
			refunded = true
		}
	}
	if !charged || refunded && len(both) <= 1 {
		return nil, nil
	}
	return both, nil
}

// isTwice reports whether a payment is the second one of its order.
func isTwice(w durable.Write) bool { return w.Reason == durable.ReasonDoubleCharged && takes(w) }

// offer is what durable allows now, and nothing else.
func (c *console[TTx]) offer(v view) offer {
	w := v.Details.Write
	o := offer{Write: formPrefix + rand.Text(), Refund: v.Left.IsPositive(), Part: len(v.Both) == 0}
	if o.Notify = v.Refused || !w.State.InProgress(); w.Reason == durable.ReasonDoubleCharged {
		return o // nothing is to be found out
	}
	o.LookUp = w.State == durable.StateUnknown || w.State == durable.StatePending || w.State == durable.StateNeedsPerson || w.State == durable.StateSending
	_, sending := errors.AsType[*durable.StillSendingError](v.NotDecidable)
	switch {
	case v.NotDecidable == nil && tooEarly(v) != "":
		o.Why = tooEarly(v)
	case v.NotDecidable == nil:
		o.Decide = verdicts(w)
		o.Receipt = w.ReceiptNumber == "" && w.Operation != quickstream.OperationVoid
	case sending || errors.Is(v.NotDecidable, durable.ErrLookUpFirst):
		o.Why, _ = c.notice(v.NotDecidable)
		o.LookUp = o.LookUp && !(sending && w.State == durable.StateSending)
	}
	return o
}

// shownFor is how long a transaction may be missing from look-ups, as durable assumes.
const shownFor = 15 * time.Minute

// tooEarly says why nothing should be decided yet about a write that is still looked up by itself: the last look-up says
// nothing.
func tooEarly(v view) string {
	looked := evidence(v.Details.Write)
	if v.State != durable.StateUnknown || len(looked) == 0 {
		return ""
	}
	var sent time.Time
	for _, event := range v.Events {
		if event.Kind == durable.EventClaimed {
			sent = event.At
		}
	}
	switch last := looked[len(looked)-1]; {
	case last.Result == resolve.LookupFailed:
		return "The service could not be asked. It is asked again by itself: decide nothing until it answers."
	case last.Result == resolve.LookupNone && v.Details.At.Sub(sent) < shownFor:
		return "The service shows nothing yet: that can take a quarter of an hour. It is asked again by itself: decide nothing until then."
	default:
		return ""
	}
}

// verdicts are what can have become of a write: what the service has shown was sent, and what follows a payment is
// done or not.
func verdicts(w durable.Write) []durable.Verdict {
	all := []durable.Verdict{durable.VerdictApproved, durable.VerdictDeclined}
	shown := func(look resolve.Lookup) bool {
		return look.Result == resolve.LookupPending || look.Result == resolve.LookupSettled || len(look.Candidates) > 0
	}
	if w.ReceiptNumber == "" && !slices.ContainsFunc(evidence(w), shown) {
		all = append(all, durable.VerdictNotSent)
	}
	if (w.Operation == quickstream.OperationPay || w.Operation == quickstream.OperationCollect) && w.IsPayment() {
		all = append(all, durable.VerdictVoided, durable.VerdictReturned)
	}
	return all
}

// Trouble says that something goes wrong, as long as the outcome is open.
func (v view) Trouble() string {
	switch failed := v.Failures > 0; {
	case v.Refused:
		return "The shop's program refuses what is known of it. Its developers have to repair that. Nothing is lost."
	case v.State == durable.StateQueued && failed && takes(v.Details.Write):
		return fmt.Sprintf("It could not be sent, %s. It is tried again by itself.", cmp.Or(map[int]string{1: "once"}[v.Failures], fmt.Sprint(v.Failures, " times")))
	default:
		return ""
	}
}
