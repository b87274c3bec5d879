package quickstream_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// published is the vendor's published sample of a transaction, with a reference and metadata.
const published = `{"links":[],"receiptNumber":"1000000000","transactionType":"PAYMENT","status":"Approved","responseCode":"08","summaryCode":"0",
"responseDescription":"Honour with identification","fraudGuardResult":null,"source":"RESTAPI","settlementDate":"2017-01-01",
"transactionTime":"2017-01-01T10:26:36+1000","customerReferenceNumber":"Order-1","comment":null,"refundable":true,
"principalAmount":{"currency":"AUD","amount":10.00,"displayAmount":"$10.00"},"surchargeAmount":{"currency":"AUD","amount":0.00,"displayAmount":"$0.00"},
"totalAmount":{"currency":"AUD","amount":10.00,"displayAmount":"$10.00"},
"merchantAccount":{"displayName":"Your Company 032-002 123465 (12345678)","settlementBsb":"032-002","acquiringInstitution":"WBC"},
"creditCard":{"accountToken":"MYCOMPANY-123456789","cardNumber":"424242...242","expiryDateMonth":"02","expiryDateYear":"17"},"bankAccount":null,
"metadata":{"n":"42","lead":"007"}}`

type answering string

func (body answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(string(body))), ContentLength: int64(len(body)), Request: r,
	}, nil
}

// decoded reads a transaction in a form, and returns what a merchant sees of it, or the error.
func decoded(t *testing.T, doc string) string {
	t.Helper()
	client, err := quickstream.NewClient("https://service.invalid/rest/v1", quickstream.Keys{Secret: quickstream.NewSecretKey("S")},
		quickstream.WithHTTPClient(&http.Client{Transport: answering(doc)}))
	require.NoError(t, err)
	tx, err := client.Transactions.Get(t.Context(), "1000000000")
	if err != nil {
		return "error"
	}
	amount, card := "no amount", "no card"
	if tx.PrincipalAmount != nil {
		amount = tx.PrincipalAmount.Amount.StringFixed(2) + " " + string(tx.PrincipalAmount.Currency)
	}
	if tx.CreditCard != nil {
		card = tx.CreditCard.ExpiryDateMonth + "/" + tx.CreditCard.ExpiryDateYear
	}
	made := "no time"
	if !tx.TransactionTime.IsZero() {
		made = tx.TransactionTime.UTC().Format("15:04:05")
	}
	return fmt.Sprintf("%s %s %s; %s; %s, %s; %q; %s; %v", tx.ReceiptNumber, tx.Outcome(), tx.ResponseCode, amount, tx.SettlementDate, made,
		tx.CustomerReferenceNumber, card, tx.Metadata)
}

// TestFormsOfMembers: in every form of an amount, a time or a date, a deciding member is right or an
// error, and an informing one never hides a transaction. The forms of texts are tested in package wire.
func TestFormsOfMembers(t *testing.T) {
	const usual = `1000000000 approved 08; 10.00 AUD; 2017-01-01, 00:26:36; "Order-1"; 02/17; map[lead:007 n:42]`
	for _, tt := range []struct{ name, from, to, want string }{
		{"as published", "", "", usual},
		{"amount number", `{"currency":"AUD","amount":10.00,"displayAmount":"$10.00"}`, `10.00`, `1000000000 approved 08; 10.00 ; 2017-01-01, 00:26:36; "Order-1"; 02/17; map[lead:007 n:42]`},
		{"amount text", `{"currency":"AUD","amount":10.00,"displayAmount":"$10.00"}`, `"10.00"`, `1000000000 approved 08; 10.00 ; 2017-01-01, 00:26:36; "Order-1"; 02/17; map[lead:007 n:42]`},
		{"amount no currency", `{"currency":"AUD","amount":10.00,"displayAmount":"$10.00"}`, `{"amount":10.00}`, `1000000000 approved 08; 10.00 ; 2017-01-01, 00:26:36; "Order-1"; 02/17; map[lead:007 n:42]`},
		{"amount absent", `"principalAmount":{"currency":"AUD","amount":10.00,"displayAmount":"$10.00"},`, "", `1000000000 approved 08; no amount; 2017-01-01, 00:26:36; "Order-1"; 02/17; map[lead:007 n:42]`},
		{"amount list", `"principalAmount":{"currency":"AUD","amount":10.00,"displayAmount":"$10.00"}`, `"principalAmount":[1]`, "error"},
		{"time none", `T10:26:36+1000`, `T10:26:36`, `1000000000 approved 08; 10.00 AUD; 2017-01-01, no time; "Order-1"; 02/17; map[lead:007 n:42]`},
		{"time odd", `"2017-01-01T10:26:36+1000"`, `"yesterday"`, `1000000000 approved 08; 10.00 AUD; 2017-01-01, no time; "Order-1"; 02/17; map[lead:007 n:42]`},
		{"date text", `"settlementDate":"2017-01-01"`, `"settlementDate":"01 Jan 2017"`, usual},
		{"date number", `"settlementDate":"2017-01-01"`, `"settlementDate":20170101`, `1000000000 approved 08; 10.00 AUD; , 00:26:36; "Order-1"; 02/17; map[lead:007 n:42]`},
		{"inapplicable empty", `"bankAccount":null`, `"bankAccount":{}`, usual},
		{"links null", `"links":[]`, `"links":null`, usual},
		{"fraud object", `"fraudGuardResult":null`, `"fraudGuardResult":{"result":"OK"}`, usual},
		{"flag text", `"refundable":true`, `"refundable":"true"`, usual},
	} {
		doc := published
		if tt.from != "" {
			doc = strings.ReplaceAll(doc, tt.from, tt.to)
			assert.NotEqual(t, published, doc, tt.name)
		}
		assert.Equal(t, tt.want, decoded(t, doc), tt.name)
	}
}
