// Command upload has the service make many payments from one file: it uploads the
// file with a progress bar, waits until it is complete, and accounts for every
// payment in it. A faulty file is mended and uploaded under a new name only after
// a look that nothing of it was processed.
package main

import (
	"context"
	"fmt"
	"time"
	_ "time/tzdata" // where the machine has no time zones

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/internal/demo"
)

func main() { demo.Main("upload", run) }

// payments is how many there are in each file.
const payments = 1000

func run(ctx context.Context, s *demo.Shop) error {
	root, err := s.Client.Root(ctx)
	if err != nil {
		return err
	}
	customers, err := register(ctx, s)
	if err != nil {
		return err
	}
	sydney, err := time.LoadLocation("Australia/Sydney") // where dates of the service are from
	if err != nil {
		return err
	}
	file := &paymentFile{community: root.CommunityCode, date: quickstream.DateOf(s.Box.Now().In(sydney))}
	for i := range payments {
		payer := customers[i%len(customers)]
		file.lines = append(file.lines, line{payer, fmt.Sprintf("FEE-%04d", i), decimal.New(int64(1000+i), -2)})
	}

	fmt.Println("1. A file of payments with registered accounts:")
	uploaded, err := send(ctx, s, "fees-1.csv", file)
	if err != nil {
		return err
	}
	if uploaded.Status != quickstream.PaymentFileStatusComplete {
		return fmt.Errorf("the file ended as %s", uploaded.Status)
	}
	if err := account(ctx, s, uploaded, file); err != nil {
		return err
	}

	fmt.Println("2. A file with an account token that was cut off:")
	for i := range file.lines {
		file.lines[i].reference = fmt.Sprintf("FEE-%04d", payments+i)
	}
	whole := file.lines[7].account
	file.lines[7].account = whole[:len(whole)-1]
	faulty, err := send(ctx, s, "fees-2.csv", file)
	if err != nil {
		return err
	}
	if faulty.Status != quickstream.PaymentFileStatusError {
		return fmt.Errorf("the faulty file ended as %s", faulty.Status)
	}
	fmt.Printf("   the portal says: %v\n", s.Box.FileFaults(faulty.PaymentFileID))

	fmt.Println("3. The file mended:")
	if err := nothingProcessed(ctx, s, faulty); err != nil {
		return err
	}
	file.lines[7].account = whole
	_, err = send(ctx, s, "fees-2.csv", file)
	if err := demo.Refused("the same name again", err); err != nil {
		return err
	}
	mended, err := send(ctx, s, "fees-2-mended.csv", file)
	if err != nil {
		return err
	}
	return account(ctx, s, mended, file)
}

// send uploads a file and waits until its status is final. An UnknownOutcomeError
// of the upload would be the end too: the file is then looked for in the portal,
// and never sent under another name.
func send(ctx context.Context, s *demo.Shop, name string, f *paymentFile) (*quickstream.PaymentFile, error) {
	content, err := f.bytes()
	if err != nil {
		return nil, err
	}
	uploaded, err := upload(ctx, s.Client, name, content)
	if err != nil {
		return nil, err
	}
	var status quickstream.PaymentFileStatus
	return s.Client.PaymentFiles.Wait(ctx, uploaded.PaymentFileID, quickstream.PaymentFileWait{
		Interval: time.Millisecond, // a minute, were it not for the sandbox's clock
		Progress: func(f *quickstream.PaymentFile) {
			if f.Status != status {
				status = f.Status
				fmt.Printf("   %s\n", status)
			}
			switch status {
			case quickstream.PaymentFileStatusComplete, quickstream.PaymentFileStatusError:
			case quickstream.PaymentFileStatusAwaitingClearance: // by banks, for days
				s.Clock.Advance(24 * time.Hour)
			default:
				s.Clock.Advance(time.Minute)
			}
		},
	})
}

// nothingProcessed returns an error unless the service says that a file has no
// batches: their payments would be made once more. A look that fails says nothing.
func nothingProcessed(ctx context.Context, s *demo.Shop, faulty *quickstream.PaymentFile) error {
	for batch, err := range s.Client.PaymentFiles.Batches(faulty.PaymentFileID).All(ctx) {
		if err != nil {
			return err
		}
		return fmt.Errorf("batch %s of the faulty file was processed", batch.PaymentBatchID)
	}
	fmt.Println("   no batch of the faulty file was processed")
	return nil
}

// account finds each payment of a file exactly once in its batches.
func account(ctx context.Context, s *demo.Shop, uploaded *quickstream.PaymentFile, f *paymentFile) error {
	missing := map[string]decimal.Decimal{}
	for _, l := range f.lines {
		missing[l.reference] = l.amount
	}
	for batch, err := range s.Client.PaymentFiles.Batches(uploaded.PaymentFileID).All(ctx) {
		if err != nil {
			return err
		}
		outcomes := map[quickstream.Outcome]int{}
		total := decimal.Zero
		for payment, err := range s.Client.PaymentFiles.BatchTransactions(batch.PaymentBatchID, quickstream.BatchTransactionsParams{}).All(ctx) {
			if err != nil {
				return err
			}
			amount, ours := missing[payment.PaymentReferenceNumber]
			if !ours || payment.PrincipalAmount == nil || !amount.Equal(payment.PrincipalAmount.Amount) {
				return fmt.Errorf("payment %s is not of this file, or is there twice", payment.ReceiptNumber)
			}
			delete(missing, payment.PaymentReferenceNumber)
			outcome, err := payment.Outcome()
			if err != nil {
				return err
			}
			outcomes[outcome]++
			if outcome == quickstream.OutcomeApproved {
				total = total.Add(amount)
			}
		}
		fmt.Printf("   batch %s: %d approved, %s in all; %d declined\n",
			batch.PaymentBatchID, outcomes[quickstream.OutcomeApproved], total.StringFixed(2), outcomes[quickstream.OutcomeDeclined])
		for outcome, n := range outcomes {
			if outcome != quickstream.OutcomeApproved && outcome != quickstream.OutcomeDeclined {
				return fmt.Errorf("%d payments are %s", n, outcome)
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%d payments of the file were not made", len(missing))
	}
	return nil
}
