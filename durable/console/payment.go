package console

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/resolve"
)

// write is embedded, so that pages show its fields.
type write = durable.Write

// view is a write as its page shows it.
type view struct {
	durable.Details
	write

	Back, Pending decimal.Decimal // of a payment; Back was refunded, voided or returned
	Timeline      []deed
	Others        []durable.Write // the other payments of its order, and what follows them
	Queued        []durable.Write // it, or what follows it
	Elsewhere     bool            // another payment of its order was taken, or may be
	Twice         bool            // it was taken, and its order was charged twice
	Both          []durable.Write // two payments, one to be refunded
	Earlier       bool            // money of the order was refunded, and not for that
	Refused       bool            // OnOutcome failed to take the last change
	Cancelled     bool            // it is queued, and only looked up any more
	Offer         offer
}

// OutcomeOpen reports whether money may or may not have been taken.
func (v view) OutcomeOpen() bool {
	return (v.State.InProgress() || v.State == durable.StateNeedsPerson && v.Reason != durable.ReasonDoubleCharged) && (v.State != durable.StateQueued || v.Sends > 0)
}

// offer is what a person can do about a write now.
type offer struct {
	Refund  bool
	LookUp  bool
	Decide  []durable.Verdict
	Receipt bool   // a decision that it was approved needs one
	Why     string // why nothing can be decided now
}

// Mark returns a text that changes when something else is offered.
func (v view) Mark() string {
	return fmt.Sprint(v.Version, v.Offer.Decide, v.Offer.Why, v.Offer.LookUp, len(v.Queued), len(v.Both))
}

func (c *console[TTx]) payment(q request, notice string) {
	v, err := c.view(q.Context(), q.id())
	if err != nil {
		c.fail(q, err)
		return
	}
	title := strings.TrimSuffix(what(v.write)+" of order "+v.Order, " of order ")
	c.show(q, page{Name: "payment", Title: title, Notice: notice, Address: "payment?id=" + url.QueryEscape(v.ID), Content: v})
}

func (c *console[TTx]) view(ctx context.Context, id string) (v view, err error) {
	if v.Details, err = c.engine.Details(ctx, id); err != nil {
		return v, err
	}
	w := v.Details.Write
	v.write = w
	v.Refused = !w.Notified && w.Failures > 0 && w.State != durable.StateQueued
	v.Back = w.Refunded
	for _, event := range v.Events {
		v.Cancelled = v.Cancelled || event.Kind == durable.EventCancelled && w.State == durable.StateQueued
		v.Timeline = append(v.Timeline, deed{event, w})
	}
	for _, f := range v.FollowUps {
		events, err := c.engine.Events(ctx, f.ID)
		if err != nil {
			return v, err
		}
		for _, event := range events {
			v.Timeline = append(v.Timeline, deed{event, f})
		}
		if takesBack(f) && f.State.Blocks() && !f.Done() {
			v.Pending = v.Pending.Add(f.Amount)
		}
	}
	slices.SortStableFunc(v.Timeline, func(x, y deed) int { return x.At.Compare(y.At) })
	all, err := c.engine.Writes(ctx, w.Order)
	if err != nil {
		return v, err
	}
	for _, other := range all {
		switch {
		case other.ID != w.ID && other.Follows != w.ID:
			v.Others = append(v.Others, other)
			v.Elsewhere = v.Elsewhere || other.IsPayment() && !other.MayPayAgain()
		case other.State == durable.StateQueued && !(v.Cancelled && other.ID == w.ID):
			v.Queued = append(v.Queued, other)
		}
	}
	if w.State == durable.StateVoided || w.State == durable.StateReturned {
		v.Taken, v.Back = w.Amount, w.Amount
	}
	if v.Twice = takes(w) && (w.Paid() || w.Done()) && slices.ContainsFunc(all, isTwice); v.Twice {
		v.Both, err = c.both(ctx, w.Order)
		v.Earlier = slices.ContainsFunc(all, func(w durable.Write) bool { return takesBack(w) && w.State.Blocks() })
	}
	v.write, v.Others = c.settled(ctx, []durable.Write{w})[0], c.settled(ctx, v.Others)
	v.Offer = c.offer(v)
	return v, err
}

// takesBack reports whether a write is a refund or a reversal.
func takesBack(w durable.Write) bool {
	return w.Operation == quickstream.OperationRefund || w.Operation == durable.OperationReverse
}

// both returns the payments of an order that was charged twice; none if one of them was refunded, or is being refunded. A
// refund from before the double charge was for something else.
func (c *console[TTx]) both(ctx context.Context, order string) (both []durable.Write, err error) {
	all, err := c.engine.Writes(ctx, order)
	if err != nil {
		return nil, err
	}
	var arose time.Time
	for _, w := range all {
		if isTwice(w) && w.Changed.After(arose) {
			arose = w.Changed
		}
	}
	refunded := false
	for _, w := range all {
		if back := w.State == durable.StateVoided || w.State == durable.StateReturned; !w.IsPayment() || !w.Paid() && !back {
			continue
		}
		d, err := c.engine.Details(ctx, w.ID)
		if err != nil {
			return nil, err
		}
		since := func(f durable.Write) bool { return f.State.Blocks() && !f.Written.Before(arose) }
		if d.Left.IsPositive() {
			both = append(both, w)
		} else if slices.ContainsFunc(d.FollowUps, since) || !w.Paid() && !w.Changed.Before(arose) {
			refunded = true
		}
	}
	if refunded && len(both) <= 1 {
		return nil, nil
	}
	return both, nil
}

// settled shows a payment that was charged twice as approved once one payment of its order was refunded.
func (c *console[TTx]) settled(ctx context.Context, writes []durable.Write) []durable.Write {
	for i, w := range writes {
		if !isTwice(w) {
			continue
		}
		if both, err := c.both(ctx, w.Order); err == nil && len(both) == 0 {
			writes[i].Standing = durable.Standing{State: durable.StateApproved}
		}
	}
	return writes
}

// isTwice reports whether a payment is the second one of its order.
func isTwice(w durable.Write) bool { return w.Reason == durable.ReasonDoubleCharged && takes(w) }

// offer returns what durable allows now, and nothing else.
func (c *console[TTx]) offer(v view) offer {
	w := v.Details.Write
	o := offer{Refund: v.Left.IsPositive()}
	o.LookUp = v.OutcomeOpen() && w.State != durable.StateQueued
	_, early := errors.AsType[*durable.TooEarlyError](v.NotDecidable)
	switch {
	case v.NotDecidable == nil:
		o.Decide = verdicts(w)
		o.Receipt = w.ReceiptNumber == "" && w.Operation != quickstream.OperationVoid
	case early || errors.Is(v.NotDecidable, durable.ErrLookUpFirst):
		o.Why, _ = c.notice(v.NotDecidable)
		o.LookUp = o.LookUp && !(early && w.State == durable.StateSending)
	}
	return o
}

// verdicts returns the possible outcomes of a write. It cannot be not_sent if the service has shown it. Only a payment or
// a PayTo collection can be voided or returned.
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
