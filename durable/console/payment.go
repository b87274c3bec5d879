package console

import (
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

	Method, Meaning, Problem string
	Back, Pending            decimal.Decimal // of a payment; Back was refunded, voided or returned
	Timeline                 []entry
	Below, Others            []row // what follows it, and what else there is of its order
	Elsewhere                bool  // another payment of its order was taken, or may be
	Twice                    bool  // it was charged twice, and none is refunded
	Refused                  bool  // the program of the shop has not taken what is known
	Raw                      string
	Offer                    offer
}

// Net is what is left of what was taken.
func (v view) Net() decimal.Decimal { return v.Taken.Sub(v.Back) }

// Unknown reports whether money may have been taken, or may not.
func (v view) Unknown() bool {
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
	Void    bool   // nothing of it was refunded
	Refund  bool
	LookUp  bool
	Decide  []durable.Verdict
	Receipt bool   // a decision that it was approved needs one
	Why     string // nothing can be decided now
	Again   bool
	Notify  bool
}

// Mark changes when something else is offered.
func (v view) Mark() string { return fmt.Sprint(v.Version, v.Offer.Decide, v.Offer.Why, v.Offer.Again) }

func (c *console[TTx]) payment(q request, notice string) {
	id := q.id()
	v, err := c.view(q.Context(), id)
	if err != nil {
		c.fail(q, err)
		return
	}
	c.show(q, page{Name: "payment", Title: v.What, Notice: notice, Address: "payment?id=" + url.QueryEscape(id), Content: v})
}

func (c *console[TTx]) view(ctx context.Context, id string) (v view, err error) {
	if v.Details, err = c.engine.Details(ctx, id); err != nil {
		return v, err
	}
	v.row = rowOf(v.Details.Write)
	r := v.Record
	v.Refused = !r.Notified && r.Failures > 0
	v.Problem = problem(r)
	v.Method = method(v.Source)
	v.Timeline = entries(r, v.Events)
	for _, f := range v.FollowUps {
		v.Below = append(v.Below, rowOf(f))
		events, err := c.engine.Events(ctx, f.ID)
		if err != nil {
			return v, err
		}
		v.Timeline = append(v.Timeline, entries(f, events)...)
	}
	slices.SortStableFunc(v.Timeline, func(x, y entry) int { return x.At.Compare(y.At) })
	var all []durable.Write
	if r.Order != "" { // of agreements and accounts without one there is any number
		if all, err = c.engine.Writes(ctx, r.Order); err != nil {
			return v, err
		}
	}
	v.Others = slices.DeleteFunc(rowsOf(all), func(other row) bool {
		return other.ID == r.ID || slices.ContainsFunc(v.Below, func(f row) bool { return f.ID == other.ID })
	})
	v.Elsewhere = slices.ContainsFunc(all, func(w durable.Write) bool {
		return w.IsPayment() && w.ID != r.ID && w.State.Blocks() && w.ReplacedBy == ""
	})
	v.Meaning = meaning(r, v.Elsewhere)
	if r.Reason == durable.ReasonDoubleCharged && takes(r) {
		mended, err := c.mended(ctx, all)
		if err != nil {
			return v, err
		}
		if v.Twice = !mended; mended {
			v.Meaning = "The customer was charged twice for one order, and one payment was refunded, or is being refunded. Do not refund another one for that."
		}
	}
	if v.Refused && v.Unknown() {
		v.Meaning = "It was sent, and what is known of it is not stored yet, because the shop's program refuses it. Do not do it another way."
	}
	if v.count(); v.State == durable.StateApproved && v.Taken.IsPositive() && v.Back.GreaterThanOrEqual(v.Amount) && !v.Left.IsPositive() {
		v.Meaning = "It was taken, and all of it was refunded. The customer gets the money back. The order stays paid."
		if v.Net().IsPositive() {
			v.Meaning = "It was taken, and all of it but the surcharge was refunded. The customer gets the money back. The order stays paid."
		}
	}
	v.Offer = c.offer(v)
	v.Raw, err = raw(r, v.Events)
	return v, err
}

