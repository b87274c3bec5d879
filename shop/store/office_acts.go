package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// kindPerson is what somebody has done in the back office.
const kindPerson = "person"

// operationGiveBack is that of what durable sends as a void or as a refund.
const operationGiveBack quickstream.Operation = "GiveBack"

// errChanged means that the page was not about what there is now.
var errChanged = errors.New("something has happened to the payment since the page was shown")

// giveBack gives money of an order's payment back: durable chooses between void and
// refund. The form says how much had followed the order's payments when it was shown, so that a
// button that is pressed twice gives back once.
func (s *server) giveBack(w http.ResponseWriter, r *http.Request) {
	d, err := s.orderView(r.Context(), r.PathValue("order"))
	if err != nil {
		s.missing(w, r, err)
		return
	}
	amount, err := amountIn(r.PostFormValue("amount"))
	receipt := r.PostFormValue("receipt") // of one of several payments
	can := slices.DeleteFunc(d.GiveBack(), func(p *payback) bool { return receipt != "" && p.Receipt != receipt })
	if err == nil && r.PostFormValue("steps") != strconv.Itoa(d.Steps) || !d.Order || len(can) != 1 {
		err = errChanged
	}
	if err == nil {
		err = s.writeBack(r, d, can[0].Receipt, amount)
	}
	s.acted(w, r, d.ID, err)
}

func (s *server) writeBack(r *http.Request, d orderView, receipt string, amount decimal.Decimal) error {
	ctx := forOrder(r.Context(), d.ID)
	if carrier := s.traceAbout(ctx, d.ID, receipt); carrier != "" {
		ctx = s.telemetry.observer.Continue(ctx, carrier)
	}
	return s.within(ctx, func(tx *sql.Tx) error {
		var steps int
		err := tx.QueryRowContext(ctx, "SELECT count(*) FROM shop_write WHERE order_id = ? AND operation = ?", d.ID, operationGiveBack).Scan(&steps)
		if err != nil || steps != d.Steps {
			return errors.Join(err, errChanged)
		}
		id, err := s.engine.GiveBack(ctx, tx, d.ID, receipt, amount, quickstream.CurrencyAUD)
		if err != nil {
			return err
		}
		err = s.keep(ctx, tx, durable.Payment{
			ID: id, OrderID: d.ID, Operation: operationGiveBack, State: durable.StatePrepared, ReceiptOf: receipt, Amount: amount, Written: s.clock.Now(),
		})
		return errors.Join(err, s.note(ctx, tx, d.ID, kindPerson, "give back "+money(cents(amount))))
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
func verdicts() []durable.State {
	return []durable.State{durable.StateApproved, durable.StateDeclined, durable.StateNotSent, durable.StateVoided, durable.StateReturned}
}

// decide closes what nobody could find out by the word of a person.
func (s *server) decide(w http.ResponseWriter, r *http.Request) {
	p, err := s.engine.Payment(r.Context(), r.PathValue("write"))
	if errors.Is(err, durable.ErrNoPayment) {
		err = sql.ErrNoRows
	}
	if err != nil {
		s.missing(w, r, err)
		return
	}
	form := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
	verdict, receipt, who, reason := durable.State(form("verdict")), form("receipt"), form("who"), form("reason")
	switch {
	case who == "" || reason == "":
		err = fmt.Errorf("%w: say who decides, and why", errWrong)
	case !slices.Contains(verdicts(), verdict):
		err = fmt.Errorf("%w: choose what became of it", errWrong)
	case verdict == durable.StateApproved && receipt == "" && p.ReceiptNumber == "":
		err = fmt.Errorf("%w: what was approved has a receipt number", errWrong)
	case !writeOf(p).Open:
		err = errChanged
	default:
		ctx := forOrder(r.Context(), p.OrderID)
		if err = s.checkReceipt(ctx, p, verdict, cmp.Or(receipt, p.ReceiptNumber)); err != nil {
			break
		}
		err = s.within(ctx, func(tx *sql.Tx) error {
			if err := s.note(ctx, tx, p.OrderID, kindPerson, fmt.Sprintf("%s decides: %s. %s", who, verdict, reason)); err != nil {
				return err
			}
			return s.engine.Decide(ctx, tx, p.ID, verdict, receipt, who, reason)
		})
	}
	s.acted(w, r, p.OrderID, err)
}

// checkReceipt reads what a person takes for the payment, and says why it is not.
func (s *server) checkReceipt(ctx context.Context, p durable.Payment, verdict durable.State, receipt string) error {
	if verdict != durable.StateApproved || p.Operation != quickstream.OperationPay && p.Operation != operationGiveBack {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	t, err := s.client.Transactions.Get(limited, receipt)
	switch {
	case errors.Is(err, quickstream.ErrInvalid):
		return err
	case errors.Is(err, quickstream.ErrNotFound):
		return fmt.Errorf("%w: the service has no transaction with that receipt number", errWrong)
	case err != nil:
		s.logger.InfoContext(ctx, "a receipt could not be read", "error", err)
		return fmt.Errorf("%w: the service cannot be asked about the receipt now, and nothing is decided. Try again", errWrong)
	}
	kind := quickstream.TransactionTypePayment
	if p.ReceiptOf != "" {
		kind = quickstream.TransactionTypeRefund
	}
	outcome, err := t.Outcome()
	var wrong string
	switch {
	case err != nil || outcome != quickstream.OutcomeApproved:
		wrong = fmt.Sprintf("was not approved: the service says %q", t.Status)
	case t.TransactionType != kind || p.ReceiptOf != "" && t.OriginalReceiptNumber != p.ReceiptOf:
		wrong = "is something else than what was sent"
	case t.PrincipalAmount == nil || !t.PrincipalAmount.Amount.Equal(p.Amount) || t.PrincipalAmount.Currency != p.Currency:
		wrong = fmt.Sprintf("is not of %s %s", p.Amount.StringFixed(2), p.Currency)
	case p.ReceiptOf == "" && t.CustomerReferenceNumber != "" && !strings.EqualFold(t.CustomerReferenceNumber, p.OrderID):
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
	case errors.Is(err, durable.ErrFollowUpOpen):
		notice = "Not done: something else is being given back. Wait for its outcome."
	case errors.Is(err, durable.ErrNotAllowed):
		notice = "Not done: what is known does not allow it. It may be decided already, or the receipt be another payment's."
	case errors.Is(err, errChanged):
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
