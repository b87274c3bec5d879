package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// product is something to buy.
type product struct {
	ID, Name, About string
	Cents           int64
	Monthly         bool // collected each month by PayTo
}

func products() []product {
	return []product{
		{ID: "beans", Name: "Coffee beans", About: "500 g, roasted this week.", Cents: 2490},
		{ID: "pot", Name: "Teapot", About: "Stoneware, holds a litre.", Cents: 6400},
		{ID: "cup", Name: "Cup", About: "Stoneware, goes with the teapot.", Cents: 1250},
		{ID: "monthly", Name: "Coffee every month", About: "500 g on the same day of each month, paid by PayTo.", Cents: 2200, Monthly: true},
	}
}

func productOf(id string) (product, bool) {
	for _, p := range products() {
		if p.ID == id {
			return p, true
		}
	}
	return product{}, false
}

// order is what somebody buys.
type order struct {
	ID, Visitor, Item string
	Amount, Returned  int64
	State             string // new, challenge, paying, or the name of its payment's standing
	Token             string
	Payment           string // the id of the attempt that is made
	Address           quickstream.ThreeDSAddress
	Save              bool
	Agreement         string
	Charges           int // payments that were taken, some of which may be given back
}

// Product is what the order is for; of one that is not sold any more it is empty.
func (o order) Product() product {
	for _, p := range products() {
		if p.Name == o.Item {
			return p
		}
	}
	return product{}
}

// open reports whether the order has a payment whose outcome is unknown.
func (o order) open() bool {
	return o.State == statePaying || o.State == string(durable.StateNotFound) || o.State == string(durable.StateEscalated)
}

// The states of an order before its payment has an outcome, and two of those that it has then.
const (
	stateNew           = "new"
	stateChallenge     = "challenge" // the card's bank asks the customer
	statePaying        = "paying"    // a payment is stored
	stateApproved      = string(quickstream.OutcomeApproved)
	stateDoubleCharged = string(durable.StateDoubleCharged)
)

// payable is the condition of an order that can be paid: another tab has not paid it meanwhile.
const payable = "state IN ('new', 'challenge', 'declined', 'rejected', 'refused', 'not_sent', 'voided', 'returned')"

// catalogue shows what there is to buy, and what this visitor has bought.
func (s *server) catalogue(w http.ResponseWriter, r *http.Request) {
	mine, err := s.ordersOf(r.Context(), visitorOf(r).number)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, http.StatusOK, "catalogue", "Shop", struct {
		Products []product
		Orders   []order
	}{products(), mine})
}

// placeOrder writes an order. Nothing is charged before its checkout.
func (s *server) placeOrder(w http.ResponseWriter, r *http.Request) {
	p, ok := productOf(r.PostFormValue("item"))
	if !ok {
		s.notFound(w, r)
		return
	}
	id := strings.ToLower(rand.Text()[:16]) // of 80 random bits: no other order ever had it
	_, err := s.db.ExecContext(r.Context(), "INSERT INTO shop_order (id, visitor, item, amount, created) VALUES (?, ?, ?, ?, ?)",
		id, visitorOf(r).number, p.Name, p.Cents, micros(s.clock.Now()))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/checkout/"+id, http.StatusSeeOther)
}

const orderColumns = "id, visitor, item, amount, returned, state, token, payment, address, save, agreement, (SELECT count(*) FROM shop_write WHERE order_id = shop_order.id AND " + taken + ")"

func scanOrder(scan func(...any) error) (o order, err error) {
	var address string
	err = scan(&o.ID, &o.Visitor, &o.Item, &o.Amount, &o.Returned, &o.State, &o.Token, &o.Payment, &address, &o.Save, &o.Agreement, &o.Charges)
	if err == nil && address != "" {
		err = json.Unmarshal([]byte(address), &o.Address)
	}
	return o, err
}

// orderOf returns the order that a request names. One of another visitor is not found.
func (s *server) orderOf(r *http.Request) (order, error) {
	return scanOrder(s.db.QueryRowContext(r.Context(), "SELECT "+orderColumns+" FROM shop_order WHERE id = ? AND visitor = ?",
		r.PathValue("order"), visitorOf(r).number).Scan)
}

func (s *server) ordersOf(ctx context.Context, visitor string) ([]order, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT "+orderColumns+" FROM shop_order WHERE visitor = ? ORDER BY created DESC, rowid DESC LIMIT 50", visitor)
	if err != nil {
		return nil, err
	}
	return all(rows, scanOrder)
}

// paymentOf returns the payment of an order that counts, and false where it has none. Where
// durable's has failed or was given back, and the money of another one is here, it is that.
func (s *server) paymentOf(ctx context.Context, orderID string) (durable.Payment, bool, error) {
	p, err := s.engine.PaymentOf(ctx, orderID)
	if errors.Is(err, durable.ErrNoWrite) {
		return p, false, nil
	}
	if err != nil || p.State.Open() && p.State != durable.StateDoubleCharged {
		return p, err == nil, err
	}
	list, err := charges(ctx, s.db, orderID)
	left := current(list)
	if err == nil && len(left) > 0 && !slices.ContainsFunc(left, func(c charge) bool { return c.ID == p.ID }) {
		var w durable.Write
		if w, err = s.engine.Write(ctx, left[0].ID); err == nil {
			p = durable.Payment{Record: w.Common()}
		}
	}
	return p, err == nil, err
}

// missing answers where an order could not be read.
func (s *server) missing(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, sql.ErrNoRows) {
		s.notFound(w, r)
		return
	}
	s.fail(w, r, err)
}
