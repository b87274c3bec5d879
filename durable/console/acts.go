package console

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/resolve"
)

// act does what a form asks for. Each is one call of durable.
type act func(q request) error

// act acts, and leads to a page with what came of it.
func (c *console[TTx]) act(do act, name string, show handler) handler {
	return func(q request, _ string) {
		err := error(errForm(noReason))
		if oneLine(q.field("note")) {
			err = do(q)
		}
		c.forget()
		if err == nil { // the address stays relative: the prefix is not known here
			q.w.Header().Set("Location", name+"?"+url.Values{"id": {q.id()}, "done": {strings.TrimPrefix(q.URL.Path, "/")}}.Encode())
			q.w.WriteHeader(http.StatusSeeOther)
			return
		}
		if notice := c.notice(err); notice != "" {
			show(q, "Not done. "+notice)
			return
		}
		c.fail(q, err)
	}
}

// done says what was done.
func done(name string) string {
	return map[string]string{
		"refund": "It is stored, and sent by itself. What becomes of it is shown here.", "decide": "Decided.", "pay-again": "Another payment is stored, and sent by itself.",
		"look-up": "The service was asked. What is known now is shown here.", "notify": "The shop's program has accepted the outcome.",
		"retry": "It is tried again now. If it stays here it has failed again.", "pause": "Paused.", "unpause": "It goes on.",
		"confirm-history": "Done.", "end-restoring": "Done.", "confirm-facility": "Done.",
	}[name]
}

// noReason is said of a form without one.
const noReason = "Say why, in one short line."

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
		return "It may be on its way to the service until " + c.stamp(sending.Until) + ". Look it up and decide after that."
	}
	for _, known := range []struct {
		err  error
		text string
	}{
		{durable.ErrStale, "Something has happened to the payment since your page was shown, perhaps by another person. Here it is now."},
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
func newWrite(q request) (durable.NewWrite, error) {
	version, err := strconv.ParseInt(q.field("version"), 10, 64)
	if err != nil || version <= 0 || !strings.HasPrefix(q.field("write"), formPrefix) {
		return durable.NewWrite{}, errForm("The form is not one of this page.")
	}
	return durable.NewWrite{ID: q.field("write"), By: q.person.Name, Note: q.field("note"), Version: version}, nil
}

// formPrefix begins the ids that forms have.
const formPrefix = "console-"

func (c *console[TTx]) refund(q request) error {
	w, err := newWrite(q)
	if err != nil {
		return err
	}
	params := quickstream.RefundParams{Currency: quickstream.Currency(q.field("currency"))}
	how := q.field("how")
	if how == "part" {
		if params.PrincipalAmount, err = amountIn(q.field("amount")); err != nil {
			return err
		}
	}
	return c.within(q.Context(), func(tx TTx) (err error) {
		switch how {
		case "all":
			_, _, err = c.engine.Reverse(q.Context(), tx, w, q.id())
		case "part":
			_, _, err = c.engine.Refund(q.Context(), tx, w, q.id(), params)
		case "void":
			_, _, err = c.engine.Void(q.Context(), tx, w, q.id())
		default:
			err = errForm("Choose how much.")
		}
		return err
	})
}

func (c *console[TTx]) decide(q request) error {
	w, err := newWrite(q)
	if err != nil {
		return err
	}
	d := durable.Decision{Verdict: durable.Verdict(q.field("verdict")), ReceiptNumber: q.field("receipt"), By: w.By, Note: w.Note, Version: w.Version}
	v, err := c.view(q.Context(), q.id())
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
	case len(v.Offer.Decide) == 0:
		return errForm(v.Offer.Why)
	case !slices.Contains(v.Offer.Decide, d.Verdict):
		return errForm("Choose what became of it.")
	case d.Verdict == durable.VerdictApproved && d.ReceiptNumber == "" && v.Offer.Receipt:
		return errForm("What was approved has a receipt number: ask support for it.")
	case d.ReceiptNumber != "" && isTransaction(v.Record):
		if err := c.engine.CheckReceipt(q.Context(), q.id(), d.ReceiptNumber); err != nil {
			if c.notice(err) == "" {
				c.opts.Logger.WarnContext(q.Context(), "console: a receipt could not be read", "error", err)
				err = errForm("The service cannot be asked about the receipt now. Try again.")
			}
			return err
		}
	}
	return c.within(q.Context(), func(tx TTx) error { return c.engine.Decide(q.Context(), tx, q.id(), d) })
}

func (c *console[TTx]) payAgain(q request) error {
	w, err := newWrite(q)
	if err != nil {
		return err
	}
	p, err := c.engine.Get(q.Context(), q.id())
	if err != nil {
		return err
	}
	if !p.IsPayment() || c.opts.PayAgain == nil {
		return durable.ErrNotAllowed
	}
	params, err := c.opts.PayAgain(q.Context(), p)
	if err != nil {
		return fmt.Errorf("console: PayAgain: %w", err)
	}
	w.Order = p.Order
	return c.within(q.Context(), func(tx TTx) error {
		_, _, err := c.engine.PayAgain(q.Context(), tx, w, durable.Replacement{Of: q.id(), Version: w.Version, By: w.By, Note: w.Note}, params)
		return err
	})
}

func (c *console[TTx]) lookUp(q request) error {
	list, err := c.engine.LookUp(q.Context(), q.person.Name, q.field("note"), q.id())
	if err != nil {
		return err
	}
	if looks := evidence(list[0]); len(looks) > 0 && looks[len(looks)-1].Result == resolve.LookupFailed {
		return errForm("The service could not be asked. Try again later.")
	}
	return nil
}

func (c *console[TTx]) notifyAgain(q request) error {
	return c.engine.NotifyAgain(q.Context(), q.id(), q.person.Name, q.field("note"))
}

// retry has a notification confirmed now. One that waits no more was confirmed meanwhile.
func (c *console[TTx]) retry(q request) error {
	err := c.engine.RetryNotification(q.Context(), q.id(), q.field("digest"), q.person.Name, q.field("note"))
	if errors.Is(err, durable.ErrNoWrite) {
		return nil
	}
	return err
}

// erase removes the personal data of a customer.
func (c *console[TTx]) erase(q request, _ string) {
	reference, note := q.field("reference"), q.field("note")
	if reference == "" || !oneLine(note) || q.field("sure") == "" {
		c.customer(q, "Not done. Say that you are sure. "+noReason)
		return
	}
	erased, err := c.engine.Erase(q.Context(), reference, q.person.Name, note)
	c.forget()
	if err != nil {
		c.fail(q, err)
		return
	}
	c.message(q, http.StatusOK, "Erased", fmt.Sprintf("The personal data of %d writes was erased, and %d notifications. %d of the customer are not over, and were left: erase again when they are.",
		erased.Writes, erased.Notifications, erased.Left))
}
