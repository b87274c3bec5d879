// Command preauth goes through the life of a pre-authorisation: it is made,
// topped up, extended and captured once, and another one is cancelled in parts.
package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/internal/demo"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func main() { demo.Main("preauth", run) }

func run(ctx context.Context, s *demo.Shop) error {
	fmt.Println("A hotel reserves 200.00 on a Mastercard.")
	hold, err := reserve(ctx, s, "STAY-1", "200.00")
	if err != nil {
		return err
	}
	fmt.Printf("   %s, receipt %s\n", hold.Status, hold.ReceiptNumber)

	fmt.Println("The guest stays longer: 80.00 more, and more time.")
	more := quickstream.TopUpParams{
		OriginalReceiptNumber: hold.ReceiptNumber, PrincipalAmount: decimal.RequireFromString("80.00"), Currency: quickstream.CurrencyAUD,
	}
	if _, err := expect(ctx, quickstream.OutcomeApproved, more, s.Client.Transactions.TopUp); err != nil {
		return err
	}
	longer := quickstream.ExtendParams{OriginalReceiptNumber: hold.ReceiptNumber, Currency: quickstream.CurrencyAUD}
	if _, err := expect(ctx, quickstream.OutcomeApproved, longer, s.Client.Transactions.Extend); err != nil {
		return err
	}

	open, err := openReceipts(ctx, s, hold)
	if err != nil {
		return err
	}
	fmt.Printf("   open pre-authorisations: %d\n", len(open))

	fmt.Println("The guest leaves: 265.40 are captured, once.")
	capture := quickstream.CaptureParams{
		Original: hold, PrincipalAmount: decimal.RequireFromString("265.40"), Currency: quickstream.CurrencyAUD,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}
	captured, err := expect(ctx, quickstream.OutcomeApproved, capture, s.Client.Transactions.Capture)
	if err != nil {
		return err
	}
	fmt.Printf("   %s %s, receipt %s\n", captured.Status, captured.TotalAmount, captured.ReceiptNumber)
	_, err = s.Client.Transactions.Capture(ctx, capture)
	if err := demo.Refused("a second capture", err); err != nil {
		return err
	}

	fmt.Println("Another guest cancels: a part first, then another hold in full.")
	hold, err = reserve(ctx, s, "STAY-2", "150.00")
	if err != nil {
		return err
	}
	capture.Original, capture.PrincipalAmount = hold, decimal.RequireFromString("300.01")
	_, err = s.Client.Transactions.Capture(ctx, capture)
	if err := demo.Refused("a capture of more than double", err); err != nil {
		return err
	}
	part := quickstream.CancelPreauthorisationParams{
		OriginalReceiptNumber: hold.ReceiptNumber, Type: quickstream.CancellationTypePartial,
		PrincipalAmount: decimal.RequireFromString("50.00"), Currency: quickstream.CurrencyAUD,
	}
	if _, err := expect(ctx, quickstream.OutcomeApproved, part, s.Client.Transactions.CancelPreauthorisation); err != nil {
		return err
	}
	hold, err = reserve(ctx, s, "STAY-3", "90.00")
	if err != nil {
		return err
	}
	whole := part
	whole.OriginalReceiptNumber, whole.Type, whole.PrincipalAmount = hold.ReceiptNumber, quickstream.CancellationTypeFull, decimal.RequireFromString("90.00")
	cancelled, err := expect(ctx, quickstream.OutcomeApproved, whole, s.Client.Transactions.CancelPreauthorisation)
	if err != nil {
		return err
	}
	fmt.Printf("   cancellation %s: %s\n", cancelled.ReceiptNumber, cancelled.Status)
	return nil
}

func reserve(ctx context.Context, s *demo.Shop, reference, amount string) (*quickstream.Transaction, error) {
	token, err := sandboxtest.CardToken(ctx, s.Client, demo.Mastercard)
	if err != nil {
		return nil, err
	}
	return expect(ctx, quickstream.OutcomeApproved, quickstream.PreauthoriseParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard),
		PrincipalAmount: decimal.RequireFromString(amount), Currency: quickstream.CurrencyAUD, ECI: quickstream.ECIInternet, IPAddress: demo.Customer(),
		StoredCredential:       &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		PaymentReferenceNumber: reference,
	}, s.Client.Transactions.Preauthorise)
}

// openReceipts lists the open pre-authorisations of the month of one of them, by
// the service's clock: the month may be another one here.
func openReceipts(ctx context.Context, s *demo.Shop, hold *quickstream.Transaction) ([]string, error) {
	var receipts []string
	month := quickstream.YearMonth{Year: hold.TransactionTime.Year(), Month: hold.TransactionTime.Month()}
	for preauth, err := range s.Client.Transactions.OpenPreauths(quickstream.OpenPreauthsParams{Month: month}).All(ctx) {
		if err != nil {
			return nil, err
		}
		receipts = append(receipts, preauth.ReceiptNumber)
	}
	if len(receipts) == 0 {
		return nil, errors.New("no open pre-authorisation is listed")
	}
	return receipts, nil
}

// expect makes a transaction and returns an error when it did not come out as
// expected.
func expect[P any](ctx context.Context, want quickstream.Outcome, params P, do func(context.Context, P, ...quickstream.CallOption) (*quickstream.Transaction, error)) (*quickstream.Transaction, error) {
	transaction, err := do(ctx, params)
	return demo.Expect(transaction, err, want)
}
