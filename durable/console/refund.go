package console

import (
	"context"
	"errors"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// refunding is a refund before it is made: what it is of, how much goes back, and what that means.
type refunding struct {
	view

	How, Typed, Write string
	Back              decimal.Decimal
	Text              string
}

// refund shows what a refund means, and makes it once a person has said yes to that.
func (c *console[TTx]) refund(q request, _ string) {
	r, err := c.refunding(q)
	if err == nil && (q.field("sure") == "" || !oneLine(q.field("note"))) {
		notice := ""
		if q.field("sure") != "" {
			notice = "Not done. " + noReason
		}
		c.show(q, page{Name: "refund", Title: "Refund", Notice: notice, Content: r})
		return
	}
	if err == nil {
		err = c.refundNow(q)
	}
	c.ended(q, err, "payment", c.payment)
}

// refunding reads the form. An amount is that of a part, and of nothing else.
func (c *console[TTx]) refunding(q request) (r refunding, err error) {
	w, err := newWrite(q)
	if err != nil {
		return r, err
	}
	if r.view, err = c.view(q.Context(), q.id()); err != nil {
		return r, err
	}
	r.How, r.Typed, r.Write = q.field("how"), q.field("amount"), w.ID
	stored, err := c.stored(q.Context(), w.ID)
	switch {
	case err != nil:
		return r, err
	case stored && q.field("sure") == "":
		return r, durable.ErrIDReused
	case stored: // it was sent before: durable says what came of it
		return r, nil
	case w.Version != r.Version:
		return r, durable.ErrStale
	case r.How == "all" && r.Typed != "":
		return r, errForm("All that is left was chosen, and an amount was filled in: choose one of them.")
	case r.How == "all":
		r.Back = r.Left
		r.Text = "Voided if that can still be done, and refunded otherwise. After a void the order can be paid again. After a refund it stays paid, and cannot."
	case r.How == "part" && r.Offer.Part:
		if r.Back, err = amountIn(r.Typed); err != nil {
			return r, err
		}
		r.Text = "Refunded once the payment has settled, which can take a day or more. The order stays paid."
	default:
		return r, errForm("Choose how much.")
	}
	switch {
	case len(r.Both) > 0:
		r.Text = "Only this payment goes back. The order stays paid by the other one, and cannot be paid again."
	case r.IsPayment() && r.Elsewhere:
		r.Text = "Only this payment goes back. The other payments of the order stay as they are."
	}
	if r.Back.GreaterThan(r.Left) || !r.Offer.Refund {
		return r, durable.ErrTooMuch
	}
	return r, nil
}

// stored reports whether there is a write of that id.
func (c *console[TTx]) stored(ctx context.Context, id string) (bool, error) {
	_, err := c.engine.Get(ctx, id)
	if errors.Is(err, durable.ErrNoWrite) {
		return false, nil
	}
	return err == nil, err
}

func (c *console[TTx]) refundNow(q request) error {
	w, err := newWrite(q)
	if err != nil {
		return err
	}
	if q.field("how") == "all" {
		return c.within(q.Context(), func(tx TTx) error {
			_, _, err := c.engine.Reverse(q.Context(), tx, w, q.id())
			return err
		})
	}
	params := quickstream.RefundParams{Currency: quickstream.Currency(q.field("currency"))}
	if params.PrincipalAmount, err = amountIn(q.field("amount")); err != nil {
		return err
	}
	return c.within(q.Context(), func(tx TTx) error {
		_, _, err := c.engine.Refund(q.Context(), tx, w, q.id(), params)
		return err
	})
}
