package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const threeDSOperation = "POST /single-use-tokens/{singleUseTokenId}/three-ds2-authentication"

// browserToken is a token of a card, made in a browser that can show challenges.
func browserToken(ctx context.Context, t *testing.T, client *quickstream.Client, number string) string {
	t.Helper()
	token, err := sandboxtest.CardToken(ctx, client, number, sandboxtest.ThreeDS)
	require.NoError(t, err)
	return token
}

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

// TestFormsOfAnAuthentication: everything is sent as a text, in the form of 3D Secure.
func TestFormsOfAnAuthentication(t *testing.T) {
	box, client := sandboxtest.New(t)
	params := authentication()
	params.PrincipalAmount, params.AddressesMatch = new(decimal.RequireFromString("1234.5")), new(false)
	params.Order.GiftCardCount, params.Order.PreOrderDate = new(1), quickstream.NewDate(2031, time.February, 3)
	params.Account.PurchasesSixMonths = new(0)
	_, err := client.SingleUseTokens.Authenticate(t.Context(), browserToken(t.Context(), t, client, "4242424242424242"), params)
	require.NoError(t, err)
	sent := lastBody(t, box)
	assert.Equal(t, []any{"1234.50", "N", "01", "20310203", "0"},
		[]any{sent["principalAmount"], sent["addrMatch"], sent["giftCardCount"], sent["preOrderDate"], sent["nbPurchaseAccount"]})
}

// lastBody is the JSON body that the sandbox received last.
func lastBody(t *testing.T, box *sandbox.Sandbox) map[string]any {
	t.Helper()
	requests := box.Requests()
	require.NotEmpty(t, requests)
	var body map[string]any
	require.NoError(t, json.Unmarshal(requests[len(requests)-1].Body, &body))
	return body
}

// TestAuthenticationIsSentAgainWithItsKey loses an answer.
func TestAuthenticationIsSentAgainWithItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t)
		token := browserToken(t.Context(), t, client, "4242424242424242")
		box.ResetRequests()
		require.NoError(t, box.Inject(sandbox.Fault{Operation: threeDSOperation, Kind: sandbox.ResetAfterCommit(), Times: 1}))
		result, err := client.SingleUseTokens.Authenticate(t.Context(), token, authentication())
		require.NoError(t, err)
		assert.Equal(t, quickstream.TransStatusAuthenticated, result.TransStatus)
		requests := box.Requests()
		require.Len(t, requests, 2)
		assert.NotEmpty(t, requests[0].IdempotencyKey)
		assert.Equal(t, requests[0].IdempotencyKey, requests[1].IdempotencyKey)
	})
}

// TestEvery503OnThreeDS: the service's own words tell which of the two it is. What
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
