package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// act does what a form asks for, by one call of durable.
type act func(q request) error

// act returns the handler of a form: it does the act, and redirects to a page that shows the result.
func (c *console[TTx]) act(do act, name string, show handler) handler {
	return func(q request, _ string) {
		err := error(errForm(noReason))
		if oneLine(q.field("note")) {
			err = do(q)
		}
		c.ended(q, err, name, show)
	}
}

// ended shows the result of an act.
func (c *console[TTx]) ended(q request, err error, name string, show handler) {
	if err == nil {
		c.redirect(q, name+"?"+url.Values{"id": {q.id()}, "done": {strings.TrimPrefix(q.URL.Path, "/")}}.Encode())
		return
	}
	notice, technical := c.notice(err)
	if notice == "" {
		c.fail(q, err)
		return
	}
	q.technical = technical
	show(q, "Not done. "+notice)
}

// redirect redirects to another page. The address stays relative: the prefix is not known here.
func (c *console[TTx]) redirect(q request, address string) {
	q.w.Header().Set("Location", address)
	q.w.WriteHeader(http.StatusSeeOther)
}

// noReason is the notice for a form without a reason.
const noReason = "Say why, in one short line."

// oneLine reports whether durable takes a text as a name or a reason.
func oneLine(text string) bool {
	return text != "" && len(text) <= 200 && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// notice returns why something was not done, and the error for developers; "" if it does not know.
func (c *console[TTx]) notice(err error) (notice, technical string) {
	if wrong, isForm := errors.AsType[errForm](err); isForm {
		return wrong.Error(), ""
	}
	if early, is := errors.AsType[*durable.TooEarlyError](err); is {
		return "It may be on its way to the service, or not be shown yet, until " + c.stamp(early.Until) + ". It is asked again by itself. Look it up and decide after that.", ""
	}
	for _, known := range []struct {
		err  error
		text string
	}{
		{errFailed, "The service could not be asked. Try again later."},
		{durable.ErrStale, "Something has happened to the payment since your page was shown, perhaps by another person. Here it is now."},
		{durable.ErrIDReused, "Your form was sent before, with something else in it. What was stored then is below. Here is a new form."},
		{durable.ErrLookUpFirst, "The last look-up is older than a minute. Look it up now: then you can decide."},
		{durable.ErrTooMuch, "That is more than is left of the payment, or its money has come back already."},
		{durable.ErrTooLate, "It is too late: it was sent."},
		{durable.ErrInProgress, "There is no outcome yet that the shop's program could be notified of."},
		{durable.ErrNotAllowed, "It cannot be done: " + strings.TrimPrefix(err.Error(), "durable: ") + "."},
		{quickstream.ErrNotFound, "The service has no transaction with that receipt number."},
		{quickstream.ErrInvalid, "The service would not take what was filled in."},
	} {
		if errors.Is(err, known.err) {
			return known.text, ""
		}
	}
	if strings.Contains(err.Error(), "OnOutcome") {
		technical = err.Error()
		for err != nil { // the hook's own message is the merchant's
			if err = errors.Unwrap(err); err != nil {
				technical += "\n" + err.Error()
			}
		}
		return "The shop's program refuses the outcome again. Its developers have to repair that.", technical
	}
	return "", ""
}

// newWrite returns the write that a form makes, with the id of the form and the version that the form shows.
func newWrite(q request) (durable.NewWrite, error) {
	version, err := strconv.ParseInt(q.field("version"), 10, 64)
	if err != nil || version <= 0 || !strings.HasPrefix(q.field("write"), formPrefix) {
		return durable.NewWrite{}, errForm("The form is not one of this page.")
	}
	return durable.NewWrite{ID: q.field("write"), By: q.person.Name, Note: q.field("note"), Version: version}, nil
}

// formPrefix begins the ids of forms.
const formPrefix = "console-"

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
	case !slices.Contains(v.Offer.Decide, d.Verdict):
		return errForm(cmp.Or(v.Offer.Why, "Choose what became of it."))
	case d.Verdict == durable.VerdictApproved && d.ReceiptNumber == "" && v.Offer.Receipt:
		return errForm("What was approved has a receipt number: ask support for it.")
	case d.ReceiptNumber != "":
		if err := c.engine.CheckReceipt(q.Context(), q.id(), d.ReceiptNumber); err != nil {
			if notice, _ := c.notice(err); notice == "" {
				c.opts.Logger.WarnContext(q.Context(), "console: a receipt could not be read", "error", err)
				err = errForm("The service cannot be asked about the receipt now. Try again.")
			}
			return err
		}
	}
	return c.within(q.Context(), func(tx TTx) error { return c.engine.Decide(q.Context(), tx, q.id(), d) })
}

// retry tries to confirm a notification now. One that no longer waits was confirmed meanwhile.
func (c *console[TTx]) retry(q request) error {
	err := c.engine.RetryNotification(q.Context(), q.id(), q.field("digest"), q.person.Name, q.field("note"))
	if errors.Is(err, durable.ErrNoWrite) {
		return nil
	}
	return err
}
