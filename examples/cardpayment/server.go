package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/internal/demo"
	"github.com/quickstream-go/quickstream/sandbox"
)

// order is what the shop stores: handles and results, and of the card its mask.
// Business and Amount are the shop's own and never come from the browser.
type order struct {
	Reference   string                  `json:"reference"`
	Business    string                  `json:"business"`
	Amount      string                  `json:"amount"`
	TransStatus quickstream.TransStatus `json:"transStatus,omitempty"`
	Intent      *quickstream.Intent     `json:"intent,omitempty"` // before the payment is sent
	// Of the payment, once it is answered.
	ReceiptNumber        string              `json:"receiptNumber,omitempty"`
	Outcome              quickstream.Outcome `json:"outcome,omitempty"`
	MaskedCard           string              `json:"maskedCard,omitempty"`
	NetworkTransactionID string              `json:"networkTransactionId,omitempty"`
}

// server is the shop's. It has the secret key, and never sees a card number.
type server struct {
	client *quickstream.Client

	mu     sync.Mutex
	orders map[string]order // stand in for a database
}

func newServer(s *demo.Shop) (*server, error) {
	client, err := demo.Connect(s.Box, quickstream.Keys{Secret: quickstream.NewSecretKey(s.Box.Keys().Secret)})
	return &server{client: client, orders: map[string]order{}}, err
}

var errBegun = errors.New("the payment was begun already: look it up by its intent, or by its receipt")

// order reads an order.
func (s *server) order(reference string) order {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.orders[reference]
}

// update changes an order as it is now, in one transaction of the database: a
// customer may have two tabs open.
func (s *server) update(reference string, change func(*order)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.orders[reference]
	change(&o)
	s.orders[reference] = o
}

// begin stores the intent of the one payment that an order may have.
func (s *server) begin(reference string, intent quickstream.Intent) error {
	begun := false
	s.update(reference, func(o *order) {
		if begun = o.Intent != nil; !begun {
			o.Intent = &intent
		}
	})
	if begun {
		return errBegun
	}
	return nil
}

// submit is what the browser calls with its token, and calls again after a
// challenge. It takes no transStatus: a result that comes from a browser is
// whatever the browser says, so that the service is asked each time. Asking does
// not use the token up.
func (s *server) submit(ctx context.Context, reference, token string) (quickstream.ThreeDSStep, error) {
	o := s.order(reference)
	if o.Intent != nil {
		return quickstream.ThreeDSStepStop, errBegun
	}
	amount, err := decimal.NewFromString(o.Amount)
	if err != nil {
		return quickstream.ThreeDSStepStop, err
	}
	result, err := s.client.SingleUseTokens.Authenticate(ctx, token, quickstream.AuthenticateParams{
		MessageCategory: quickstream.ThreeDSMessageCategoryPayment, Purpose: quickstream.ThreeDSPurposePayment,
		PrincipalAmount: &amount, Currency: quickstream.CurrencyAUD, Email: "ann@example.com",
		BillingAddress: quickstream.ThreeDSAddress{Line1: "1 George St", City: "Sydney", PostCode: "2000", State: "NSW", Country: "036"},
	})
	if err != nil {
		return quickstream.ThreeDSStepStop, err // whatever it is: no authentication, no payment
	}
	s.update(reference, func(o *order) { o.TransStatus = result.TransStatus })
	step := result.TransStatus.Next()
	if step != quickstream.ThreeDSStepProceed {
		return step, nil
	}
	return step, s.pay(ctx, o, token)
}

// pay pays with an authenticated token. The hook stores the intent right before the
// payment is sent, and refuses a second one for the order: after a lost answer or a
// crash, Transactions.Resume finds the payment by it. A browser that goes away ends the
// context of its request, and not the payment.
func (s *server) pay(ctx context.Context, o order, token string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 40*time.Second)
	defer cancel()
	params := demo.Payment(token, o.Reference, o.Amount)
	params.SupplierBusinessCode = o.Business
	params.ThreeDS2 = new(true)
	payment, err := s.client.Transactions.Pay(ctx, params, quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) error {
		return s.begin(o.Reference, intent)
	}))
	if err != nil {
		return err
	}
	outcome, err := payment.Outcome() // stored even where it is not settled
	s.update(o.Reference, func(o *order) {
		o.ReceiptNumber, o.Outcome, o.NetworkTransactionID = payment.ReceiptNumber, outcome, payment.NetworkTransactionID
		if payment.CreditCard != nil {
			o.MaskedCard = payment.CreditCard.CardNumber
		}
	})
	return err
}

// showStored shows the first order as it is stored, and makes sure that the server
// has neither stored a card number nor sent one.
func showStored(s *demo.Shop, shop *server) error {
	stored, err := json.MarshalIndent(shop.order("ORDER-1"), "   ", "  ")
	if err != nil {
		return err
	}
	fmt.Printf("What is stored of the first order:\n   %s\n", stored)
	all, err := json.Marshal(shop.orders)
	if err != nil {
		return err
	}
	seen := string(all)
	for _, request := range s.Box.Requests() {
		if request.Key == sandbox.KeySecret {
			seen += string(request.Body)
		}
	}
	for _, card := range []string{
		demo.Visa, demo.NoFunds, sandbox.CardAttempted, sandbox.CardChallenge,
		sandbox.CardNotAuthenticated, sandbox.CardRejected, sandbox.CardUnavailable,
	} {
		if strings.Contains(seen, card) {
			return errors.New("a card number was on the server")
		}
	}
	return nil
}
