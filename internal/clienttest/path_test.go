package clienttest_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// pathOperations returns the operations whose identifier stands in the path.
func pathOperations(t *testing.T) []operation {
	t.Helper()
	var found []operation
	for _, op := range operations() {
		var path string
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			path = r.URL.Path
			return answer(404, ""), nil
		})
		_, _ = op.call(t.Context(), client, "ID-1")
		if strings.Contains(path, "/ID-1") {
			found = append(found, op)
		}
	}
	require.Greater(t, len(found), 15)
	return found
}

// TestAttack24Identifiers: an identifier from a stranger's link means another resource.
// Every operation refuses it, and nothing is sent.
func TestAttack24Identifiers(t *testing.T) {
	hostile := []string{
		"", ".", "..", "a/b", "../void", "/", `a\b`, "%2e%2e", "..%2f", "%00", "%", "?x", "a?x=1", "#f", "a#", "a;b", ";",
		"\x00", "a\x00", "a\n", "\r\nX-Evil: 1", " ", "  ", "\ta", "a\tb", "a\rb", "é", "a\u202eb", "１", "\xff", "\x7f", strings.Repeat("x", 256),
	}
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		t.Errorf("%s was sent", r.URL)
		return answer(404, ""), nil
	})
	all := pathOperations(t)
	for _, op := range all {
		for _, id := range hostile {
			result, err := op.call(t.Context(), client, id)
			invalid, ok := errors.AsType[*quickstream.ValidationError](err)
			if !assert.True(t, ok, "%s, %q: %v", op.name, id, err) {
				continue
			}
			assert.Nil(t, result)
			assert.ErrorIs(t, err, quickstream.ErrInvalid)
			require.NotEmpty(t, invalid.Findings)
			for _, finding := range invalid.Findings {
				assert.NotEmpty(t, finding.Rule)
				assert.True(t, len(id) < 3 || !strings.Contains(err.Error(), id), "%s repeats %q", op.name, id)
			}
		}
	}
	t.Logf("%d operations, %d identifiers", len(all), len(hostile))
}

// TestAttack25QueryValues: a value brings parameters of its own, or elements for a list joined
// by commas. It arrives as one value.
func TestAttack25QueryValues(t *testing.T) {
	const odd = `a b&c=d#e+f%2f;g,"h"?i/`
	var got url.Values
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		got = r.URL.Query()
		assert.NotContains(t, r.URL.Path, "a b")
		return answer(404, ""), nil
	})
	for want, call := range map[string]func() error{
		"referenceNumber": func() error { _, err := client.Transactions.ByReference(odd).First(t.Context()); return err },
		"accountToken":    func() error { _, err := client.Transactions.ByAccount(odd).First(t.Context()); return err },
		"customerNumber":  func() error { _, err := client.Customers.GetByNumber(t.Context(), odd); return err },
	} {
		require.ErrorIs(t, call(), quickstream.ErrNotFound)
		assert.Equal(t, url.Values{want: {odd}}, got)
	}
	_, err := client.Transactions.ByBankAccount("032-999", quickstream.NewSecret("999994")).First(t.Context())
	require.ErrorIs(t, err, quickstream.ErrNotFound)
	assert.Equal(t, url.Values{"bsb": {"032-999"}, "accountNumber": {"999994"}}, got)
}

// TestAttackAnotherObject: the answer is about another object than the one that was asked
// for, such as a cache's answer to someone else. It is no answer, however like its name.
func TestAttackAnotherObject(t *testing.T) {
	client := clientOf(t, says(http.StatusOK, `{"receiptNumber":"B","agreementToken":"B","customerId":"B","accountToken":"B","supplierBusinessCode":"B",
		"paymentFileId":"B","paymentScheduleId":"B","status":"Voided","summaryCode":"0"}`), quickstream.WithMaxAttempts(1))
	ctx := t.Context()
	for name, read := range map[string]func(id string) error{
		"transaction": func(id string) error { _, err := client.Transactions.Get(ctx, id); return err },
		"agreement":   func(id string) error { _, err := client.PayTo.Get(ctx, id); return err },
		"customer":    func(id string) error { _, err := client.Customers.Get(ctx, id); return err },
		"account":     func(id string) error { _, err := client.Accounts.Get(ctx, id); return err },
		"business":    func(id string) error { _, err := client.Businesses.Get(ctx, id); return err },
		"file":        func(id string) error { _, err := client.PaymentFiles.Get(ctx, id); return err },
		"schedule":    func(id string) error { _, err := client.RecurringPayments.Get(ctx, id); return err },
	} {
		require.NoError(t, read("B"), name)
		var wrong *quickstream.DecodeError
		for _, like := range []string{"A", "B.", "B..", "BB", ".B", "B-", "B~"} {
			require.ErrorAs(t, read(like), &wrong, "%s %s", name, like)
		}
	}
	_, err := client.Transactions.Void(ctx, "B")
	require.NoError(t, err)
	_, err = client.Transactions.Void(ctx, "A")
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	change := quickstream.UpdateCustomerParams{CustomerName: new("N")}
	_, err = client.Customers.Update(ctx, "A", change)
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	customer, err := clientOf(t, says(http.StatusNoContent, "")).Customers.Update(ctx, "A", change)
	require.NoError(t, err)
	assert.Equal(t, "A", customer.CustomerID)
}
