// Package demo holds what the example programs share: a sandbox with a client of
// it, and a program's beginning and end.
package demo

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// The vendor's public test cards. The last two digits decide.
const (
	Visa       = "4242424242424242"
	Mastercard = "5163200000000008"
	Amex       = "340000000636513"
	NoFunds    = "4111111111444496"
)

// Shop is a merchant with a sandbox in place of the service.
type Shop struct {
	Box    *sandbox.Sandbox
	Clock  *sandbox.Clock
	Client *quickstream.Client
}

// Main runs an example against a new sandbox whose clock stands still until it
// is advanced, and ends the program. The options are the sandbox's.
func Main(name string, run func(ctx context.Context, s *Shop) error, opts ...sandbox.Option) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	err := Run(ctx, run, opts...)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
	fmt.Println("\nEverything was as expected.")
}

// Run runs an example as Main does, and returns its error.
func Run(ctx context.Context, run func(context.Context, *Shop) error, opts ...sandbox.Option) error {
	clock := sandbox.NewClock(time.Now())
	box := sandbox.New(append([]sandbox.Option{
		sandbox.WithClock(clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.LookupLag = 0 }),
	}, opts...)...)
	defer box.Close()
	client, err := Connect(box, sandboxtest.Keys(box))
	if err != nil {
		return err
	}
	return run(ctx, &Shop{Box: box, Clock: clock, Client: client})
}

// Connect makes a client of a sandbox.
func Connect(box *sandbox.Sandbox, keys quickstream.Keys) (*quickstream.Client, error) {
	return quickstream.NewClient(quickstream.CustomURL(box.URL()), keys, quickstream.WithHTTPClient(box.HTTPClient()), quickstream.WithClock(box.Now))
}

// Payment describes an order over the Internet that is paid with a token.
func Payment(token, reference, amount string) quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode:   sandbox.DefaultBusiness,
		Source:                 quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard),
		PrincipalAmount:        decimal.RequireFromString(amount),
		Currency:               quickstream.CurrencyAUD,
		ECI:                    quickstream.ECIInternet,
		IPAddress:              Customer(),
		StoredCredential:       &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		PaymentReferenceNumber: reference,
	}
}

// Customer is the address that the customer's browser comes from.
func Customer() netip.Addr { return netip.MustParseAddr("203.0.113.10") }

// Expect returns an error when a transaction did not come out as expected.
func Expect(t *quickstream.Transaction, err error, want quickstream.Outcome) (*quickstream.Transaction, error) {
	if err != nil {
		return nil, err
	}
	outcome, err := t.Outcome()
	if err == nil && outcome != want {
		err = fmt.Errorf("the %s is %s instead of %s", t.TransactionType, outcome, want)
	}
	return t, err
}

// Refused returns an error unless err says that the request was refused, by this
// client or by the service.
func Refused(what string, err error) error {
	if !errors.Is(err, quickstream.ErrInvalid) {
		return fmt.Errorf("%s should have been refused, and was not: %v", what, err) //nolint:errorlint // there may be none
	}
	fmt.Printf("   refused, as it should be: %s\n", what)
	return nil
}
