package clienttest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func TestRecurringPayments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t)
		customer := newCustomer(t, client)
		_, err := client.Accounts.Register(t.Context(), customer, quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromCard(approvedCard())})
		require.NoError(t, err)
		id, err := box.CreateSchedule(sandbox.Schedule{CustomerID: customer, Amount: 1050, Frequency: sandbox.Monthly})
		require.NoError(t, err)
		<-time.After(32 * 24 * time.Hour)

		schedule, err := client.RecurringPayments.Get(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, id, schedule.PaymentScheduleID)
		assert.NotEmpty(t, schedule.PaymentScheduleCode)
		assert.Equal(t, quickstream.RecurringPaymentStatusActive, schedule.Status)
		assert.JSONEq(t, `"MONTHLY"`, string(schedule.Extra()["frequency"]), "members that are not modelled are kept")
		listed, err := client.RecurringPayments.List(customer).First(t.Context())
		require.NoError(t, err)
		assert.Equal(t, id, listed.PaymentScheduleID)
		payments := 0
		for tx, err := range client.RecurringPayments.Transactions(id).All(t.Context()) {
			require.NoError(t, err)
			assert.Equal(t, quickstream.OutcomeApproved, outcomeOf(tx))
			payments++
		}
		assert.Equal(t, 2, payments)

		_, err = client.RecurringPayments.Get(t.Context(), "1")
		require.ErrorIs(t, err, quickstream.ErrNotFound)
	})
}

func TestBusinesses(t *testing.T) {
	box, client := sandboxtest.New(t, sandbox.WithBusiness("SURCHARGED", "A Shop", sandbox.Surcharge{Scheme: "VISA", BasisPoints: 110}))
	codes := []string{}
	for business, err := range client.Businesses.List().All(t.Context()) {
		require.NoError(t, err)
		codes = append(codes, business.SupplierBusinessCode)
	}
	assert.Contains(t, codes, "SURCHARGED")
	business, err := client.Businesses.Get(t.Context(), "SURCHARGED")
	require.NoError(t, err)
	assert.Equal(t, "A Shop", business.SupplierBusinessName)
	assert.Equal(t, "Australia", business.BusinessAddress.Country)
	_, err = client.Businesses.Get(t.Context(), "NOBODY")
	require.ErrorIs(t, err, quickstream.ErrNotFound)

	for key, list := range map[string]quickstream.List[quickstream.CardSurcharge]{
		sandbox.KeySecret:      client.Businesses.CardSurcharges("SURCHARGED"),
		sandbox.KeyPublishable: client.Businesses.PublicCardSurcharges("SURCHARGED"),
	} {
		box.ResetRequests()
		rates := map[string]string{}
		for card, err := range list.All(t.Context()) {
			require.NoError(t, err, key)
			rates[string(card.CardScheme)+" "+string(card.CardType)] = card.SurchargePercentage
		}
		assert.Equal(t, "1.10", rates["VISA CREDIT"], key)
		assert.Equal(t, "0.00", rates["AMEX "], key)
		requests := box.Requests()
		require.Len(t, requests, 1, "neither falls back to the other")
		assert.Equal(t, key, requests[0].Key)
	}
}

