// Command backend is the program of the tutorial: it pays, holds, resolves and frees orders.
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

// An order has any number of attempts that took nothing, and one that is held or paid.
const schema = `
CREATE TABLE IF NOT EXISTS orders (number TEXT PRIMARY KEY, amount TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS attempts (
	key          TEXT PRIMARY KEY,                   -- the idempotency key
	order_number TEXT NOT NULL REFERENCES orders,
	state        TEXT NOT NULL,                      -- held, paid or free
	look_at      INTEGER,                            -- when to look it up; NULL is never
	resolve_case TEXT NOT NULL                       -- of package resolve, as JSON
);
CREATE UNIQUE INDEX IF NOT EXISTS one_attempt ON attempts (order_number) WHERE state <> 'free';`

// The customer waits for an answer so long, and the job looks for it a little later.
const (
	longest = 40 * time.Second
	later   = time.Minute
)

// Pay takes one payment with the token that the customer's browser made, and returns the order's state.
func (s *Shop) Pay(ctx context.Context, order, token string, ip netip.Addr) (state string, err error) {
	ctx = context.WithoutCancel(ctx) // a closed browser ends nothing
	limited, cancel := context.WithTimeout(ctx, longest)
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
		_, err := s.DB.ExecContext(ctx, `INSERT INTO attempts VALUES (?, ?, 'held', ?, ?)`, key, order, s.Now().Add(later).Unix(), begun)
		return err // the unique index: the order is held or paid, and nothing is sent
	}))
	result := resolve.After(payment, err, s.Now())
	switch {
	case result.Status == resolve.ResultRefused, result.Status == resolve.ResultEnded && result.Outcome != quickstream.OutcomeApproved:
		err = s.save(ctx, key, begun, "free", nil) // this call took nothing
	case result.Status == resolve.ResultEnded:
		err = s.save(ctx, key, begun, "paid", result.Case)
	case result.Case != nil:
		err = s.save(ctx, key, begun, "held", result.Case)
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
		return "held" // as long as nobody knows
	}
	return state
}

// Resolve looks up what is due. It is a job of every few seconds, also for what a crash left.
func (s *Shop) Resolve(ctx context.Context) error {
	rows, err := s.DB.QueryContext(ctx, `SELECT key, order_number, resolve_case FROM attempts WHERE look_at <= ?`, s.Now().Unix())
	if err != nil {
		return err
	}
	due := [][3]string{}
	for rows.Next() {
		var row [3]string
		if err = rows.Scan(&row[0], &row[1], &row[2]); err != nil {
			break
		}
		due = append(due, row)
	}
	err = errors.Join(err, rows.Close(), rows.Err())
	for _, row := range due {
		key, order, stored := row[0], row[1], row[2]
		var c resolve.Case
		if decoded := json.Unmarshal([]byte(stored), &c); decoded != nil {
			err = errors.Join(err, decoded)
			continue
		}
		c = s.Policy.Next(c, s.Policy.LookUp(ctx, s.Client.Transactions, c), s.Now())
		state := "held"
		switch {
		case c.Status == resolve.StatusSettled && c.Outcome == quickstream.OutcomeApproved:
			state = "paid"
		case c.Status == resolve.StatusSettled:
			state = "free"
		case c.Status.Final():
			log.Printf("%s: a person decides, it is %s: %v", order, c.Status, c.Receipts())
		}
		err = errors.Join(err, s.save(ctx, key, stored, state, &c))
	}
	return err
}

// save stores what an attempt has come to, unless its row has changed meanwhile.
func (s *Shop) save(ctx context.Context, key, old, state string, c *resolve.Case) error {
	next, lookAt := old, sql.NullInt64{}
	if c != nil {
		next, lookAt = encode(*c), sql.NullInt64{Int64: c.NextLook.Unix(), Valid: !c.NextLook.IsZero()}
	}
	_, err := s.DB.ExecContext(ctx, `UPDATE attempts SET state = ?, look_at = ?, resolve_case = ? WHERE key = ? AND resolve_case = ?`,
		state, lookAt, next, key, old)
	return err
}

func encode(c resolve.Case) string {
	text, _ := json.Marshal(c) // cannot fail: it has no channels and no functions
	return string(text)
}

// Handler serves POST /orders/{number}/payment, with the form that the browser's token is in.
func (s *Shop) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders/{number}/payment", func(w http.ResponseWriter, r *http.Request) {
		from, _ := netip.ParseAddrPort(r.RemoteAddr) // behind a proxy the address is in a header
		state, err := s.Pay(r.Context(), r.PathValue("number"), r.PostFormValue("singleUseTokenId"), from.Addr())
		if err != nil {
			log.Print(err) // the row says what follows
		}
		switch state {
		case "":
			http.Error(w, "There is no such order.", http.StatusNotFound)
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
