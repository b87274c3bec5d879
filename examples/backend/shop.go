// Command backend is the shop of the quick start: it takes card payments, and looks up what is unknown.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"net/netip"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// Shop takes payments for orders.
type Shop struct {
	Client *quickstream.Client
	DB     *sql.DB
	Policy resolve.Policy
	Now    func() time.Time
}

// An order has at most one attempt that is held or paid, and any number that took nothing.
const schema = `
CREATE TABLE IF NOT EXISTS orders (number TEXT PRIMARY KEY, amount TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS attempts (
	key          TEXT PRIMARY KEY,
	order_number TEXT NOT NULL REFERENCES orders,
	state        TEXT NOT NULL, -- held, paid or free
	look_at      INTEGER,       -- when to look it up
	resolve_case TEXT NOT NULL,
	receipt      TEXT           -- the service's number, to refund and to compare
);
CREATE UNIQUE INDEX IF NOT EXISTS one_attempt ON attempts (order_number) WHERE state <> 'free';`

// Pay takes one payment with a token from the customer's browser. It returns the order's state.
func (s *Shop) Pay(ctx context.Context, order, token string, ip netip.Addr) (state string, err error) {
	ctx = context.WithoutCancel(ctx) // a closed browser must not cut off a payment
	limited, cancel := context.WithTimeout(ctx, 40*time.Second)
	defer cancel()
	var amount decimal.Decimal
	if err := s.DB.QueryRowContext(ctx, `SELECT amount FROM orders WHERE number = ?`, order).Scan(&amount); err != nil {
		return "", err
	}
	var key, begun string
	payment, err := s.Client.Transactions.Pay(limited, quickstream.PayParams{
		Source: quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard), PrincipalAmount: amount,
		ECI: quickstream.ECIInternet, IPAddress: ip, CustomerReferenceNumber: order,
	}, quickstream.WithBeforeSend(func(ctx context.Context, intent quickstream.Intent) error {
		key, begun = intent.IdempotencyKey, encode(resolve.Begin(intent, s.Now()))
		_, err := s.DB.ExecContext(ctx, `INSERT INTO attempts VALUES (?, ?, 'held', ?, ?, NULL)`, key, order, s.Now().Add(time.Minute).Unix(), begun)
		return err // the order is held or paid already: nothing is sent
	}))
	result := resolve.After(payment, err, s.Now())
	switch {
	case result.Status == resolve.ResultRefused, result.Status == resolve.ResultEnded && result.Outcome != quickstream.OutcomeApproved:
		err = errors.Join(err, s.save(ctx, key, begun, "free", "", nil)) // this call took nothing, and err says why
	case result.Status == resolve.ResultEnded:
		err = s.save(ctx, key, begun, "paid", payment.ReceiptNumber, result.Case)
	case result.Case != nil: // pending or unknown
		err = s.save(ctx, key, begun, "held", "", result.Case)
	}
	return s.State(ctx, order), err
}

// State returns whether an order is paid, held or free to be paid.
func (s *Shop) State(ctx context.Context, order string) (state string) {
	err := s.DB.QueryRowContext(ctx, `SELECT state FROM attempts WHERE order_number = ? AND state <> 'free'`, order).Scan(&state)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "free"
	case err != nil:
		return "held" // the database does not answer
	}
	return state
}

// Resolve looks up what is due, and what a crash left. Call it every few seconds.
func (s *Shop) Resolve(ctx context.Context) error {
	rows, err := s.DB.QueryContext(ctx, `SELECT resolve_case FROM attempts WHERE look_at <= ?`, s.Now().Unix())
	if err != nil {
		return err
	}
	var due []string
	for rows.Next() {
		var stored string
		err = errors.Join(err, rows.Scan(&stored))
		due = append(due, stored)
	}
	err = errors.Join(err, rows.Close(), rows.Err())
	for _, stored := range due {
		err = errors.Join(err, s.look(ctx, stored))
	}
	return err
}

func (s *Shop) look(ctx context.Context, stored string) error {
	var c resolve.Case
	if err := json.Unmarshal([]byte(stored), &c); err != nil {
		return err
	}
	c = s.Policy.Next(c, s.Policy.LookUp(ctx, s.Client.Transactions, c), s.Now())
	state := "held"
	switch {
	case c.Status == resolve.StatusSettled && c.Outcome == quickstream.OutcomeApproved:
		state = "paid"
	case c.Status == resolve.StatusSettled:
		state = "free"
	case c.Status.Final():
		log.Printf("attempt %s is %s, a person decides: %v", c.Intent.IdempotencyKey, c.Status, c.Receipts())
	}
	return s.save(ctx, c.Intent.IdempotencyKey, stored, state, c.Seen.ReceiptNumber, &c)
}

// save stores the state of an attempt, unless its row has changed since it was read.
func (s *Shop) save(ctx context.Context, key, old, state, receipt string, c *resolve.Case) error {
	next, lookAt := old, sql.NullInt64{}
	if c != nil {
		next, lookAt = encode(*c), sql.NullInt64{Int64: c.NextLook.Unix(), Valid: !c.NextLook.IsZero()}
	}
	_, err := s.DB.ExecContext(ctx, `UPDATE attempts SET state = ?, look_at = ?, resolve_case = ?, receipt = ? WHERE key = ? AND resolve_case = ?`,
		state, lookAt, next, receipt, key, old)
	return err
}

func encode(c resolve.Case) string {
	text, _ := json.Marshal(c) // a Case can always be encoded
	return string(text)
}

// Handler serves POST /orders/{number}/payments, whose form has the token.
func (s *Shop) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders/{number}/payments", func(w http.ResponseWriter, r *http.Request) {
		from, _ := netip.ParseAddrPort(r.RemoteAddr) // the customer's public address: behind a proxy it is in a header
		state, err := s.Pay(r.Context(), r.PathValue("number"), r.PostFormValue("token"), from.Addr())
		if err != nil {
			log.Print(err)
		}
		switch state {
		case "":
			http.Error(w, "The order cannot be read. You have paid nothing.", http.StatusInternalServerError)
		case "paid":
			_, _ = w.Write([]byte("Thank you.\n"))
		case "free":
			http.Error(w, "You have paid nothing: try again, or take another card.", http.StatusPaymentRequired)
		default:
			http.Error(w, "We are checking your payment. Do not pay again.", http.StatusAccepted)
		}
	})
	return mux
}
