package clienttest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

func authentication() quickstream.AuthenticateParams {
	return quickstream.AuthenticateParams{
		MessageCategory: quickstream.ThreeDSMessageCategoryPayment, Purpose: quickstream.ThreeDSPurposePayment,
		PrincipalAmount: new(decimal.RequireFromString("10.5")),
		BillingAddress: quickstream.ThreeDSAddress{
			Line1: "1 George St", City: "Sydney", PostCode: "2000", State: "NSW", Country: "036",
		},
	}
}

// TestTransStatusNext: nothing but the values that are known to proceed does.
func TestTransStatusNext(t *testing.T) {
	for next, statuses := range map[quickstream.ThreeDSStep][]quickstream.TransStatus{
		quickstream.ThreeDSStepProceed:   {quickstream.TransStatusAuthenticated, quickstream.TransStatusAttempted},
		quickstream.ThreeDSStepChallenge: {quickstream.TransStatusChallenge},
		quickstream.ThreeDSStepStop: {
			quickstream.TransStatusNotAuthenticated, quickstream.TransStatusRejected, quickstream.TransStatusUnavailable,
			"", "y", "a", " Y", "YES", "D", "I", "S", "0", "true",
		},
	} {
		for _, status := range statuses {
			assert.Equal(t, next, status.Next(), "%q", status)
		}
	}
}

// TestLostFreeCalls: the error of a call that takes no money, and may be made again, does not say that it must not be.
func TestLostFreeCalls(t *testing.T) {
	client, ctx := clientOf(t, gone), t.Context()
	for name, call := range map[string]struct {
		err   error
		again bool
	}{
		"token":          {second(client.SingleUseTokens.Create(ctx, quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: "SHOP", Account: approvedCard()})), true},
		"authentication": {second(client.SingleUseTokens.Authenticate(ctx, "T-1", authentication())), true},
		"account":        {second(client.Accounts.RegisterWithoutCustomer(ctx, "T-1")), true},
		"payment":        {second(client.Transactions.Pay(ctx, payment())), false},
	} {
		require.ErrorIs(t, call.err, quickstream.ErrOutcomeUnknown, name)
		assert.Equal(t, call.again, !strings.HasPrefix(call.err.Error(), "do not call again: "), "%s: %v", name, call.err)
	}
}

// TestEvery503OnThreeDS: the service's error body tell which of the two it is. What
// anybody else says leaves it open, and nothing is sent again.
func TestEvery503OnThreeDS(t *testing.T) {
	for body, own := range map[string]bool{
		`{"status":"503","developerMessage":"3D Secure is not enabled.","customerMessage":"Not available.","traceCode":"T-1","errors":null}`: true,
		`<html>Service Unavailable</html>`:  false,
		``:                                  false,
		`{"message":"no healthy upstream"}`: false,
		`[]`:                                false,
	} {
		sent := 0
		client := clientOf(t, func(*http.Request) (*http.Response, error) {
			sent++
			return answer(http.StatusServiceUnavailable, body), nil
		})
		_, err := client.SingleUseTokens.Authenticate(t.Context(), "T-1", authentication())
		require.ErrorIs(t, err, quickstream.ErrThreeDSNotEnabled, body)
		assert.Equal(t, !own, errors.Is(err, quickstream.ErrUnavailable), body)
		assert.Equal(t, !own, strings.Contains(err.Error(), "one of the two"), "%s: %v", body, err)
		assert.Contains(t, err.Error(), "do not pay without authentication", body)
		assert.Equal(t, answered, ending(err), body)
		assert.Equal(t, 1, sent, body)
	}
}
