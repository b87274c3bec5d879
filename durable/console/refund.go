package console

import (
	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// refunding is a refund before it is made: its payment, how much goes back, and what that means.
type refunding struct {
	view

	How, Typed, Write string
	Back              decimal.Decimal
}

// refund shows what a refund means, and makes it when the person confirms.
func (c *console[TTx]) refund(q request, _ string) {
	w, err := newWrite(q)
	amount, how := decimal.Decimal{}, q.field("how")
	switch {
	case err != nil:
	case how == "all" && q.field("amount") != "":
		err = errForm("All that is left was chosen, and an amount was filled in: choose one of them.")
	case how == "part":
		amount, err = amountIn(q.field("amount"))
	case how != "all":
		err = errForm("Choose how much.")
	}
	switch sure := q.field("sure") != ""; {
	case err != nil:
	case sure && oneLine(w.Note):
		err = c.refundNow(q, w, amount)
	default:
		var r refunding
		if r, err = c.refunding(q, w, amount); err == nil {
			notice := map[bool]string{true: "Not done. " + noReason}[sure]
			c.show(q, page{Name: "refund", Title: "Refund", Notice: notice, Content: r})
			return
		}
	}
	c.ended(q, err, "payment", c.payment)
}

// refunding returns the refund that a person is asked to confirm.
func (c *console[TTx]) refunding(q request, w durable.NewWrite, amount decimal.Decimal) (r refunding, err error) {
	r = refunding{How: q.field("how"), Typed: q.field("amount"), Write: w.ID, Back: amount}
	if r.view, err = c.view(q.Context(), q.id()); err != nil {
		return r, err
	}
	switch {
	case w.Version != r.Version:
		return r, durable.ErrStale
	case r.How == "all":
		r.Back = r.Left
	case len(r.Both) > 0:
		return r, errForm("Refund all of one of the two.")
	}
	if r.Back.GreaterThan(r.Left) || !r.Offer.Refund {
		return r, durable.ErrTooMuch
	}
	return r, nil
}

// refundNow stores a refund of all, or of a part.
func (c *console[TTx]) refundNow(q request, w durable.NewWrite, amount decimal.Decimal) error {
	return c.within(q.Context(), func(tx TTx) (err error) {
		if q.field("how") == "all" {
			_, _, err = c.engine.Reverse(q.Context(), tx, w, q.id())
			return err
		}
		params := quickstream.RefundParams{PrincipalAmount: amount, Currency: quickstream.Currency(q.field("currency"))}
		_, _, err = c.engine.Refund(q.Context(), tx, w, q.id(), params)
		return err
	})
}
