package store

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// What a customer waits for an answer of the service, and what a page waits for something
// that it can do without.
const (
	patience = 15 * time.Second
	moment   = 3 * time.Second
)

// authenticated is where the browser goes when the bank's challenge is over. What it says
// about the result is worth nothing: the service is asked again.
func (s *server) authenticated(w http.ResponseWriter, r *http.Request) {
	o, err := s.orderOf(r)
	if err != nil {
		s.missing(w, r, err)
		return
	}
	if o.State != stateChallenge || o.Token == "" {
		toOrder(w, r, o)
		return
	}
	s.authenticate(w, r, o)
}

// authenticate asks the card's bank whether it is the cardholder who pays, and does what
// the answer says.
func (s *server) authenticate(w http.ResponseWriter, r *http.Request, o order) {
	amount := decimal.New(o.Amount, -2)
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	result, err := s.client.SingleUseTokens.Authenticate(ctx, o.Token, quickstream.AuthenticateParams{
		MessageCategory: quickstream.ThreeDSMessageCategoryPayment,
		Purpose:         quickstream.ThreeDSPurposePayment,
		PrincipalAmount: &amount,
		Currency:        quickstream.CurrencyAUD,
		BillingAddress:  o.Address,
	})
	if err != nil {
		s.logger.InfoContext(r.Context(), "a card was not authenticated", "error", err)
		s.notAuthenticated(w, r, o, noticeOf(err))
		return
	}
	switch result.TransStatus.Next() {
	case quickstream.ThreeDSStepProceed:
		params := s.byCard(r, o, quickstream.FromSingleUseToken(o.Token, quickstream.AccountTypeCreditCard), quickstream.EntryModeManual)
		params.ThreeDS2 = new(true)
		s.commit(w, r, o, params)
	case quickstream.ThreeDSStepChallenge:
		// Not where another tab has paid meanwhile: the order's page shows the payment then.
		if _, err := s.db.ExecContext(r.Context(), "UPDATE shop_order SET state = ?, token = ?, payment = ? WHERE id = ? AND "+payable,
			stateChallenge, o.Token, o.Payment, o.ID); err != nil {
			s.fail(w, r, err)
			return
		}
		if o.State == stateChallenge { // it was asked before, and the bank has no answer
			http.Redirect(w, r, "/orders/"+o.ID+"?unanswered", http.StatusSeeOther)
			return
		}
		toOrder(w, r, o)
	default:
		s.notAuthenticated(w, r, o, "not-authenticated")
	}
}

// noticeOf says why there is no result. None of these is a reason to pay without one.
func noticeOf(err error) string {
	switch {
	case errors.Is(err, quickstream.ErrThreeDSNotEnabled):
		return "not-enabled"
	case errors.Is(err, quickstream.ErrNotFound): // unknown, used, or older than ten minutes
		return "expired"
	case errors.Is(err, quickstream.ErrInvalid):
		return "refused"
	default:
		return "busy"
	}
}

// notAuthenticated leads back to the checkout, unless the order was paid in another tab:
// the token is used up then.
func (s *server) notAuthenticated(w http.ResponseWriter, r *http.Request, o order, notice string) {
	p, there, err := s.paymentOf(r.Context(), o.ID)
	if err == nil && there && p.Blocks() {
		toOrder(w, r, o)
		return
	}
	if err == nil {
		_, err = s.db.ExecContext(r.Context(), "UPDATE shop_order SET state = ?, token = '' WHERE id = ? AND state = ?", stateNew, o.ID, stateChallenge)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	back(w, r, o, notice)
}
