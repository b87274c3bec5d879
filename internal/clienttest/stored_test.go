package clienttest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// textsThatDiffer are characters that encoders write in different forms.
const textsThatDiffer = "<a href=\"/\">&'\u2028\u2029\u00e9\U0001f600\\/\t\u007f\ufffd"

// TestStoredForms writes what merchants keep (intents, cases, objects and cursors), compares it with
// the files in testdata/stored, and reads these. Every build has to write the same bytes, with either
// encoding/json: during a deploy, processes of several versions of Go share a database.
// UPDATE_STORED=1 writes the files.
func TestStoredForms(t *testing.T) {
	at := time.Date(2026, 11, 20, 9, 30, 0, 123456789, time.UTC)
	client := clientOf(t, says(200, `{"data":[],"links":[{"rel":"next","href":"https:\/\/api.invalid/rest/v1/businesses?page=2\u0026name=\u003cA&B>"}]}`))
	planned := func(intent quickstream.Intent, err error) quickstream.Intent {
		require.NoError(t, err)
		intent.MadeAt, intent.Carrier = at, textsThatDiffer
		return intent
	}
	key := quickstream.WithIdempotencyKey("key-1")

	pay := planned(client.Transactions.Plan(t.Context(), quickstream.PayParams{
		SupplierBusinessCode: "SANDBOX01", Source: quickstream.FromAccount("A-1"), PrincipalAmount: decimal.RequireFromString("10.50"),
		Currency: quickstream.CurrencyAUD, PaymentReferenceNumber: "ORDER-1", Comment: textsThatDiffer,
		Metadata: map[string]string{"b": textsThatDiffer, "a\u00e9<": "1", "": "2", "B": "3"},
	}, key))
	checkStored(t, "intent-pay.json", pay)
	checkStored(t, "intent-void.json", planned(client.Transactions.PlanVoid(t.Context(), "R-1<&>", key)))

	resolving := resolve.Begin(pay, at)
	resolving = resolve.DefaultPolicy(resolve.ServiceRetriesFor(5*24*time.Hour)).Next(resolving, resolve.Observation{Result: resolve.LookupNone}, at.Add(time.Minute))
	resolving = resolve.DefaultPolicy(resolve.ServiceRetriesFor(5*24*time.Hour)).Next(resolving, resolve.Observation{
		Result: resolve.LookupPending, ReceiptNumber: "R-1", ResponseCode: "<&>", Candidates: []resolve.Candidate{{ReceiptNumber: "R-2"}, {ReceiptNumber: "R-3", Matches: true, Differs: []string{"it is pending"}}},
	}, at.Add(time.Hour))
	checkStored(t, "case.json", resolving)

	var transaction quickstream.Transaction
	require.NoError(t, json.Unmarshal([]byte(`{"receiptNumber":"R-1","status":"Approved","principalAmount":{"currency":"AUD","amount":10.50},
		"totalAmount":{"currency":"AUD","amount":1e1},"metadata":{"b":"1","a\u003c":"\u2028"},"comment":"\u003c\ud83d\ude00>","settlementDate":"2026-11-21",
		"transactionTime":"2026-11-20T20:30:00.000+11:00","fraudGuardResult":{"b":1.10,"a":"<"},"newMember":{"z":1.0,"a":"<\u2028>"},
		"links":[{"rel":"self","href":"https:\/\/api.invalid/x?a=1&b=<2>"}]}`), &transaction))
	checkStored(t, "transaction.json", transaction)
	var account quickstream.Account
	require.NoError(t, json.Unmarshal([]byte(`{"accountToken":"A-1","accountType":"CREDIT_CARD","creditCard":{"cardNumber":"411111xxxxxx1111","cardholderName":"A & B"},"other":[1,2.50]}`), &account))
	checkStored(t, "account.json", account)

	for page, err := range client.Businesses.List().Pages(t.Context()) {
		require.NoError(t, err)
		checkStored(t, "cursor.json", page.Next.Text())
		break
	}
}

// checkStored compares what a value is written as with its file, and the file's value with the file.
func checkStored[T any](t *testing.T, name string, value T) {
	t.Helper()
	written, err := json.Marshal(value)
	require.NoError(t, err, name)
	file := filepath.Join("testdata", "stored", name)
	if os.Getenv("UPDATE_STORED") != "" {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, append(written, '\n'), 0o600))
	}
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(kept), string(written)+"\n", "%s: UPDATE_STORED=1 writes it again, and what merchants have stored stays in the old form", name)

	var read T
	require.NoError(t, json.Unmarshal(kept, &read), name)
	again, err := json.Marshal(read)
	require.NoError(t, err, name)
	assert.Equal(t, string(written), string(again), name)
}