// TestCardsOfABusiness asks with the publishable key, and again where an answer was
// lost: nothing of it is a write.
func TestCardsOfABusiness(t *testing.T) {
	number := approvedCard().CardNumber
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t, sandbox.WithBusiness("SHOP", "Shop", sandbox.Surcharge{Scheme: "VISA", BasisPoints: 110}), sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.UnknownEnumValues = false }))
		require.NoError(t, box.Inject(sandbox.Fault{Kind: sandbox.ResetAfterCommit(), Times: 1}))
		surcharge, err := client.Businesses.QueryCardSurcharge(t.Context(), "SHOP", number)
		require.NoError(t, err)
		assert.Equal(t, []any{quickstream.CardSchemeVisa, quickstream.CardTypeCredit, "1.10"}, []any{surcharge.CardScheme, surcharge.CardType, surcharge.SurchargePercentage})
		debit, err := client.Businesses.QueryCardSurcharge(t.Context(), sandbox.DefaultBusiness, quickstream.NewSecret("4041370000456459"))
		require.NoError(t, err)
		assert.Equal(t, []any{quickstream.CardTypeDebit, "0.00"}, []any{debit.CardType, debit.SurchargePercentage})
		prefix, err := client.Businesses.CardScheme(t.Context(), "250000")
		require.ErrorIs(t, err, quickstream.ErrNotFound)
		assert.Nil(t, prefix)
		requests := box.Requests()
		require.Len(t, requests, 4)
		for _, r := range requests {
			assert.Equal(t, sandbox.KeyPublishable, r.Key)
		}
		assert.Equal(t, requests[0].IdempotencyKey, requests[1].IdempotencyKey)

		_, err = client.Businesses.QueryCardSurcharge(t.Context(), "NOBODY", number)
		require.ErrorIs(t, err, quickstream.ErrNotFound)
		_, err = client.Businesses.AcceptedCards("NOBODY").First(t.Context())
		require.ErrorIs(t, err, quickstream.ErrNotFound)
		require.NotErrorIs(t, err, quickstream.ErrEmptyList)
		_, err = client.Businesses.QueryCardSurcharge(t.Context(), "SHOP", quickstream.NewSecret("424242424242"))
		require.ErrorIs(t, err, quickstream.ErrInvalid, "no test number")
	})
	// In every way to fail there is no unknown outcome.
	for name, way := range failures() {
		synctest.Test(t, func(t *testing.T) {
			_, err := clientOf(t, way).Businesses.QueryCardSurcharge(t.Context(), "SHOP", number)
			require.Error(t, err, name)
			assert.NotErrorIs(t, err, quickstream.ErrOutcomeUnknown, name)
		})
	}
}

// TestKeyIsRenewed goes on with the new key after the old one has expired.
func TestKeyIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t)
		old := sandboxtest.Keys(box).Secret
		renewed, err := client.APIKeys.Renew(t.Context())
		require.NoError(t, err)
		assert.False(t, renewed.Key.Equal(old))
		assert.NotEmpty(t, renewed.KeyName)
		assert.NotEmpty(t, renewed.ExpiryDate)
		assert.Equal(t, box.Keys().Secret, renewed.Reveal())

		for _, printed := range []string{fmt.Sprint(renewed), fmt.Sprintf("%+v", *renewed), fmt.Sprintf("%#v", renewed)} {
			assert.NotContains(t, printed, renewed.Reveal())
		}
		_, err = json.Marshal(renewed)
		require.Error(t, err)

		<-time.After(2 * time.Hour)
		err = client.Check(t.Context())
		require.ErrorIs(t, err, quickstream.ErrUnauthorized, "the old key has expired")
		_, err = client.APIKeys.Renew(t.Context())
		require.ErrorIs(t, err, quickstream.ErrUnauthorized)
		client, err = quickstream.NewClient(quickstream.CustomURL(box.URL()), quickstream.Keys{Secret: renewed.Key},
			quickstream.WithHTTPClient(box.HTTPClient()))
		require.NoError(t, err)
		err = client.Check(t.Context())
		require.NoError(t, err)
	})
}

// TestCheckProvesTheSecretKey: a publishable key in its place is answered at the root,
// and is found out.
func TestCheckProvesTheSecretKey(t *testing.T) {
	box := sandbox.New()
	t.Cleanup(box.Close)
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), quickstream.Keys{Secret: quickstream.NewSecretKey(box.Keys().Publishable)},
		quickstream.WithHTTPClient(box.HTTPClient()))
	require.NoError(t, err)
	_, err = client.Root(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, client.Check(t.Context()), quickstream.ErrUnauthorized)
	require.NoError(t, sandboxtest.Client(t, box).Check(t.Context()))

	for _, body := range []string{`{"data":[]}`, `{"data":null}`, `{"data":[{}]}`, `{"data":[{"newMember":1}],"links":[]}`} {
		assert.NoError(t, clientOf(t, says(200, body)).Check(t.Context()), body)
	}
	for _, body := range []string{``, `<html>`, `{}`, `[]`, `{"data":7}`} {
		_, unreadable := errors.AsType[*quickstream.DecodeError](clientOf(t, says(200, body)).Check(t.Context(), quickstream.WithMaxAttempts(1)))
		assert.True(t, unreadable, body)
	}
}
