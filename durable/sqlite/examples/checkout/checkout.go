package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"log"
	"net/http"
	"net/netip"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

//go:embed checkout.html
var page string

// An order is open, paid or refunded, or a person has to check it. Its amount has two decimals, such as 49.95.
const schema = `CREATE TABLE IF NOT EXISTS orders (
	number TEXT PRIMARY KEY, amount TEXT NOT NULL, email TEXT NOT NULL,
	line1 TEXT NOT NULL, city TEXT NOT NULL, postcode TEXT NOT NULL, state_of_address TEXT NOT NULL,
	state TEXT NOT NULL DEFAULT 'open', paid_by TEXT NOT NULL DEFAULT '')`

// checkout takes the payments of a web shop.
type checkout struct {
	db     *sql.DB
	client *quickstream.Client
	engine *durable.Engine[*sql.Tx]
	page   *template.Template
	// patience is how long a customer waits for an outcome.
	patience time.Duration
	// Key is the publishable key, which is public. Script is the service's: {environment}/quickstream-api-1.0.min.js.
	Key, Script, Business string
}

// open makes the tables, and starts an engine that works until it is stopped.
func open(ctx context.Context, db *sql.DB, client *quickstream.Client) (*checkout, error) {
	if err := durable.MigrateUp(ctx, sqlite.DB(db)); err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, err
	}
	engine, err := durable.New(ctx, sqlite.DB(db), client, options())
	if err != nil {
		return nil, err
	}
	return newCheckout(db, client, engine), engine.Start(ctx)
}

func options() durable.Options[*sql.Tx] {
	off := resolve.ServiceRetriesOff() // a setting of your facility: ask your bank
	return durable.Options[*sql.Tx]{Installation: "shop", ServiceRetries: &off, OnOutcome: markOrder}
}

func newCheckout(db *sql.DB, client *quickstream.Client, engine *durable.Engine[*sql.Tx]) *checkout {
	return &checkout{db: db, client: client, engine: engine, page: template.Must(template.New("").Parse(page)), patience: 30 * time.Second}
}

func (c *checkout) handler(verifier *signature.Verifier) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{order}", c.show)
	mux.HandleFunc("POST /orders/{order}/payments", c.pay)
	mux.HandleFunc("POST /orders/{order}/refund", c.refund) // behind the login of your staff
	mux.Handle("POST /notifications", c.engine.Inbox(verifier))
	return mux
}

func (c *checkout) show(w http.ResponseWriter, r *http.Request) {
	order := r.PathValue("order")
	var amount, state string
	if err := c.db.QueryRowContext(r.Context(), `SELECT amount, state FROM orders WHERE number = ?`, order).Scan(&amount, &state); err != nil {
		http.NotFound(w, r)
		return
	}
	switch payment, err := c.engine.PaymentOf(r.Context(), order); {
	case state == "refunded":
		_, _ = fmt.Fprint(w, textRefunded)
	case errors.Is(err, durable.ErrNoWrite), err == nil && payment.MayPayAgain():
		_ = c.page.Execute(w, map[string]string{"Order": order, "Amount": amount, "Key": c.Key, "Script": c.Script, "Business": c.Business})
	case err == nil && payment.Paid():
		_, _ = fmt.Fprint(w, textPaid)
	default: // also if the database does not answer
		_, _ = fmt.Fprint(w, textChecking)
	}
}

// What the customer reads.
const (
	textPaid     = "Thank you."
	textRefunded = "You got your money back."
	textChecking = "We are checking your payment. Do not pay again."
	textNotPaid  = "You have not paid. Try again, or take another card."
	textNothing  = "This attempt took nothing. Look at your order before you try again."
)

// pay is called with the browser's token, and again after a challenge. 402 lets the customer try again.
func (c *checkout) pay(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), c.patience) // also if the browser goes away
	defer cancel()
	payment, err := c.engine.Wait(ctx, r.FormValue("attempt"))
	if errors.Is(err, durable.ErrNoWrite) {
		payment, err = c.charge(ctx, r)
	}
	switch ours := payment.Order == r.PathValue("order"); {
	case ours && (payment.State == durable.StateVoided || payment.State == durable.StateReturned || payment.Refunded.GreaterThanOrEqual(payment.Amount)):
		_, _ = fmt.Fprint(w, textRefunded)
	case ours && payment.Paid():
		_, _ = fmt.Fprint(w, textPaid)
	case errors.Is(err, errChallenge):
		_, _ = fmt.Fprint(w, "challenge")
	case ours && payment.MayPayAgain():
		http.Error(w, textNotPaid, http.StatusPaymentRequired)
	case errors.Is(err, errNotStored):
		log.Print(err)
		http.Error(w, textNothing, http.StatusPaymentRequired)
	default:
		http.Error(w, textChecking, http.StatusAccepted)
	}
}

var errNotStored = errors.New("no payment was stored")