// count adds up what was refunded.
func (v *view) count() {
	for _, f := range v.FollowUps {
		refunds := f.Operation == quickstream.OperationRefund || f.Operation == durable.OperationReverse && what(f) != "Void"
		switch {
		case !refunds || !f.State.Blocks():
		case f.Approved():
			v.Back = v.Back.Add(f.Amount)
		default:
			v.Pending = v.Pending.Add(f.Amount)
		}
	}
	if v.State == durable.StateVoided || v.State == durable.StateReturned {
		v.Taken, v.Back = v.Amount, v.Amount
	}
}

// method is what the customer paid with.
func method(kind durable.SourceKind) string {
	return map[durable.SourceKind]string{durable.SourceToken: "entered for this payment", durable.SourceAccount: "stored", durable.SourceAgreement: "by an agreement"}[kind]
}

// offer is what durable allows now, and nothing else.
func (c *console[TTx]) offer(v view) offer {
	r := v.Record
	o := offer{Write: formPrefix + rand.Text(), Refund: v.Left.IsPositive()}
	o.Void = o.Refund && v.Back.IsZero() && v.Pending.IsZero()
	o.LookUp = r.State == durable.StateUnknown || r.State == durable.StatePending || r.State == durable.StateNeedsPerson || r.State == durable.StateSending
	o.Notify = v.Refused || !r.State.InProgress()
	_, sending := errors.AsType[*durable.StillSendingError](v.NotDecidable)
	switch {
	case v.NotDecidable == nil && tooEarly(v) != "":
		o.Why = tooEarly(v)
	case v.NotDecidable == nil:
		o.Decide = verdicts(r, !r.IsPayment())
		o.Receipt = r.ReceiptNumber == "" && r.Operation != quickstream.OperationVoid
		o.Again = r.Reason == durable.ReasonNotFound && r.ReplacedBy == "" && r.IsPayment() && c.opts.PayAgain != nil
	case sending || errors.Is(v.NotDecidable, durable.ErrLookUpFirst):
		o.Why, o.LookUp = c.notice(v.NotDecidable), o.LookUp && !(sending && r.State == durable.StateSending)
	}
	return o
}

// shownFor is how long a transaction may be missing from look-ups, as durable assumes.
const shownFor = 15 * time.Minute

// tooEarly says why nothing should be decided yet about a write that is still looked up by itself: the last look-up says
// nothing.
func tooEarly(v view) string {
	looked := evidence(v.Record)
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
func verdicts(r Record, followUp bool) []durable.Verdict {
	all := []durable.Verdict{durable.VerdictApproved, durable.VerdictDeclined}
	shown := func(look resolve.Lookup) bool {
		return look.Result == resolve.LookupPending || look.Result == resolve.LookupSettled || len(look.Candidates) > 0
	}
	if r.ReceiptNumber == "" && !slices.ContainsFunc(evidence(r), shown) {
		all = append(all, durable.VerdictNotSent)
	}
	if (r.Operation == quickstream.OperationPay || r.Operation == quickstream.OperationCollect) && !followUp {
		all = append(all, durable.VerdictVoided, durable.VerdictReturned)
	}
	return all
}

// raw are the stored events, for the merchant's developers. Of what is no transaction it leaves out what was seen,
// which can name tokens.
func raw(r Record, events []durable.Event) (string, error) {
	events = slices.Clone(events)
	for i := range events {
		if !isTransaction(r) {
			events[i].Seen = resolve.Observation{Result: events[i].Seen.Result}
		}
	}
	text, err := json.MarshalIndent(events, "", "  ")
	return string(text), err
}

// evidence are the look-ups of a write, and seenOf what the last one showed.
func evidence(r Record) []resolve.Lookup {
	if r.Case == nil {
		return nil
	}
	return r.Case.Lookups
}

func seenOf(r Record) resolve.Observation {
	if r.Case == nil {
		return resolve.Observation{}
	}
	return r.Case.Seen
}
