package clienttest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const uploadOperation = "POST /payment-files"

// fileOf returns a payment file as the sandbox reads it.
func fileOf(total string, payments ...string) string {
	lines := append([]string{"H,SANDBOX,2000-01-01,2"}, payments...)
	return strings.Join(append(lines, fmt.Sprintf("T,%d,%s", len(payments), total)), "\r\n")
}

func approvedLine(reference string) string {
	return "C,SANDBOX01,AUD,10.50," + reference + ",P-" + reference + ",4242424242424242,02,2035,Kim Lee"
}

func upload(name, content string) quickstream.UploadPaymentFileParams {
	return quickstream.UploadPaymentFileParams{
		FileName: name, Format: quickstream.PaymentFileFormatCSV2, Content: strings.NewReader(content), Size: int64(len(content)),
	}
}

func filesOf(t *testing.T, client *quickstream.Client) []*quickstream.PaymentFile {
	t.Helper()
	var files []*quickstream.PaymentFile
	for file, err := range client.PaymentFiles.List().All(t.Context()) {
		require.NoError(t, err)
		files = append(files, file)
	}
	return files
}

// TestPaymentFilesEnd: a file is processed or faulty, and its status says so.
func TestPaymentFilesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t)
		file, err := client.PaymentFiles.Upload(t.Context(), upload("a.csv", fileOf("10.50", approvedLine("A"))))
		require.NoError(t, err)
		assert.False(t, file.Status.Final())
		wait(time.Hour)
		file, err = client.PaymentFiles.Get(t.Context(), file.PaymentFileID)
		require.NoError(t, err)
		assert.Equal(t, quickstream.PaymentFileStatusComplete, file.Status)
		assert.Len(t, box.Ledger().Charged("A"), 1)

		file, err = client.PaymentFiles.Upload(t.Context(), upload("b.csv", fileOf("99.99", approvedLine("B"))))
		require.NoError(t, err)
		wait(time.Hour)
		file, err = client.PaymentFiles.Get(t.Context(), file.PaymentFileID)
		require.NoError(t, err, "a faulty file is not a Go error")
		assert.Equal(t, quickstream.PaymentFileStatusError, file.Status)
		assert.True(t, file.Status.Final())
		assert.Empty(t, box.Ledger().Charged("B"))
	})
}

// TestUploadIsSentOnce loses the answer in every way. The file is never sent a
// second time, whether the service has it or not.
func TestUploadIsSentOnce(t *testing.T) {
	for kind, arrived := range map[*sandbox.FaultKind]int{
		new(sandbox.ResetBeforeCommit()): 0, new(sandbox.ResetAfterCommit()): 1, new(sandbox.HangBeforeCommit()): 0, new(sandbox.HangAfterCommit()): 1,
		new(sandbox.Status(500, sandbox.ServiceError)): 0, new(sandbox.StatusAfterCommit(502, sandbox.HTML)): 1, new(sandbox.Garbage(sandbox.HTML)): 1,
		new(sandbox.Redirect(307, "/rest/v1/payment-files")): 0,
	} {
		synctest.Test(t, func(t *testing.T) {
			box, client := sandboxtest.New(t)
			require.NoError(t, box.Inject(sandbox.Fault{Operation: uploadOperation, Kind: *kind, Times: 1}))
			_, err := client.PaymentFiles.Upload(t.Context(), upload("a.csv", fileOf("10.50", approvedLine("A"))), quickstream.WithMaxAttempts(10))
			require.Equal(t, unknown, ending(err), "%s: %v", kind, err)
			lost, _ := errors.AsType[*quickstream.UnknownOutcomeError](err)
			assert.Equal(t, "a.csv", lost.Reference)
			assert.Equal(t, 1, lost.Attempts)
			assert.Contains(t, lost.FindOut, "PaymentFiles.List")
			require.NotNil(t, lost.Intent)
			assert.Len(t, box.Requests(), 1)
			assert.Len(t, filesOf(t, client), arrived, kind)
		})
	}
}
