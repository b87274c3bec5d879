// Command backend is a merchant's backend: cards with 3D Secure, stored cards,
// PayTo with webhooks, crashes, lost answers, voids, refunds and the settlement
// report. It runs against the sandbox and tells what happens.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/internal/demo"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

func main() {
	demo.Main("backend", run, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.ReportGeneration = 0 }))
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
	shop := NewShop(d.Client, NewStore(), sandbox.DefaultBusiness, d.Clock.Now)
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
	for _, step := range []struct {
		order, what string
		do          func(ctx context.Context, order string) error
		want        Status // of the order's last row
	}{
		{"ORDER-1", "card, challenged by its bank", s.card, Done},
		{"ORDER-2", "card, declined", s.declinedCard, Failed},
		{"ORDER-2", "another card", s.card, Done},
		{"ORDER-3", "stored card", s.storedCard, Done},
		{"ORDER-4", "card, every answer lost", s.lostAnswers, Open},
		{"ORDER-4", "the job has looked", s.job, Done},
		{"ORDER-5", "card, crash before it was sent", s.crash, Open},
		{"ORDER-5", "recovered", s.restart, Done},
		{"ORDER-6", "PayTo, agreed to", s.payTo, Open},
		{"ORDER-6", "PayTo, the event has come", s.event, Done},
		{"ORDER-1", "given back at once", s.giveBack, Done},
		{"ORDER-3", "given back two days later", s.giveBackLater, Done},
	} {
		if err := step.do(ctx, step.order); err != nil {
			return fmt.Errorf("%s, %s: %w", step.order, step.what, err)
		}
		row := s.last(step.order)
		fmt.Printf("%s  %-30s  %-7s  %s\n", step.order, step.what, row.Kind, row.Status())
		if row.Status() != step.want {
			return fmt.Errorf("it should be %s", step.want)
		}
	}
	return s.report(ctx)
}

// last returns the last row of an order.
func (s *story) last(order string) (last Row) {
	for _, row := range s.Store.Rows() {
		if row.Order == order {
			last = row
		}
	}
	return last
}

func (s *story) card(ctx context.Context, order string) error {
	token, err := s.browser.TypeCard(ctx, sandbox.CardChallenge)
	if err == nil {
		_, err = s.PayByCard(ctx, order, price(), token, s.browser.Visitor())
	}
	return err
}

func (s *story) declinedCard(ctx context.Context, order string) error {
	s.box.NextTransaction(sandbox.Declined("54")) // an expired card, which the service does not retry
	return s.card(ctx, order)
}

func (s *story) storedCard(ctx context.Context, order string) error {
	token, err := s.browser.TypeCard(ctx, sandbox.CardChallenge)
	if err != nil {
		return err
	}
	account, err := s.StoreCard(ctx, s.customer, token, s.browser.Visitor())
	if err == nil {
		_, err = s.PayByStoredCard(ctx, order, price(), account, s.browser.Visitor())
	}
	return err
}

func (s *story) lostAnswers(ctx context.Context, order string) error {
	err := s.box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()})
	if err == nil {
		err = s.card(ctx, order)
	}
	s.box.ClearFaults()
	return err
}

func (s *story) job(ctx context.Context, _ string) error {
	s.clock.Advance(time.Minute)
	return s.Resolve(ctx)
}

func (s *story) crash(ctx context.Context, order string) error {
	token, err := s.browser.TypeCard(ctx, sandbox.CardAttempted)
	if err != nil {
		return err
	}
	params, err := s.byCard(ctx, price(), token, s.browser.Visitor())
	if err == nil {
		_, err = s.plan(ctx, order, params)
	}
	return err
}

func (s *story) restart(ctx context.Context, _ string) error {
	return NewShop(s.Client, s.Store, s.Business, s.Now).Recover(ctx)
}

func (s *story) payTo(ctx context.Context, order string) error {
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
	_, err := s.PayByPayTo(ctx, order, price(), "MANDATE-1")
	return err
}

func (s *story) event(ctx context.Context, _ string) error {
	s.clock.Advance(5 * time.Minute)
	return s.box.Flush(ctx)
}

func (s *story) giveBack(ctx context.Context, order string) error {
	_, err := s.GiveBack(ctx, order)
	return err
}

func (s *story) giveBackLater(ctx context.Context, order string) error {
	s.clock.Advance(48 * time.Hour)
	return s.giveBack(ctx, order)
}

// report compares each settlement date of the books with the service's report.
func (s *story) report(ctx context.Context) error {
	s.clock.Advance(48 * time.Hour)
	compared := map[quickstream.Date]bool{}
	for _, row := range s.Store.Rows() {
		day := row.State.Seen.SettlementDate
		if compared[day] {
			continue
		}
		compared[day] = true
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
