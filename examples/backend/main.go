// Command backend is a merchant's backend: cards with 3D Secure, stored cards,
// PayTo with webhooks, crashes, lost answers, voids, refunds and the settlement
// report. It runs against the sandbox and tells what happens.
package main

import (
	"context"
	"fmt"
	"time"
	_ "time/tzdata" // the service's dates are Sydney's

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/internal/demo"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

func main() { demo.Main("backend", run, reportsAtOnce()) }

func reportsAtOnce() sandbox.Option {
	return sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.ReportGeneration = 0 })
}

// story is the world around the shop.
type story struct {
	*Shop
	box      *sandbox.Sandbox
	clock    *sandbox.Clock
	browser  Browser
	customer string
}

func run(ctx context.Context, d *demo.Shop) error {
	shop, err := NewShop(d.Client, NewStore(), sandbox.DefaultBusiness, d.Clock.Now)
	if err != nil {
		return err
	}
	const secret = "the subscription's secret"
	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{webhooks.NewSecret(secret)},
		webhooks.WithClock(d.Clock.Now), webhooks.WithTolerance(webhooks.StoreTolerance))
	if err != nil {
		return err
	}
	err = d.Box.Subscribe(sandbox.Subscription{Handler: shop.Webhooks(verifier), Secret: secret, Scheme: signature.AssumedHMAC{}})
	if err != nil {
		return err
	}
	customer, err := shop.Customer(ctx, "C-1", "Jo Citizen")
	if err != nil {
		return err
	}
	s := &story{Shop: shop, box: d.Box, clock: d.Clock, browser: Browser{Box: d.Box, Client: d.Client}, customer: customer}
	for _, chapter := range []func(context.Context) error{s.cards, s.lostAnswer, s.crash, s.payTo, s.moneyBack, s.report} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tell prints what is known about an order.
func (s *story) tell(order, what string) {
	for _, row := range s.Store.Rows() {
		if row.Order == order {
			fmt.Printf("%s  %-34s %-8s %s\n", order, what, row.Kind, row.Status())
		}
	}
}

func (s *story) card(ctx context.Context, order, number string) error {
	token, err := s.browser.TypeCard(ctx, number)
	if err == nil {
		_, err = s.PayByCard(ctx, order, price(), token, s.browser.Visitor())
	}
	return err
}

func (s *story) cards(ctx context.Context) error {
	if err := s.card(ctx, "ORDER-1", sandbox.CardChallenge); err != nil {
		return err
	}
	s.tell("ORDER-1", "card, challenged by its bank")

	s.box.NextTransaction(sandbox.Declined("54")) // an expired card, which the service does not retry
	for range 2 {                                 // the customer tries a second card
		if err := s.card(ctx, "ORDER-2", sandbox.CardAttempted); err != nil {
			return err
		}
	}
	s.tell("ORDER-2", "card, declined, then another card")

	token, err := s.browser.TypeCard(ctx, sandbox.CardChallenge)
	if err != nil {
		return err
	}
	account, err := s.StoreCard(ctx, s.customer, token, s.browser.Visitor())
	if err == nil {
		_, err = s.PayByStoredCard(ctx, "ORDER-3", price(), account, s.browser.Visitor())
	}
	s.tell("ORDER-3", "stored card")
	return err
}

func (s *story) lostAnswer(ctx context.Context) error {
	err := s.box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()})
	if err == nil {
		err = s.card(ctx, "ORDER-4", sandbox.CardAttempted)
	}
	s.box.ClearFaults()
	if err != nil {
		return err
	}
	s.tell("ORDER-4", "every answer lost")
	s.clock.Advance(time.Minute)
	err = s.Resolve(ctx)
	s.tell("ORDER-4", "the job has looked")
	return err
}

func (s *story) crash(ctx context.Context) error {
	token, err := s.browser.TypeCard(ctx, sandbox.CardAttempted)
	if err != nil {
		return err
	}
	params, err := s.byCard(ctx, price(), token, s.browser.Visitor())
	if err == nil {
		_, err = s.plan(ctx, "ORDER-5", params)
	}
	if err != nil {
		return err
	}
	s.tell("ORDER-5", "crash before it was sent")
	restarted, err := NewShop(s.Client, s.Store, s.Business, s.Now)
	if err == nil {
		err = restarted.Recover(ctx)
	}
	s.tell("ORDER-5", "recovered")
	return err
}

func (s *story) payTo(ctx context.Context) error {
	payer := quickstream.PayToPayerParams{
		Type: quickstream.PayerTypePerson, ID: "C-1", Name: "Jo Citizen",
		PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret(sandbox.ConfirmingPayID),
	}
	if err := s.AskToAgree(ctx, s.customer, "MANDATE-1", payer, price()); err != nil {
		return err
	}
	s.clock.Advance(time.Minute)
	if err := s.box.Flush(ctx); err != nil {
		return err
	}
	if _, err := s.PayByPayTo(ctx, "ORDER-6", price(), "MANDATE-1"); err != nil {
		return err
	}
	s.tell("ORDER-6", "PayTo, agreed to")
	s.clock.Advance(5 * time.Minute)
	err := s.box.Flush(ctx)
	s.tell("ORDER-6", "PayTo, the event has come")
	return err
}

func (s *story) moneyBack(ctx context.Context) error {
	if _, err := s.GiveBack(ctx, "ORDER-1"); err != nil {
		return err
	}
	s.tell("ORDER-1", "given back at once")
	s.clock.Advance(48 * time.Hour)
	_, err := s.GiveBack(ctx, "ORDER-3")
	s.tell("ORDER-3", "given back two days later")
	return err
}

func (s *story) report(ctx context.Context) error {
	s.clock.Advance(48 * time.Hour)
	days := map[quickstream.Date]bool{}
	for _, row := range s.Store.Rows() {
		days[row.State.Seen.SettlementDate] = true
	}
	for day := range days {
		differences, err := s.Compare(ctx, day)
		if err != nil {
			return err
		}
		if len(differences) > 0 {
			return fmt.Errorf("%s: the report and the books differ: %v", day, differences)
		}
		fmt.Printf("%s: the report and the books agree\n", day)
	}
	return nil
}

func price() decimal.Decimal { return decimal.RequireFromString("49.95") }
