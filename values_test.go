package quickstream_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

func TestTimestamp(t *testing.T) {
	for text, utc := range map[string]string{
		"2026-03-01T10:11:12+1100":       "2026-02-28T23:11:12Z",
		"2026-03-01T10:11:12+11:00":      "2026-02-28T23:11:12Z",
		"2026-03-01T10:11:12Z":           "2026-03-01T10:11:12Z",
		"2026-03-01T10:11:12.5-0330":     "2026-03-01T13:41:12.5Z",
		"2026-03-01T10:11:12.123456789Z": "2026-03-01T10:11:12.123456789Z",
		"2026-03-01T10:11:12,5Z":         "2026-03-01T10:11:12.5Z",
		"2026-03-01T23:59:59-12:00":      "2026-03-02T11:59:59Z",
	} {
		var got, escaped quickstream.Timestamp
		require.NoError(t, json.Unmarshal([]byte(`"`+text+`"`), &got), text)
		require.NoError(t, json.Unmarshal([]byte(`"`+strings.NewReplacer("+", `\u002B`, ":", `\u003a`).Replace(text)+`"`), &escaped), text)
		assert.Equal(t, got, escaped, "the same text, as some encoders write it")
		assert.Equal(t, utc, got.UTC().Format(time.RFC3339Nano), text)
		stored, err := json.Marshal(got)
		require.NoError(t, err)
		var again quickstream.Timestamp
		require.NoError(t, json.Unmarshal(stored, &again), "%s", stored)
		assert.True(t, got.Equal(again.Time), "%s is stored as %s", text, stored)
		assert.Equal(t, got.String(), again.String())
	}
	for _, text := range []string{
		`"2026-03-01T23:59:60Z"`, // a leap second, which Go's clock does not have
		`"0000-00-00T00:00:00Z"`, `"2026-03-01"`, `"2026-03-01  "`, `"2026-03-01x10:11:12Z"`, `"10:11"`, `"2026-02-30T00:00:00Z"`,
		`"2026-03-01T24:00:00Z"`, `"2026-03-01T10:11:12"`, `"2026-03-01T10:11+1100"`, `"2026-03-01 10:11:12+1100"`, `"2026-03-01T10:11:12+11"`, `"1772323872"`, `0`, `-1772323872`, `1.7e9`, `99999999999999999999`, `9999999999999999`, `17723238x2`, `true`, `{}`, `"`, `"now"`, `"2026-03-01T10:11:12AEDT"`,
	} {
		var got quickstream.Timestamp
		err := got.UnmarshalJSON([]byte(text))
		require.Error(t, err, text)
		assert.NotContains(t, err.Error(), "2026", "the error repeats nothing")
		assert.True(t, got.IsZero())
	}
	for _, none := range []string{`null`, `""`} {
		got := quickstream.Timestamp{Time: time.Now()}
		require.NoError(t, json.Unmarshal([]byte(none), &got))
		assert.True(t, got.IsZero(), none)
		assert.Empty(t, got.String())
	}
}

// TestIntentOfAnotherForm: text that another program stored is not read as an intent without a version.
func TestIntentOfAnotherForm(t *testing.T) {
	var intent quickstream.Intent
	require.Error(t, json.Unmarshal([]byte(`{"version":"1"}`), &intent))
}

// TestShortNumbers: the references of a call under a key come from parts of numbers, which can be shorter.
func TestShortNumbers(t *testing.T) {
	client, err := quickstream.NewClient(quickstream.TestAU, quickstream.Keys{Secret: quickstream.NewSecretKey("S")})
	require.NoError(t, err)
	for _, source := range []quickstream.AccountSource{
		quickstream.FromCard(quickstream.CardDetails{CardNumber: quickstream.NewSecret("42424242")}),
		quickstream.FromBankAccount(quickstream.BankAccountDetails{AccountNumber: quickstream.NewSecret("12")}),
		quickstream.FromNZBankAccount(quickstream.NZBankAccountDetails{AccountNumber: quickstream.NewSecret("12")}),
	} {
		_, err := client.Transactions.Plan(t.Context(), quickstream.PayParams{Source: source}, quickstream.WithIdempotencyKey("K"))
		require.ErrorIs(t, err, quickstream.ErrNotSent)
	}
}

// fmt, loggers and encoders do not show secrets.
func ExampleSecret() {
	number := quickstream.NewSecret(visaCard)
	fmt.Printf("%v %+v %#v %s\n", number, quickstream.CardDetails{CardNumber: number}, number, number)
	fmt.Println(number.Equal(quickstream.NewSecret(visaCard)))
	// Output:
	// [redacted] {CardholderName: CardNumber:[redacted] Expiry: CVN: WalletProvider: Cryptogram:} [redacted] [redacted]
	// true
}

// TestFraudGuardResult: a result is written as it was read, an object or a text.
func TestFraudGuardResult(t *testing.T) {
	for text, want := range map[string]string{"OK": `"OK"`, `{"score":1}`: `{"score":1}`, `{"score"`: `"{\"score\""`, "1": `"1"`} {
		written, err := json.Marshal(quickstream.FraudGuardResult(text))
		require.NoError(t, err)
		assert.Equal(t, want, string(written))
	}
}
