package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// errChanged means that the page was not about what there is now.
var errChanged = errors.New("something has happened to the payment since the page was shown")

// giveBack gives money of an order's payment back: all that is left by a reversal, for which durable
// chooses between void and refund, and a part by a refund.
func (s *server) giveBack(w http.ResponseWriter, r *http.Request) {
	d, err := s.orderView(r.Context(), r.PathValue("order"))
	if err != nil {
		s.missing(w, r, err)
		return
	}
	amount, err := amountIn(r.PostFormValue("amount"))
	payment := r.PostFormValue("payment") // of one of several
	can := slices.DeleteFunc(d.GiveBack(), func(p *payback) bool { return payment != "" && p.ID != payment })
	if err == nil && r.PostFormValue("id") != d.Back() || !d.Order || len(can) != 1 {
		err = errChanged
	}
	if err == nil {
		err = s.writeBack(r, durable.NewWrite{ID: d.Back(), Order: d.ID}, can[0], amount)
	}
	s.acted(w, r, d.ID, err)
}

func (s *server) writeBack(r *http.Request, back durable.NewWrite, p *payback, amount decimal.Decimal) error {
	ctx := forOrder(r.Context(), back.Order)
	if carrier := s.traceAbout(ctx, back.Order, p.Receipt); carrier != "" {
		ctx = s.telemetry.observer.Continue(ctx, carrier)
	}
	return s.within(ctx, func(tx *sql.Tx) (err error) {
		var f durable.FollowUp
		var created bool
		if cents(amount) == p.Left {
			f, created, err = s.engine.Reverse(ctx, tx, back, p.ID)
		} else {
			f, created, err = s.engine.Refund(ctx, tx, back, p.ID, quickstream.RefundParams{PrincipalAmount: amount, Currency: quickstream.CurrencyAUD})
		}
		if err != nil {
			return err
		}
		if !created {
			return errChanged
		}
		return s.keep(ctx, tx, f)
	})
}

// amountIn reads an amount of dollars.
func amountIn(text string) (decimal.Decimal, error) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "$")
	dollars, cents, _ := strings.Cut(text, ".")
	amount, err := decimal.NewFromString(text)
	if err != nil || !amount.IsPositive() || len(dollars) > 9 || len(cents) > 2 || strings.Trim(dollars+cents, "0123456789") != "" {
		return amount, fmt.Errorf("%w: the amount is in dollars and cents, such as 12.50", errWrong)
	}
	return amount, nil
}

// errWrong means that a form was not filled in as it has to be.
var errWrong = errors.New("not done")

// verdicts are what a person can decide.
func verdicts() []durable.Verdict {
	return []durable.Verdict{durable.VerdictApproved, durable.VerdictDeclined, durable.VerdictNotSent, durable.VerdictVoided, durable.VerdictReturned}
}

// decide closes what nobody could find out by the word of a person.
func (s *server) decide(w http.ResponseWriter, r *http.Request) {
	about, err := s.readWrite(r.Context(), r.PathValue("write"))
	if errors.Is(err, durable.ErrNoWrite) {
		err = sql.ErrNoRows
	}
	if err != nil {
		s.missing(w, r, err)
		return
	}
	form := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
	d := durable.Decision{Verdict: durable.Verdict(form("verdict")), ReceiptNumber: form("receipt"), By: form("by"), Note: form("note")}
	switch {
	case !oneLine(d.By) || !oneLine(d.Note):
		err = fmt.Errorf("%w: say who decides, and why, in one line each", errWrong)
	case !slices.Contains(verdicts(), d.Verdict):
		err = fmt.Errorf("%w: choose what became of it", errWrong)
	case d.Verdict == durable.VerdictApproved && d.ReceiptNumber == "" && about.ReceiptNumber == "":
		err = fmt.Errorf("%w: what was approved has a receipt number", errWrong)
	case !about.Open():
		err = errChanged
	default:
		ctx := forOrder(r.Context(), about.Order)
		if err = s.checkReceipt(ctx, about, d); err != nil {
			break
		}
		err = s.within(ctx, func(tx *sql.Tx) error { return s.engine.Decide(ctx, tx, about.ID, d) })
	}
	s.acted(w, r, about.Order, err)
}

// oneLine reports whether a text is one that durable takes.
func oneLine(text string) bool {
	return text != "" && len(text) <= 200 && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// checkReceipt reads what a person takes for the payment, and says why it is not.
func (s *server) checkReceipt(ctx context.Context, w write, d durable.Decision) error {
	if d.Verdict != durable.VerdictApproved || w.Operation != quickstream.OperationPay && w.Follows == "" {
		return nil
	}
	kind, original := quickstream.TransactionTypePayment, ""
	if w.Follows != "" {
		payment, err := s.engine.Write(ctx, w.Follows)
		if err != nil {
			return err
		}
		kind, original = quickstream.TransactionTypeRefund, payment.Common().ReceiptNumber
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	t, err := s.client.Transactions.Get(limited, cmp.Or(d.ReceiptNumber, w.ReceiptNumber))
	switch {
	case errors.Is(err, quickstream.ErrInvalid):
		return err
	case errors.Is(err, quickstream.ErrNotFound):
		return fmt.Errorf("%w: the service has no transaction with that receipt number", errWrong)
	case err != nil:
		s.logger.InfoContext(ctx, "a receipt could not be read", "error", err)
		return fmt.Errorf("%w: the service cannot be asked about the receipt now, and nothing is decided. Try again", errWrong)
	}
	outcome, err := t.Outcome()
	var wrong string
	switch {
	case err != nil || outcome != quickstream.OutcomeApproved:
		wrong = fmt.Sprintf("was not approved: the service says %q", t.Status)
	case t.TransactionType != kind || t.OriginalReceiptNumber != original:
		wrong = "is something else than what was sent"
	case t.PrincipalAmount == nil || !t.PrincipalAmount.Amount.Equal(w.Amount) || t.PrincipalAmount.Currency != w.Currency:
		wrong = fmt.Sprintf("is not of %s %s", w.Amount.StringFixed(2), w.Currency)
	case original == "" && t.CustomerReferenceNumber != "" && !strings.EqualFold(t.CustomerReferenceNumber, w.Order):
		wrong = "is another order's"
	default:
		return nil
	}
	return fmt.Errorf("%w: the transaction of that receipt %s", errWrong, wrong)
}

// acted shows the order after somebody has done something to it, or why it was not done.
func (s *server) acted(w http.ResponseWriter, r *http.Request, orderID string, err error) {
	if err == nil {
		http.Redirect(w, r, "/office/orders/"+orderID, http.StatusSeeOther)
		return
	}
	var notice string
	var invalid *quickstream.ValidationError
	switch {
	case errors.As(err, &invalid):
		notice = "Not done: that is no receipt number."
	case errors.Is(err, durable.ErrTooMuch):
		notice = "Not done: that is more than is left of the payment."
	case errors.Is(err, durable.ErrNotAllowed):
		notice = "Not done: what is known does not allow it. It may be decided already, or the receipt be another payment's."
	case errors.Is(err, errChanged), errors.Is(err, durable.ErrIDReused):
		notice = "Not done: something has happened to the payment since this page was shown. It is shown now."
	case errors.Is(err, errWrong):
		notice = "N" + strings.TrimPrefix(err.Error(), "n") + "."
	default:
		s.fail(w, r, err)
		return
	}
	r.SetPathValue("order", orderID)
	r.URL.Path = "/office/orders/" + orderID
	s.officeAnswer(w, r, http.StatusUnprocessableEntity, "office-order", "Payment", notice, s.orderData)
}