// charge stores a payment after the bank has confirmed the customer, and waits for its outcome.
func (c *checkout) charge(ctx context.Context, r *http.Request) (payment durable.Write, err error) {
	order, attempt, token := r.PathValue("order"), r.FormValue("attempt"), r.FormValue("token")
	stored := false
	defer func() {
		if err != nil && !stored {
			err = fmt.Errorf("%w: %w", errNotStored, err)
		}
	}()
	var amount decimal.Decimal
	var email string
	address := quickstream.ThreeDSAddress{Country: "036"} // Australia
	err = c.db.QueryRowContext(ctx, `SELECT amount, email, line1, city, postcode, state_of_address FROM orders WHERE number = ? AND state <> 'refunded'`, order).
		Scan(&amount, &email, &address.Line1, &address.City, &address.PostCode, &address.State)
	if err != nil {
		return payment, err
	}
	if other, err := c.engine.PaymentOf(ctx, order); err == nil && !other.MayPayAgain() {
		return other, nil // it is paid, or may be: no challenge
	}
	if err := authenticate(ctx, c.client, token, amount, email, address); err != nil {
		return payment, err
	}
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return payment, err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	// It may have been paid and refunded while the bank asked the customer.
	if err := tx.QueryRowContext(ctx, `SELECT 1 FROM orders WHERE number = ? AND state = 'open'`, order).Scan(new(int)); err != nil {
		return payment, err
	}
	from, _ := netip.ParseAddr(r.Header.Get("X-Real-IP")) // as your proxy sets it
	payment, _, err = c.engine.Pay(ctx, tx, durable.NewWrite{ID: attempt, Order: order}, quickstream.PayParams{
		Source: quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard), ThreeDS2: new(true),
		PrincipalAmount: amount, ECI: quickstream.ECIInternet, IPAddress: from, CustomerReferenceNumber: order,
	})
	if errors.Is(err, durable.ErrOrderOpen) {
		return payment, nil // of another attempt
	}
	if err != nil {
		return durable.Write{}, err
	}
	stored = true // or may be, if the commit fails
	if err := tx.Commit(); err != nil {
		return payment, err
	}
	return c.engine.Wait(ctx, attempt) // it is sent from the commit on, whatever happens
}

var errChallenge = errors.New("the bank asks the customer")

// authenticate asks the service whether the bank has confirmed the customer. A claim of the browser is no evidence.
func authenticate(ctx context.Context, client *quickstream.Client, token string, amount decimal.Decimal, email string, address quickstream.ThreeDSAddress) error {
	result, err := client.SingleUseTokens.Authenticate(ctx, token, quickstream.AuthenticateParams{
		MessageCategory: quickstream.ThreeDSMessageCategoryPayment, Purpose: quickstream.ThreeDSPurposePayment,
		PrincipalAmount: &amount, Currency: quickstream.CurrencyAUD, Email: email, BillingAddress: address,
	})
	if err != nil {
		return err
	}
	switch result.TransStatus.Next() {
	case quickstream.ThreeDSStepProceed:
		return nil
	case quickstream.ThreeDSStepChallenge:
		return errChallenge
	default:
		return errors.New("the bank did not confirm the customer")
	}
}

// refund gives back all of an order's payment: by a void before the cut-off, and by a refund after it.
func (c *checkout) refund(w http.ResponseWriter, r *http.Request) {
	switch err := c.reverse(r.Context(), r.PathValue("order")); {
	case err == nil:
		_, _ = fmt.Fprint(w, "The refund is on its way.")
	case errors.Is(err, sql.ErrNoRows):
		http.Error(w, "There is nothing to refund.", http.StatusConflict)
	default:
		http.Error(w, err.Error(), http.StatusConflict) // another press does no harm
	}
}

// reverse stores a refund. Its id counts the refunds that failed before, so a second click is the same refund.
func (c *checkout) reverse(ctx context.Context, order string) error {
	var payment string
	err := c.db.QueryRowContext(ctx, `SELECT paid_by FROM orders WHERE number = ? AND state <> 'open'`, order).Scan(&payment)
	if err != nil {
		return err
	}
	details, err := c.engine.Details(ctx, payment)
	if err != nil {
		return err
	}
	number := 1
	for _, refund := range details.FollowUps {
		if !refund.State.Blocks() {
			number++
		}
	}
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	if _, _, err := c.engine.Reverse(ctx, tx, durable.NewWrite{ID: fmt.Sprintf("refund %d of %s", number, payment)}, payment); err != nil {
		return err
	}
	return tx.Commit()
}

// markOrder is notified of the outcome of a payment or a refund. A person looks at an order in the state check, and decides
// about its payment in the console, or refunds it.
func markOrder(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
	write, state := change.Write, "check"
	switch {
	case write.Done(): // a part that is refunded leaves the order paid; a shop that refunds several adds them up
		all := write.Operation == durable.OperationReverse
		_, err := tx.ExecContext(ctx, `UPDATE orders SET state = 'refunded' WHERE paid_by = ? AND (? OR amount = ?)`, write.Follows, all, write.Amount.StringFixed(2))
		return err
	case write.Follows != "": // the refund was not made
		_, err := tx.ExecContext(ctx, `UPDATE orders SET state = 'check' WHERE paid_by = ? AND state <> 'refunded'`, write.Follows)
		return err
	case write.Paid() && write.State == durable.StateApproved:
		state = "paid"
	case write.State == durable.StateVoided:
		state = "refunded" // before or after the outcome of the refund that voided it
	case write.MayPayAgain():
		state = "open"
	}
	_, err := tx.ExecContext(ctx, `UPDATE orders SET state = CASE WHEN $1 = 'paid' AND amount <> $2 THEN 'check' ELSE $1 END, paid_by = $3
		WHERE number = $4 AND (state <> 'refunded' OR paid_by <> $3) AND (state = 'open' OR paid_by = $3 OR $1 = 'paid')`, state, write.Amount.StringFixed(2), write.ID, write.Order)
	return err
}
