package quickstream_test

import (
	"bytes"
	"context"
	"fmt"
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

// processed is a simulator in which a payment file was uploaded a week ago, a client of it and the
// file's id.
func processed() (*sandbox.Sandbox, *quickstream.Client, string) {
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	id := exampleFile(client).PaymentFileID
	clock.Advance(7 * 24 * time.Hour)
	return box, client, id
}

// exampleFile is an uploaded payment file.
func exampleFile(client *quickstream.Client) *quickstream.PaymentFile {
	return must(client.PaymentFiles.Upload(context.Background(), quickstream.UploadPaymentFileParams{
		FileName: "payments-2026-07-01.csv", Format: quickstream.PaymentFileFormatCSV2,
		Content: strings.NewReader(paymentFile), Size: int64(len(paymentFile)),
	}))
}

// Upload a file once, under a new name: that prevents processing it twice.
func ExamplePaymentFilesService_Upload() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()

	file, err := client.PaymentFiles.Upload(context.Background(), quickstream.UploadPaymentFileParams{
		FileName: "payments-2026-07-01.csv",
		Format:   quickstream.PaymentFileFormatCSV2,
		Content:  strings.NewReader(paymentFile), // an *os.File, in earnest
		Size:     int64(len(paymentFile)),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file.Status) // store the PaymentFileID
	// Output: QUEUED
}

// Get returns a payment file with its latest status.
func ExamplePaymentFilesService_Get() {
	box, client, id := processed()
	defer box.Close()

	file, err := client.PaymentFiles.Get(context.Background(), id)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file.Status, file.Status.Final())
	// Output: COMPLETE true
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
	box, client, id := processed()
	defer box.Close()

	for batch, err := range client.PaymentFiles.Batches(id).All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(summary(client.PaymentFiles.BatchTransactions(batch.PaymentBatchID, "")))
	}
	// Unordered output:
	// ORDER-1 Approved* 49.95 AUD
	// ORDER-2 Approved 10.00 AUD
}

// firstBatch is the first batch of a processed file.
func firstBatch(client *quickstream.Client, paymentFileID string) *quickstream.PaymentBatch {
	return must(client.PaymentFiles.Batches(paymentFileID).First(context.Background()))
}

// The specification names no members of a batch; Extra has what the service sends.
func ExamplePaymentFilesService_Batch() {
	box, client, id := processed()
	defer box.Close()

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
	box, client, id := processed()
	defer box.Close()

	payments := client.PaymentFiles.BatchTransactions(firstBatch(client, id).PaymentBatchID, "")
	for payment, err := range payments.All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(payment.Outcome())
	}
	// Output: approved
}

// The results of a file as CSV. Package csvreport reads it.
func ExamplePaymentFilesService_DownloadCSV() {
	box, client, id := processed()
	defer box.Close()

	var results bytes.Buffer
	_, err := client.PaymentFiles.DownloadCSV(context.Background(), &results, id)
	fmt.Println(strings.Count(results.String(), "ORDER-"), err)
	// Output: 2 <nil>
}

// The results of a file in the layout of a flat file.
func ExamplePaymentFilesService_DownloadFlatFile() {
	box, client, id := processed()
	defer box.Close()

	var results bytes.Buffer // a file, in earnest
	_, err := client.PaymentFiles.DownloadFlatFile(context.Background(), &results, id)
	fmt.Println(results.Len() > 0, err) // after an error, what was written has to be discarded
	// Output: true <nil>
}

// The payments of an MTS file that were rejected.
func ExamplePaymentFilesService_DownloadMTSRejects() {
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	content := strings.Replace(paymentFile, "032-002", "032-050", 1) // a test BSB whose payments are rejected
	mts := must(client.PaymentFiles.Upload(context.Background(), quickstream.UploadPaymentFileParams{
		FileName: "payments.mts", Format: quickstream.PaymentFileFormatMTS,
		Content: strings.NewReader(content), Size: int64(len(content)),
	}))
	clock.Advance(7 * 24 * time.Hour)

	var rejects bytes.Buffer
	_, err := client.PaymentFiles.DownloadMTSRejects(context.Background(), &rejects, mts.PaymentFileID)
	fmt.Println(strings.Count(rejects.String(), "C-1001"), err)
	// Output: 1 <nil>
}
