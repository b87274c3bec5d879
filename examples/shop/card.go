package main

import (
	"context"
	"errors"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// The next steps of the browser after it has sent a token.
const (
	nextChallenge = "challenge" // show the bank's question, and send the token again
	nextOrder     = "order"     // the payment is stored: the order's page says what becomes of it
	nextStop      = "stop"      // say Text: nothing was paid
)

// answer is the shop's answer to a token.
type answer struct {
	Next string `json:"next"`
	Text string `json:"text,omitempty"`
}

const (
	notConfirmed = "Your bank did not confirm that it is you. You have paid nothing."
	notAsked     = "Your bank cannot be asked now. You have paid nothing. Please try again later."
	oldPage      = "This page was old, and nothing was sent. Here is how the order stands."
)

// payCard pays an order with the token that the service's script has made in the browser. It is called again after a
// challenge, and never reads a result that the browser claims.
func (s *shop) payCard(ctx context.Context, id, attempt, token string) (answer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute) // also if the browser goes away
	defer cancel()
	amount := price()
	result, err := s.client.SingleUseTokens.Authenticate(ctx, token, quickstream.AuthenticateParams{
		MessageCategory: quickstream.ThreeDSMessageCategoryPayment, Purpose: quickstream.ThreeDSPurposePayment,
		PrincipalAmount: &amount, Currency: quickstream.CurrencyAUD, Email: "ann@example.com",
		BillingAddress: quickstream.ThreeDSAddress{Line1: "1 George St", City: "Sydney", PostCode: "2000", State: "NSW", Country: "036"},
	})
	if err != nil {
		return answer{nextStop, notAsked}, err // without an authentication there is no payment
	}
	switch result.TransStatus.Next() {
	case quickstream.ThreeDSStepChallenge:
		return answer{Next: nextChallenge}, nil
	case quickstream.ThreeDSStepProceed:
	default:
		return answer{nextStop, notConfirmed}, nil
	}
	created, err := s.pay(ctx, durable.NewWrite{ID: attempt, Order: id, Title: product}, quickstream.PayParams{
		Source: quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard), ThreeDS2: new(true), PrincipalAmount: amount,
		ECI: quickstream.ECIInternet, CustomerReferenceNumber: id, IPAddress: netip.MustParseAddr("203.0.113.10"), // a shop gives the customer's, from the request
	})
	switch {
	case errors.Is(err, durable.ErrOrderOpen), errors.Is(err, durable.ErrIDReused), errors.Is(err, durable.ErrTokenUsed):
		return answer{nextOrder, oldPage}, nil
	case errors.Is(err, quickstream.ErrInvalid):
		return answer{nextStop, "The card cannot be used. You have paid nothing."}, err
	case err != nil:
		return answer{nextOrder, "It is not known whether your payment was stored. Here is how the order stands."}, err
	case !created:
		return answer{nextOrder, oldPage}, nil
	}
	return answer{Next: nextOrder}, nil
}

// pay stores a payment. After the commit the engine sends it, even if this program crashes first.
func (s *shop) pay(ctx context.Context, w durable.NewWrite, params quickstream.TransactionParams) (created bool, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	if _, created, err = s.engine.Load().Pay(ctx, tx, w, params); err != nil {
		return false, err
	}
	return created, tx.Commit()
}

// attemptOf returns the id of the next payment of an order. The order's form contains it: two tabs with the same form make
// one payment, and after a decline the form has another id.
func attemptOf(order string, payments int) string { return order + "/" + strconv.Itoa(payments+1) }

// isAttempt reports whether attempt is the id of a form of the order, now or earlier.
func isAttempt(order, attempt string, payments int) bool {
	text, is := strings.CutPrefix(attempt, order+"/")
	n, err := strconv.Atoi(text)
	return is && err == nil && n > 0 && n <= payments+1
}
