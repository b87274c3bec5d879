package console

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// act does what a form asks for about a write. Each is one call of durable.
type act func(q request, id string) error

func (c *console[TTx]) actsOnPayments() map[string]act {
	return map[string]act{"refund": c.refund, "decide": c.decide, "pay-again": c.payAgain, "look-up": c.lookUp, "notify": c.notifyAgain}
}

// actOnPayment acts, and shows the payment with what came of it.
func (c *console[TTx]) actOnPayment(q request, do act) {
	id, err := q.form("id"), error(nil)
	if !oneLine(q.form("note")) {
		err = errForm(noReason)
	} else {
		err = do(q, id)
	}
	c.forget()
	if err == nil {
		redirect(q, "payment?"+url.Values{"id": {id}, "done": {strings.TrimPrefix(q.URL.Path, "/")}}.Encode())
		return
	}
	notice := c.notice(err)
	if notice == "" {
		c.fail(q, err)
		return
	}
	c.showPayment(q, id, "Not done. "+notice, false)
}

// noReason is said of a form without one.
const noReason = "Say why, in one line of up to 200 characters."

// oneLine reports whether a text is one that durable takes.
func oneLine(text string) bool {
	return text != "" && len(text) <= 200 && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// notice says why something was not done; "" if that is not known.
func (c *console[TTx]) notice(err error) string {
	if wrong, isForm := errors.AsType[errForm](err); isForm {
		return wrong.Error()
	}
	if sending, isSending := errors.AsType[*durable.StillSendingError](err); isSending {
		return "A process may still be sending it, until " + c.stamp(sending.Until) + "."
	}
	for _, known := range []struct {
		err  error
		text string
	}{
		{durable.ErrStale, "Something has happened to the payment since your page was shown, perhaps by somebody else. Here it is now."},
		{durable.ErrIDReused, "Your form was sent before, with something else in it. What was stored then is below. Here is a new form."},
		{durable.ErrLookUpFirst, "The last look-up is older than a minute. Look it up now: then you can decide."},
		{durable.ErrTooMuch, "That is more than is left of the payment, or its money has come back already."},
		{durable.ErrOrderOpen, "Another payment of the order was taken, or may be."},
		{durable.ErrInProgress, "There is no outcome yet that the shop's program could be notified of."},
		{durable.ErrNotAllowed, "It cannot be done: " + strings.TrimPrefix(err.Error(), "durable: ") + "."},
		{quickstream.ErrNotFound, "The service has no transaction with that receipt number."},
		{quickstream.ErrInvalid, "The service would not take what was filled in."},
	} {
		if errors.Is(err, known.err) {
			return known.text
		}
	}
	if strings.Contains(err.Error(), "OnOutcome") {
		return "The shop's program refuses the outcome again: " + err.Error() + "."
	}
	return ""
}

// newWrite is what a form makes: under the id of the form, and about the version that it shows.
func newWrite(q request) (w durable.NewWrite, err error) {
	w = durable.NewWrite{ID: q.form("write"), By: q.person.Name, Note: q.form("note")}
	if w.Version, err = version(q); err == nil && !strings.HasPrefix(w.ID, "console-") {
		err = errForm("The form is not one of this page.")
	}
	return w, err
}

// version is that of the write which the person has seen.
func version(q request) (int64, error) {
	seen, err := strconv.ParseInt(q.form("version"), 10, 64)
	if err != nil || seen <= 0 {
		return 0, errForm("The form is not one of this page.")
	}
	return seen, nil
}

func (c *console[TTx]) refund(q request, id string) error {
	w, err := newWrite(q)
	if err != nil {
		return err
	}
	params := quickstream.RefundParams{Currency: quickstream.Currency(q.form("currency"))}
	how := q.form("how")
	if how == "part" {
		if params.PrincipalAmount, err = amountIn(q.form("amount")); err != nil {
			return err
		}
	}
	return c.within(q.Context(), func(tx TTx) (err error) {
		switch how {
		case "all":
			_, _, err = c.engine.Reverse(q.Context(), tx, w, id)
		case "part":
			_, _, err = c.engine.Refund(q.Context(), tx, w, id, params)
		case "void":
			_, _, err = c.engine.Void(q.Context(), tx, w, id)
		default:
			err = errForm("Choose how much.")
		}
		return err
	})
}

func (c *console[TTx]) decide(q request, id string) error {
	d := durable.Decision{Verdict: durable.Verdict(q.form("verdict")), ReceiptNumber: q.form("receipt"), By: q.person.Name, Note: q.form("note")}
	var err error
	if d.Version, err = version(q); err != nil {
		return err
	}
	v, err := c.view(q.Context(), id)
	if err != nil {
		return err
	}
	if d.Verdict != durable.VerdictApproved {
		d.ReceiptNumber = ""
	}
	switch {
	case v.Version != d.Version:
		return durable.ErrStale
	case v.NotDecidable != nil:
		return v.NotDecidable
	case !slices.Contains(v.Offer.Decide, d.Verdict):
		return errForm("Choose what became of it.")
	case d.Verdict == durable.VerdictApproved && d.ReceiptNumber == "" && v.Offer.Receipt:
		return errForm("What was approved has a receipt number: ask support for it.")
	case d.ReceiptNumber != "" && isTransaction(v.Record):
		if err := c.engine.CheckReceipt(q.Context(), id, d.ReceiptNumber); err != nil {
			if c.notice(err) == "" {
				c.opts.Logger.WarnContext(q.Context(), "console: a receipt could not be read", "error", err)
				err = errForm("The service cannot be asked about the receipt now. Try again.")
			}
			return err
		}
	}
	return c.within(q.Context(), func(tx TTx) error { return c.engine.Decide(q.Context(), tx, id, d) })
}

func (c *console[TTx]) payAgain(q request, id string) error {
	w, err := newWrite(q)
	if err != nil {
		return err
	}
	found, err := c.engine.Write(q.Context(), id)
	if err != nil {
		return err
	}
	p, isPayment := found.(durable.Payment)
	if !isPayment || c.opts.PayAgain == nil {
		return durable.ErrNotAllowed
	}
	params, err := c.opts.PayAgain(q.Context(), p)
	if err != nil {
		return fmt.Errorf("console: PayAgain: %w", err)
	}
	w.Order = p.Order
	return c.within(q.Context(), func(tx TTx) error {
		_, _, err := c.engine.PayAgain(q.Context(), tx, w, id, w.By, w.Note, params)
		return err
	})
}

func (c *console[TTx]) lookUp(q request, id string) error {
	_, err := c.engine.LookUp(q.Context(), id, q.person.Name, q.form("note"))
	return err
}

func (c *console[TTx]) notifyAgain(q request, id string) error {
	return c.engine.NotifyAgain(q.Context(), id, q.person.Name, q.form("note"))
}

func (c *console[TTx]) actsOnInstallation() map[string]func(ctx context.Context, by, note string) error {
	return map[string]func(ctx context.Context, by, note string) error{
		"pause": c.engine.Pause, "unpause": c.engine.Unpause, "confirm-history": c.engine.ConfirmHistory,
		"end-restoring": c.engine.EndRestoring, "confirm-facility": c.engine.ConfirmFacility,
	}
}

func (c *console[TTx]) actOnInstallation(q request, do func(ctx context.Context, by, note string) error) {
	if !oneLine(q.form("note")) {
		c.showInstallation(q, page{Name: "installation", Title: "Installation", Notice: "Not done. " + noReason, Address: "installation"})
		return
	}
	if err := do(q.Context(), q.person.Name, q.form("note")); err != nil {
		c.fail(q, err)
		return
	}
	c.forget()
	redirect(q, "installation?done=yes")
}

// retry has a notification confirmed now.
func (c *console[TTx]) retry(q request) {
	err, done := c.engine.RetryNotification(q.Context(), q.form("id"), q.form("digest"), q.person.Name, "tried again in the console"), "yes"
	if errors.Is(err, durable.ErrNoWrite) {
		err, done = nil, "gone"
	}
	if err != nil {
		c.fail(q, err)
		return
	}
	c.forget()
	redirect(q, "attention?done="+done)
}

// erase removes the personal data of a customer.
func (c *console[TTx]) erase(q request) {
	reference, note := q.form("reference"), q.form("note")
	if reference == "" || !oneLine(note) || q.form("sure") == "" {
		c.showCustomer(q, reference, "Not done. Say that you are sure. "+noReason, false)
		return
	}
	erased, err := c.engine.Erase(q.Context(), reference, q.person.Name, note)
	c.forget()
	if err != nil {
		c.fail(q, err)
		return
	}
	notice := fmt.Sprintf("The personal data of %d writes was erased, and %d notifications.", erased.Writes, erased.Notifications)
	if erased.Left > 0 {
		notice += fmt.Sprintf(" %d are not over and were left: erase again when they are.", erased.Left)
	}
	c.showCustomer(q, "", notice, true)
}
