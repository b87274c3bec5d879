package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// Shop is the merchant's backend. It holds nothing that a crash could lose.
type Shop struct {
	Client   *quickstream.Client
	Store    *Store
	Business string
	Policy   resolve.Policy
	Now      func() time.Time
}

// NewShop returns a shop at a facility that lets the service retry soft declines.
func NewShop(client *quickstream.Client, store *Store, business string, now func() time.Time) *Shop {
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesFor(4 * 24 * time.Hour))
	return &Shop{Client: client, Store: store, Business: business, Policy: policy, Now: now}
}

// collect takes an order's payment: plan, store, send.
func (s *Shop) collect(ctx context.Context, order string, params quickstream.PayParams) (Row, error) {
	row, err := s.plan(ctx, order, params)
	if err != nil {
		return row, err
	}
	return s.send(ctx, row)
}

func (s *Shop) plan(ctx context.Context, order string, params quickstream.PayParams) (Row, error) {
	params.SupplierBusinessCode = s.Business
	params.Currency = quickstream.CurrencyAUD
	params.CustomerReferenceNumber = order
	intent, err := s.Client.Transactions.Plan(ctx, params)
	if err != nil {
		return Row{}, err
	}
	row := Row{Order: order, Kind: quickstream.TransactionTypePayment, Cents: params.PrincipalAmount.Shift(2).IntPart()}
	return s.insert(row, intent)
}

// insert stores a planned row. A void has a key, and no reference.
func (s *Shop) insert(row Row, intent quickstream.Intent) (Row, error) {
	row.Key = cmp.Or(intent.Reference, intent.IdempotencyKey)
	row.State.Intent = intent
	return row, s.Store.Insert(row)
}

// longest is what a customer waits for a payment. What is not known by then the job
// looks up. The server's WriteTimeout has to be longer.
const longest = 40 * time.Second

// send sends a planned row, unless a process has done so before, and returns what is
// known about it. A browser that goes away meanwhile ends nothing.
func (s *Shop) send(ctx context.Context, row Row) (Row, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
	defer cancel()
	t, err := s.Client.Transactions.Submit(ctx, row.State.Intent, s.Store.Claim(row.Key, s.Now()))
	unknown, isUnknown := errors.AsType[*quickstream.UnknownOutcomeError](err)
	switch {
	case err == nil:
		return s.learn(row.Key, t)
	case isUnknown && errors.Is(unknown.Cause, ErrClaimed):
		return row, ErrClaimed
	case isUnknown:
		return s.Store.Update(row.Key, func(r *Row) { r.State = resolve.Begin(*unknown.Intent, s.Now()) })
	default:
		row, stored := s.Store.Update(row.Key, func(r *Row) { r.Refused = true })
		return row, errors.Join(err, stored)
	}
}

// learn takes over what the service says about a row's transaction by itself, in
// an answer or an event. It counts after an escalation too.
func (s *Shop) learn(key string, t *quickstream.Transaction) (Row, error) {
	return s.Store.Update(key, func(r *Row) {
		r.State = s.Policy.Next(resolve.BeginTransaction(t, s.Now()), resolve.ObserveTransaction(t), s.Now())
	})
}

// Recover sends what a crash left planned. It runs when the process starts.
func (s *Shop) Recover(ctx context.Context) error {
	var failed error
	for _, row := range s.Store.Rows() {
		if !row.Sent && row.Status() == Open {
			_, err := s.send(ctx, row)
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// Resolve looks once at every row that is open and due, those too that are absent or
// escalated, and for agreements that are not known to exist. It is the nightly job.
func (s *Shop) Resolve(ctx context.Context) error {
	var failed error
	for _, row := range s.Store.Rows() {
		if row.Sent && row.Status() == Open && !row.State.NextLook.IsZero() && !row.State.NextLook.After(s.Now()) {
			seen := s.Policy.LookUp(ctx, s.Client.Transactions, row.State)
			_, err := s.Store.Update(row.Key, func(r *Row) { r.State = s.Policy.Next(r.State, seen, s.Now()) })
			failed = errors.Join(failed, err)
		}
	}
	for _, mandate := range s.Store.Mandates() {
		if mandate.Token == "" {
			if agreement, err := s.Client.PayTo.Resume(ctx, mandate.Intent); err == nil {
				failed = errors.Join(failed, s.Store.SetMandate(agreement))
			}
		}
	}
	return failed
}
