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

const schema = `CREATE TABLE IF NOT EXISTS orders (
	number TEXT PRIMARY KEY, amount TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open', paid_by TEXT NOT NULL DEFAULT '')`

// checkout takes the payments of a web shop.
type checkout struct {
	db     *sql.DB
	client *quickstream.Client
	engine *durable.Engine[*sql.Tx]
	page   *template.Template
	// Key is the publishable key, which anybody may see. Script is the service's: {environment}/quickstream-api-1.0.min.js.
	Key, Script, Business string
}

func newCheckout(ctx context.Context, db *sql.DB, client *quickstream.Client) (*checkout, error) {
	store, off := sqlite.DB(db), resolve.ServiceRetriesOff() // a setting of your facility: ask your bank
	if err := durable.MigrateUp(ctx, store); err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, err
	}
	engine, err := durable.New(ctx, store, client, durable.Options[*sql.Tx]{Installation: "shop", ServiceRetries: &off, OnOutcome: markOrder})
	if err != nil {
		return nil, err
	}
	c := &checkout{db: db, client: client, engine: engine, page: template.Must(template.New("").Parse(page))}
	return c, engine.Start(ctx)
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
	var amount string
	if err := c.db.QueryRowContext(r.Context(), `SELECT amount FROM orders WHERE number = ?`, order).Scan(&amount); err != nil {
		http.NotFound(w, r)
		return
	}
	_ = c.page.Execute(w, map[string]string{"Order": order, "Amount": amount, "Key": c.Key, "Script": c.Script, "Business": c.Business})
}

// pay is called with the browser's token, and again after a challenge. 402 lets the customer try again.
func (c *checkout) pay(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), time.Minute) // also if the browser goes away
	defer cancel()
	payment, err := c.engine.Wait(ctx, r.FormValue("attempt"))
	if errors.Is(err, durable.ErrNoWrite) {
		payment, err = c.charge(ctx, r)
	}
	if open, is := errors.AsType[*durable.OrderOpenError](err); is { // another attempt of this order
		payment, err = open.Payment, nil
	}
	switch {
	case payment.Paid():
		_, _ = fmt.Fprint(w, "Thank you.")
	case errors.Is(err, errChallenge):
		_, _ = fmt.Fprint(w, "challenge")
	case payment.MayPayAgain():
		http.Error(w, "You have not paid. Try again, or take another card.", http.StatusPaymentRequired)
	case payment.ID == "": // nothing was stored
		log.Print(err)
		http.Error(w, "This attempt took nothing. Look at your order before you try again.", http.StatusPaymentRequired)
	default:
		http.Error(w, "We are checking your payment. Do not pay again.", http.StatusAccepted)
	}
}

// charge stores a payment whose customer the bank has confirmed, and waits for its outcome.
func (c *checkout) charge(ctx context.Context, r *http.Request) (durable.Write, error) {
	order, attempt, token := r.PathValue("order"), r.FormValue("attempt"), r.FormValue("token")
	var amount decimal.Decimal
	if err := c.db.QueryRowContext(ctx, `SELECT amount FROM orders WHERE number = ?`, order).Scan(&amount); err != nil {
		return durable.Write{}, err
	}
	if err := authenticate(ctx, c.client, token, amount); err != nil {
		return durable.Write{}, err
	}
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return durable.Write{}, err
	}
	defer tx.Rollback()                                   //nolint:errcheck // after Commit it does nothing
	from, _ := netip.ParseAddr(r.Header.Get("X-Real-IP")) // as your proxy sets it
	_, _, err = c.engine.Pay(ctx, tx, durable.NewWrite{ID: attempt, Order: order}, quickstream.PayParams{
		Source: quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard), ThreeDS2: new(true),
		PrincipalAmount: amount, ECI: quickstream.ECIInternet, IPAddress: from, CustomerReferenceNumber: order,
	})
	if err != nil {
		return durable.Write{}, err
	}
	if err := tx.Commit(); err != nil { // it may be stored all the same
		return durable.Write{ID: attempt}, err
	}
	return c.engine.Wait(ctx, attempt) // it is sent from the commit on, whatever happens
}

var errChallenge = errors.New("the bank asks the customer")

// authenticate asks whether the customer's bank has confirmed who pays. What the browser claims is no evidence.
func authenticate(ctx context.Context, client *quickstream.Client, token string, amount decimal.Decimal) error {
	result, err := client.SingleUseTokens.Authenticate(ctx, token, quickstream.AuthenticateParams{
		MessageCategory: quickstream.ThreeDSMessageCategoryPayment, Purpose: quickstream.ThreeDSPurposePayment,
		PrincipalAmount: &amount, Currency: quickstream.CurrencyAUD, Email: "ann@example.com", // the customer's, as the address
		BillingAddress: quickstream.ThreeDSAddress{Line1: "1 George St", City: "Sydney", PostCode: "2000", State: "NSW", Country: "036"},
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
	tx, err := c.db.BeginTx(r.Context(), nil)
	if err != nil {
		http.Error(w, "nothing was done", http.StatusInternalServerError)
		return
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	var payment string
	err = tx.QueryRowContext(r.Context(), `SELECT paid_by FROM orders WHERE number = ? AND state = 'paid'`, r.PathValue("order")).Scan(&payment)
	if err == nil {
		_, _, err = c.engine.Reverse(r.Context(), tx, durable.NewWrite{ID: "refund of " + payment}, payment) // a second click is the same refund
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	_, _ = fmt.Fprint(w, "The refund is on its way.")
}

// markOrder is notified of what became of a payment or a refund. A person looks at an order in the state check.
func markOrder(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
	write, state := change.Write, "check"
	switch {
	case write.Follows != "" && write.Approved():
		_, err := tx.ExecContext(ctx, `UPDATE orders SET state = 'refunded' WHERE paid_by = ?`, write.Follows)
		return err
	case write.Follows != "":
		return nil // the console shows a refund that was not made
	case write.Paid() && write.State == durable.StateApproved:
		state = "paid"
	case write.MayPayAgain():
		state = "open"
	}
	_, err := tx.ExecContext(ctx, `UPDATE orders SET state = CASE WHEN $1 = 'paid' AND amount <> $2 THEN 'check' ELSE $1 END, paid_by = $3
		WHERE number = $4 AND state NOT IN ('check', 'refunded') AND (state <> 'paid' OR paid_by = $3)`, state, write.Amount.StringFixed(2), write.ID, write.Order)
	return err
}
