package quickstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// paymentFile is a payment file in the simulator's own layout: a header, payments
// and a trailer with their number and total.
const paymentFile = `H,SANDBOX,2026-07-01,2
B,SANDBOX01,AUD,49.95,C-1001,ORDER-1,032-002,123465,Kim Lee
C,SANDBOX01,AUD,10.00,C-1002,ORDER-2,4242424242424242,03,2035,Ann Example
T,2,59.95
`

// exampleFile is an uploaded payment file.
func exampleFile(client *quickstream.Client) *quickstream.PaymentFile {
	file, err := client.PaymentFiles.Upload(context.Background(), quickstream.UploadPaymentFileParams{
		FileName: "payments-2026-07-01.csv", Format: quickstream.PaymentFileFormatCSV2,
		Content: strings.NewReader(paymentFile), Size: int64(len(paymentFile)),
	})
	if err != nil {
		panic(err)
	}
	return file
}

// Upload a file once, under a new name: that prevents processing it twice.
func ExamplePaymentFilesService_Upload() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()

	params := quickstream.UploadPaymentFileParams{
		FileName: "payments-2026-07-01.csv",
		Format:   quickstream.PaymentFileFormatCSV2,
		Content:  strings.NewReader(paymentFile), // an *os.File, in earnest
		Size:     int64(len(paymentFile)),
	}
	file, err := client.PaymentFiles.Upload(ctx, params)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file.Status) // store the PaymentFileID

	params.Content = strings.NewReader(paymentFile)
	_, err = client.PaymentFiles.Upload(ctx, params)
	fmt.Println(errors.Is(err, quickstream.ErrInvalid))
	// Output:
	// QUEUED
	// true
}

// Get returns a payment file with its latest status.
func ExamplePaymentFilesService_Get() {
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	id := exampleFile(client).PaymentFileID
	clock.Advance(7 * 24 * time.Hour)

	file, err := client.PaymentFiles.Get(context.Background(), id)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file.Status, file.Status.Final())
	// Output: COMPLETE true
}

// Processing takes minutes for cards and days for bank accounts. Waiting can stop and resume at any
// time.
func ExamplePaymentFilesService_Wait() {
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	id := exampleFile(client).PaymentFileID
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	file, err := client.PaymentFiles.Wait(ctx, id, quickstream.PaymentFileWait{
		Interval: time.Millisecond,                                                 // a minute, if it is left out
		Progress: func(*quickstream.PaymentFile) { clock.Advance(24 * time.Hour) }, // time passes
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file.Status)
	// Output: COMPLETE
}

// List the files of the last year, for example after the answer to an upload was lost.
func ExamplePaymentFilesService_List() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	uploaded := exampleFile(client)

	for file, err := range client.PaymentFiles.List().All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(file.PaymentFileID == uploaded.PaymentFileID, file.Status)
	}
	// Output: true QUEUED
}

// A file is processed in batches of payments of one kind, which hold the transactions.
func ExamplePaymentFilesService_Batches() {
	ctx := context.Background()
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	id := exampleFile(client).PaymentFileID
	clock.Advance(7 * 24 * time.Hour)

	for batch, err := range client.PaymentFiles.Batches(id).All(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(summary(client.PaymentFiles.BatchTransactions(batch.PaymentBatchID, quickstream.BatchTransactionsParams{})))
	}
	// Unordered output:
	// ORDER-1 Approved* 49.95 AUD
	// ORDER-2 Approved 10.00 AUD
}

// firstBatch is the first batch of a processed file.
func firstBatch(client *quickstream.Client, paymentFileID string) *quickstream.PaymentBatch {
	batch, err := client.PaymentFiles.Batches(paymentFileID).First(context.Background())
	if err != nil {
		panic(err)
	}
	return batch
}

// The specification names no members of a batch; Extra has what the service sends.
func ExamplePaymentFilesService_Batch() {
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	id := exampleFile(client).PaymentFileID
	clock.Advance(7 * 24 * time.Hour)

	batch, err := client.PaymentFiles.Batch(context.Background(), firstBatch(client, id).PaymentBatchID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(batch.PaymentBatchID != "", len(batch.Extra()) > 0)
	// Output: true true
}

// The transactions of a batch, each with its own outcome.
func ExamplePaymentFilesService_BatchTransactions() {
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	id := exampleFile(client).PaymentFileID
	clock.Advance(7 * 24 * time.Hour)

	count := 0
	list := client.PaymentFiles.BatchTransactions(firstBatch(client, id).PaymentBatchID, quickstream.BatchTransactionsParams{})
	for transaction, err := range list.All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if outcome, err := transaction.Outcome(); err == nil && outcome == quickstream.OutcomeApproved {
			count++
		}
	}
	fmt.Println(count)
	// Output: 1
}

// The results of a file as CSV. Package csvreport reads it.
func ExamplePaymentFilesService_DownloadCSV() {
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	id := exampleFile(client).PaymentFileID
	clock.Advance(7 * 24 * time.Hour)

	var results bytes.Buffer
	written, err := client.PaymentFiles.DownloadCSV(context.Background(), &results, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(written == int64(results.Len()), strings.Count(results.String(), "ORDER-"))
	// Output: true 2
}

// The results of a file in the layout of a flat file, here written to a file.
func ExamplePaymentFilesService_DownloadFlatFile() {
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	id := exampleFile(client).PaymentFileID
	clock.Advance(7 * 24 * time.Hour)

	results, err := os.CreateTemp("", "results-*.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(results.Name())
	defer results.Close()
	written, err := client.PaymentFiles.DownloadFlatFile(context.Background(), results, id)
	if err != nil {
		fmt.Println(err) // the file has to be discarded
		return
	}
	fmt.Println(written > 0, results.Sync())
	// Output: true <nil>
}

// The payments of an MTS file that were rejected.
func ExamplePaymentFilesService_DownloadMTSRejects() {
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	content := strings.Replace(paymentFile, "032-002", "032-050", 1) // a test BSB whose payments are rejected
	mts, err := client.PaymentFiles.Upload(context.Background(), quickstream.UploadPaymentFileParams{
		FileName: "payments.mts", Format: quickstream.PaymentFileFormatMTS,
		Content: strings.NewReader(content), Size: int64(len(content)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	clock.Advance(7 * 24 * time.Hour)

	var rejects bytes.Buffer
	if _, err := client.PaymentFiles.DownloadMTSRejects(context.Background(), &rejects, mts.PaymentFileID); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Count(rejects.String(), "C-1001"))
	// Output: 1
}

// After a lost answer, look the file up before you upload it under another name.
func ExamplePaymentFilesService_Resume() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	if err := box.Inject(sandbox.Fault{Operation: "POST /payment-files", Kind: sandbox.ResetAfterCommit()}); err != nil {
		fmt.Println(err)
		return
	}

	_, err := client.PaymentFiles.Upload(ctx, quickstream.UploadPaymentFileParams{
		FileName: "payments-2026-07-01.csv", Format: quickstream.PaymentFileFormatCSV2,
		Content: strings.NewReader(paymentFile), Size: int64(len(paymentFile)),
	})
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	if !ok {
		fmt.Println("settled:", err)
		return
	}
	_, err = client.PaymentFiles.Resume(ctx, *lost.Intent)
	if open, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok {
		for _, candidate := range open.Candidates {
			fmt.Println(candidate.PaymentFile.Status)
		}
	}
	// Output: QUEUED
}
