package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/printtest"
)

// secretLink is a link whose address carries all canaries.
func secretLink() quickstream.Link {
	var link quickstream.Link
	data, _ := json.Marshal(map[string]string{"rel": "next", "href": secretAddress(), "requestMethod": "GET"})
	_ = json.Unmarshal(data, &link)
	return link
}

func secretAddress() string {
	address := "https://api.invalid/rest/v1/transactions/for-bank-account?x=1"
	for _, canary := range canaries() {
		address += "&accountNumber=" + canary
	}
	return address
}

// secretSources returns every kind of account, with canaries in all its secrets.
func secretCard() quickstream.CardDetails {
	c := canaries()
	return quickstream.CardDetails{
		CardholderName: "Ann", CardNumber: quickstream.NewSecret(c[0]), CVN: quickstream.NewSecret(c[1]), Cryptogram: quickstream.NewSecret(c[2]),
		Expiry: quickstream.YearMonth{Year: 2035, Month: time.March}, WalletProvider: quickstream.WalletProviderApplePay,
	}
}

func secretBank() quickstream.BankAccountDetails {
	return quickstream.BankAccountDetails{AccountName: "Ann", BSB: "032-999", AccountNumber: quickstream.NewSecret(canaries()[2])}
}

func secretNZBank() quickstream.NZBankAccountDetails {
	return quickstream.NZBankAccountDetails{AccountName: "Ann", BankCode: "01", AccountNumber: quickstream.NewSecret(canaries()[2])}
}

// variants are the values of the types that cannot be filled field by field.
func variants() map[reflect.Type][]any {
	c := canaries()
	cards := []any{quickstream.FromCard(secretCard()), quickstream.FromSingleUseToken("T-1")}
	keys := quickstream.Keys{Secret: quickstream.NewSecretKey(c[4]), Publishable: quickstream.NewPublishableKey(c[5])}
	rotate := func(context.Context) (quickstream.Keys, error) { return keys, nil }
	return map[reflect.Type][]any{
		reflect.TypeFor[quickstream.Secret]():         {quickstream.NewSecret(c[0]), quickstream.NewSecret(c[1]), quickstream.NewSecret(c[3])},
		reflect.TypeFor[quickstream.SecretKey]():      {keys.Secret},
		reflect.TypeFor[quickstream.PublishableKey](): {keys.Publishable},
		reflect.TypeFor[quickstream.Cursor]():         {quickstream.ParseCursor(secretAddress())},
		reflect.TypeFor[quickstream.Link]():           {secretLink()},
		reflect.TypeFor[quickstream.CardSource]():     cards,
		reflect.TypeFor[quickstream.AccountSource](): append([]any{
			quickstream.FromBankAccount(secretBank()), quickstream.FromNZBankAccount(secretNZBank()),
		}, cards...),
		reflect.TypeFor[quickstream.TokenAccount](): {secretCard(), secretBank(), secretNZBank(), quickstream.OtherAccount("NEW", map[string]any{"token": c[1]})},
		reflect.TypeFor[quickstream.ClientOption](): {quickstream.WithKeySource(rotate), quickstream.WithHTTPClient(&http.Client{})},
		reflect.TypeFor[quickstream.CallOption]():   {quickstream.WithExtraField("cardNumber", c[0]), quickstream.WithIdempotencyKey("k")},
		reflect.TypeFor[quickstream.Option]():       {quickstream.WithoutResend()},
		reflect.TypeFor[error]():                    {errors.New("cause")},
		reflect.TypeFor[decimal.Decimal]():          {decimal.New(1050, -2)},
		reflect.TypeFor[time.Time]():                {time.Unix(1, 0)},
		reflect.TypeFor[json.RawMessage]():          {json.RawMessage(`{}`)},
	}
}

// TestAttack61PrintedClient prints a client that has been used, by every route: the
// buffers of its open connections hold what was sent last, and dumps in test output
// follow pointers. They must not arrive there.
func TestAttack61PrintedClient(t *testing.T) {
	client, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, approvedBody)
	}, plain)
	_, err := client.Transactions.Pay(t.Context(), payment())
	require.NoError(t, err)
	assert.False(t, leaks(client))
	assert.False(t, printtest.Reachable(client, callCard, callCard[:8], "Authorizat"), "a hex dump shows 16 characters in a line")
}
