package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// checkoutData is what the checkout shows.
type checkoutData struct {
	Order   order
	Payment string // the id of the payment that this page's forms make, and no other page's
	Monthly bool   // to be agreed to, and collected each month
	Cards   []card
	Notice  string // why the customer is here again
	// Surcharges are what the service adds to payments by kinds of cards. Surcharged without any says that it was not told.
	Surcharges []*quickstream.CardSurcharge
	Surcharged bool
}

// checkout shows how an order can be paid. One that has a payment which is not known to
// have failed is not to be paid: its page says how it stands.
func (s *server) checkout(w http.ResponseWriter, r *http.Request) {
	o, err := s.orderOf(r)
	if err != nil {
		s.missing(w, r, err)
		return
	}
	p, there, err := s.paymentOf(r.Context(), o.ID)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if there && p.Blocks() {
		toOrder(w, r, o)
		return
	}
	a, err := scanAgreement(s.db.QueryRowContext(r.Context(), "SELECT "+agreementColumns+" FROM shop_agreement WHERE reference = ?", o.Agreement).Scan)
	if err == nil && !there && !a.Ended() {
		http.Redirect(w, r, "/payto/"+a.Reference, http.StatusSeeOther)
		return
	}
	cards, err := s.cardsOf(r.Context(), o.Visitor)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	surcharges, err := s.surcharges(r.Context())
	s.show(w, r, http.StatusOK, "checkout", "Checkout", checkoutData{
		// A collection that has failed can be paid as anything else.
		Order: o, Payment: newPayment(o), Monthly: o.Product().Monthly && !there, Cards: cards, Notice: r.URL.Query().Get("notice"),
		Surcharges: surcharges, Surcharged: err != nil || len(surcharges) > 0,
	})
}

// surcharges reads what the service adds to payments by card.
func (s *server) surcharges(ctx context.Context) ([]*quickstream.CardSurcharge, error) {
	limited, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	list, err := s.client.Businesses.CardSurcharges(s.config.Business).ReadAll(limited)
	if err != nil {
		s.logger.InfoContext(ctx, "the surcharges were not read", "error", err)
	}
	return slices.DeleteFunc(list, func(c *quickstream.CardSurcharge) bool {
		percentage, err := decimal.NewFromString(c.SurchargePercentage)
		return err == nil && percentage.IsZero()
	}), err
}

// newPayment returns a new id for an attempt to pay an order. A form that is sent again has the same
// one, so that it pays once.
func newPayment(o order) string { return o.ID + "-" + strings.ToLower(rand.Text()[:10]) }

// paymentIn returns the id in a form, or "" if it is none of the order's.
func paymentIn(r *http.Request, o order) string {
	id := r.PostFormValue("payment")
	if !strings.HasPrefix(id, o.ID+"-") || len(id) != len(newPayment(o)) {
		return ""
	}
	return id
}

func toOrder(w http.ResponseWriter, r *http.Request, o order) {
	http.Redirect(w, r, "/orders/"+o.ID, http.StatusSeeOther)
}

// back leads to the checkout again, which says why. Nothing was charged.
func back(w http.ResponseWriter, r *http.Request, o order, notice string) {
	http.Redirect(w, r, "/checkout/"+o.ID+"?"+url.Values{"notice": {notice}}.Encode(), http.StatusSeeOther)
}

// pay takes an order's payment, once: by a single-use token that the service's script
// has made of a card in the browser, by a stored card, or by PayTo. Pressed again, or in
// another tab, it leads to the payment that is there.
func (s *server) pay(w http.ResponseWriter, r *http.Request) {
	o, err := s.orderOf(r)
	if err != nil {
		s.missing(w, r, err)
		return
	}
	p, there, err := s.paymentOf(r.Context(), o.ID)
	o.Payment = paymentIn(r, o)
	switch {
	case err != nil:
		s.fail(w, r, err)
	case there && (p.Blocks() || p.ID == o.Payment):
		toOrder(w, r, o)
	case o.Product().Monthly && !there: // which is agreed to first
		http.Redirect(w, r, "/checkout/"+o.ID, http.StatusSeeOther)
	case o.Payment == "":
		back(w, r, o, "incomplete")
	case r.PostFormValue("card") != "":
		s.payByStoredCard(w, r, o)
	case r.PostFormValue("payid") != "":
		s.payByPayTo(w, r, o)
	case r.PostFormValue("token") != "":
		s.payByToken(w, r, o)
	default:
		back(w, r, o, "incomplete")
	}
}

// payByToken authenticates the cardholder first.
func (s *server) payByToken(w http.ResponseWriter, r *http.Request, o order) {
	o.Token = r.PostFormValue("token")
	o.Address = quickstream.ThreeDSAddress{
		Line1: r.PostFormValue("street"), City: r.PostFormValue("city"), PostCode: r.PostFormValue("postcode"),
		State: r.PostFormValue("state"), Country: "036",
	}
	if o.Save = r.PostFormValue("save") != ""; o.Save {
		if err := s.ensureCustomer(r.Context(), o.Visitor); err != nil {
			back(w, r, o, "busy")
			return
		}
	}
	address, err := json.Marshal(o.Address)
	if err == nil {
		_, err = s.db.ExecContext(r.Context(), "UPDATE shop_order SET save = ?, address = ? WHERE id = ?", o.Save, string(address), o.ID)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.authenticate(w, r, o)
}

// params describe the payment of an order.
func (s *server) params(o order) quickstream.PayParams {
	return quickstream.PayParams{
		PrincipalAmount: decimal.New(o.Amount, -2), Currency: quickstream.CurrencyAUD, CustomerReferenceNumber: o.ID,
	}
}

// byCard describes the payment of an order by a card that the customer is there to use.
func (s *server) byCard(r *http.Request, o order, source quickstream.CardSource, mode quickstream.EntryMode) quickstream.PayParams {
	params := s.params(o)
	params.Source, params.ECI, params.IPAddress = source, quickstream.ECIInternet, addressOf(r)
	params.StoredCredential = &quickstream.StoredCredentialData{EntryMode: mode}
	return params
}

// commit stores the payment, which is sent from then on whatever happens, gives it a
// moment, and shows the order.
func (s *server) commit(w http.ResponseWriter, r *http.Request, o order, params quickstream.PayParams) {
	ctx := r.Context()
	err := s.within(ctx, func(tx *sql.Tx) error {
		_, created, err := s.engine.Pay(ctx, tx, durable.NewWrite{ID: o.Payment, Order: o.ID}, params)
		if err != nil || !created {
			return err
		}
		if err = s.begun(ctx, tx, o.ID); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE shop_order SET state = ?, token = '' WHERE id = ?", statePaying, o.ID)
		return err
	})
	switch {
	case errors.Is(err, quickstream.ErrInvalid), errors.Is(err, durable.ErrTokenUsed):
		s.logger.InfoContext(ctx, "a payment was refused before it was sent", "error", err)
		back(w, r, o, "refused")
		return
	case isPaid(err): // by another tab, or by another form of this page
	case err != nil:
		s.fail(w, r, err)
		return
	}
	limited, cancel := context.WithTimeout(r.Context(), moment)
	defer cancel()
	_, _ = s.engine.Wait(limited, o.Payment) // the order's page says what is known, and goes on asking
	toOrder(w, r, o)
}

// isPaid reports an error that says that the order has a payment, or that its form has made one.
func isPaid(err error) bool {
	return errors.Is(err, durable.ErrOrderOpen) || errors.Is(err, durable.ErrIDReused)
}
