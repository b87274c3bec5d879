package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
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

// TestAuthenticationBody sets every field and compares what is sent, member by
// member, with the names and forms of the specification.
func TestAuthenticationBody(t *testing.T) {
	box, client := sandboxtest.New(t)
	day := func(d int) quickstream.Date { return quickstream.NewDate(2031, time.February, d) }
	params := quickstream.AuthenticateParams{
		MessageCategory: quickstream.ThreeDSMessageCategoryPayment, Purpose: quickstream.ThreeDSPurposeInstalment,
		PrincipalAmount: new(decimal.RequireFromString("1234.5")), Currency: quickstream.CurrencyAUD,
		RecurringExpiry: day(1), RecurringFrequency: new(28), Instalments: new(12),
		Email: "kim@example.com", HomePhone: "+61200000001", MobilePhone: "+61400000002", WorkPhone: "+61200000003",
		BillingAddress: quickstream.ThreeDSAddress{Line1: "b1", Line2: "b2", Line3: "b3", City: "Sydney", PostCode: "2000", State: "NSW", Country: "036"},
		ShippingAddress: quickstream.ThreeDSAddress{
			Line1: "s1", Line2: "s2", Line3: "s3", City: "Auckland", PostCode: "1010", State: "AUK", Country: "554",
		},
		AddressesMatch: new(false),
		Order: quickstream.ThreeDSOrder{
			DeliveryEmail: "lee@example.com", Delivery: quickstream.ThreeDSDeliveryOvernight,
			GiftCardAmount: new(int64(0)), GiftCardCount: new(1), GiftCardCurrency: "036",
			PreOrderDate: day(2), Availability: quickstream.ThreeDSAvailabilityLater, Reorder: quickstream.ThreeDSReorderAgain,
			Shipping: quickstream.ThreeDSShippingOther,
		},
		Account: quickstream.ThreeDSAccount{
			ID: "account-1", Created: day(3), Age: quickstream.ThreeDSAgeOver60Days,
			Changed: day(4), ChangeAge: quickstream.ThreeDSChangeAgeOver60Days,
			PasswordChanged: day(5), PasswordAge: quickstream.ThreeDSPasswordAgeOver60Days, PurchasesSixMonths: new(0),
			PaymentAccountCreated: day(6), PaymentAccountAge: quickstream.ThreeDSAgeUnder30Days, AddCardAttemptsDay: new(2),
			ShippingAddressUsed: day(7), ShippingAddressAge: quickstream.ThreeDSChangeAge30To60Days,
			ShippingName: quickstream.ThreeDSShippingNameDifferent, Suspicion: quickstream.ThreeDSSuspicionNone,
			TransactionsDay: new(3), TransactionsYear: new(999),
		},
	}
	want := map[string]any{
		"messageCategory": "01", "threeDSRequestorAuthenticationInd": "03", "principalAmount": "1234.50", "currency": "AUD",
		"recurringExpiry": "20310201", "recurringFrequency": "28", "purchaseInstalData": "12",
		"email": "kim@example.com", "homePhone": "+61200000001", "mobilePhone": "+61400000002", "workPhone": "+61200000003",
		"billAddrLine1": "b1", "billAddrLine2": "b2", "billAddrLine3": "b3", "billAddrCity": "Sydney",
		"billAddrPostCode": "2000", "billAddrState": "NSW", "billAddrCountry": "036", "addrMatch": "N",
		"shipAddrLine1": "s1", "shipAddrLine2": "s2", "shipAddrLine3": "s3", "shipAddrCity": "Auckland",
		"shipAddrPostCode": "1010", "shipAddrState": "AUK", "shipAddrCountry": "554",
		"deliveryEmailAddress": "lee@example.com", "deliveryTimeframe": "03", "giftCardAmount": "0", "giftCardCount": "01", "giftCardCurr": "036",
		"preOrderDate": "20310202", "preOrderPurchaseInd": "02", "reorderItemsInd": "02", "shipIndicator": "07",
		"acctID": "account-1", "chAccDate": "20310203", "chAccAgeInd": "05", "chAccChange": "20310204", "chAccChangeInd": "04",
		"chAccPwChange": "20310205", "chAccPwChangeInd": "05", "nbPurchaseAccount": "0",
		"paymentAccAge": "20310206", "paymentAccInd": "03", "provisionAttemptsDay": "2",
		"shipAddressUsage": "20310207", "shipAddressUsageInd": "03", "shipNameIndicator": "02", "suspiciousAccActivity": "01",
		"txnActivityDay": "3", "txnActivityYear": "999",
	}
	assertFilled(t, reflect.ValueOf(params), "AuthenticateParams")
	_, err := client.SingleUseTokens.Authenticate(t.Context(), browserToken(t.Context(), t, client, "4242424242424242"), params)
	require.NoError(t, err, "the sandbox refuses members that it does not know")
	assert.Equal(t, want, lastBody(t, box))

	_, err = client.SingleUseTokens.Authenticate(t.Context(), browserToken(t.Context(), t, client, "4242424242424242"), quickstream.AuthenticateParams{
		MessageCategory: quickstream.ThreeDSMessageCategoryStoring, Purpose: quickstream.ThreeDSPurposeAddCard,
	})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"messageCategory": "02", "threeDSRequestorAuthenticationInd": "04"}, lastBody(t, box))
}

// assertFilled fails for every exported field, at any depth, that is zero.
func assertFilled(t *testing.T, v reflect.Value, name string) {
	t.Helper()
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[quickstream.Date]() {
		assert.False(t, v.IsZero(), "%s is not set", name)
		return
	}
	for i := range v.NumField() {
		if field := v.Type().Field(i); field.IsExported() {
			assertFilled(t, v.Field(i), name+"."+field.Name)
		}
	}
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
