package clienttest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestKeysAreUUIDs: a service that takes only UUIDs as idempotency keys takes every POST: a
// call's own key, a planned one, and that of a renewed intent.
func TestKeysAreUUIDs(t *testing.T) {
	box, client := sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.KeyForm = "uuid" }))
	_, err := client.Transactions.Pay(t.Context(), payment(), quickstream.WithIdempotencyKey("my-key"))
	require.ErrorIs(t, err, quickstream.ErrInvalid)

	_, err = client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Kim Lee"})
	require.NoError(t, err)
	params := payment()
	token, err := sandboxtest.CardToken(t.Context(), client, sandbox.CardAttempted)
	require.NoError(t, err)
	params.Source = quickstream.FromSingleUseToken(token)
	planned, err := client.Transactions.Plan(t.Context(), params)
	require.NoError(t, err)
	for _, intent := range []quickstream.Intent{planned.Renewed(), planned.Renewed()} {
		assert.NotEqual(t, planned.IdempotencyKey, intent.IdempotencyKey)
		assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, intent.IdempotencyKey)
	}
	_, err = client.Transactions.Submit(t.Context(), planned, func(context.Context) error { return nil })
	require.NoError(t, err)
	assert.Len(t, box.Ledger(), 1)
}

// TestErrorBodiesOfTheSister: the sister product's error bodies are read for people. As the words
// of another service they do not settle a payment.
func TestErrorBodiesOfTheSister(t *testing.T) {
	client := clientOf(t, says(422, `{"data":[{"fieldName":"currency","message":"is required","fieldValue":"4111111111111111"}]}`))
	lost := new(quickstream.UnknownOutcomeError)
	_, err := client.Transactions.Pay(t.Context(), payment())
	require.ErrorAs(t, err, &lost)
	refused := new(quickstream.APIError)
	require.ErrorAs(t, lost.Cause, &refused)
	require.Len(t, refused.Fields(), 1)
	assert.Equal(t, "currency", refused.Fields()[0].FieldName)

	_, err = clientOf(t, says(http.StatusInternalServerError, `{"errorNumber":"E-1","traceCode":"T-1"}`)).Transactions.Get(t.Context(), "R-1", quickstream.WithMaxAttempts(1))
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "T-1", refused.TraceCode)

	_, client = sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.ErrorForm = "data" }))
	_, err = client.Transactions.BySettlementDate(quickstream.Date{Year: 2026, Month: 1, Day: 1}).First(t.Context())
	require.ErrorIs(t, err, quickstream.ErrNotFound)
	_, err = client.Transactions.Get(t.Context(), "R-1")
	require.ErrorIs(t, err, quickstream.ErrNotFound)
	require.ErrorAs(t, err, &refused)
	assert.NotEmpty(t, refused.Fields())
}

// TestReplacedFields: a replaced member is judged by the rules and stands in the intent, so that a
// planned payment sends it; a value of another type is sent as it is. The caller's parameters stay
// as they are.
func TestReplacedFields(t *testing.T) {
	box, client := sandboxtest.New(t)
	ctx, params := t.Context(), payment()
	token, err := sandboxtest.CardToken(ctx, client, sandbox.CardAttempted)
	require.NoError(t, err)
	params.Source, params.Metadata = quickstream.FromSingleUseToken(token), map[string]string{"a": "b"}
	mail := quickstream.WithExtraField("storedCredentialData.entryMode", "STORED_CREDENTIAL")
	planned, err := client.Transactions.Plan(ctx, params, mail, quickstream.WithExtraField("comment", "new"))
	require.NoError(t, err)
	assert.Contains(t, string(planned.Request), `"entryMode":"STORED_CREDENTIAL"`)
	assert.Contains(t, string(planned.Request), `"comment":"new"`)
	assert.Equal(t, quickstream.EntryModeManual, params.StoredCredential.EntryMode)
	_, err = client.Transactions.Submit(ctx, planned, func(context.Context) error { return nil }, mail)
	require.ErrorContains(t, err, "the intent has its own request")
	_, err = client.Transactions.Plan(ctx, params, quickstream.WithExtraField("ipAddress", ""))
	require.ErrorIs(t, err, quickstream.ErrNotSent, "a text that the field would leave out")

	_, err = client.Transactions.Plan(ctx, params, quickstream.WithExtraField("eci", "5"), quickstream.WithExtraField("ipAddress", "127.0.0.1"))
	invalid := new(quickstream.ValidationError)
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, "transaction.ipAddress.public", invalid.Findings[0].Rule)
	params.Source = quickstream.FromCard(approvedCard())
	_, err = client.Transactions.Pay(ctx, params, quickstream.WithExtraField("creditCard.expiryDateMonth", "13"))
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, "card.expiryDate.valid", invalid.Findings[0].Rule)
	assert.Empty(t, box.Ledger())

	body := func(call func(*quickstream.Client, ...quickstream.CallOption) error, opts ...quickstream.CallOption) map[string]any {
		sent, err := sentBody(t, call, opts...)
		require.ErrorIs(t, err, quickstream.ErrInvalid)
		return decodedTree(t, []byte(sent))
	}
	sent := body(func(c *quickstream.Client, opts ...quickstream.CallOption) error {
		return second(c.Transactions.Pay(ctx, params, opts...))
	}, quickstream.WithExtraField("creditCard.expiryDateMonth", 3), quickstream.WithExtraField("creditCard.expiryDateYear", 35), quickstream.WithExtraField("comment", nil))
	assert.Equal(t, json.Number("3"), sent["creditCard"].(map[string]any)["expiryDateMonth"])
	assert.Contains(t, sent, "comment")
	bank := quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromBankAccount(bankAccount())}
	sent = body(func(c *quickstream.Client, opts ...quickstream.CallOption) error {
		return second(c.Accounts.Register(ctx, "C-1", bank, opts...))
	}, quickstream.WithExtraField("bankAccount.bsb", "650 000"))
	assert.Equal(t, "650 000", sent["bankAccount"].(map[string]any)["bsb"])
	sent = body(func(c *quickstream.Client, opts ...quickstream.CallOption) error {
		return second(c.SingleUseTokens.Create(ctx, quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: "SHOP", Account: approvedCard()}, opts...))
	}, quickstream.WithExtraField("expiryDateYear", "35"))
	assert.Equal(t, "35", sent["expiryDateYear"])
	sent = body(func(c *quickstream.Client, opts ...quickstream.CallOption) error {
		return second(c.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Kim Lee", PhoneNumber: "1"}, opts...))
	}, quickstream.WithExtraField("phoneNumber", "2"))
	assert.Equal(t, "2", sent["phoneNumber"])
}

// TestReplacedFieldsOfPayTo: what does not decide can be replaced in agreements and their changes.
// The rules judge it, and it stands in the intent. What decides is refused, and so is a part of
// another change.
func TestReplacedFieldsOfPayTo(t *testing.T) { synctest.Test(t, replacedFieldsOfPayTo) }

func replacedFieldsOfPayTo(t *testing.T) {
	box, client := sandboxtest.New(t)
	ctx := t.Context()
	customerID, agreement := active(t, box, client)
	extra, invalid := quickstream.WithExtraField, new(quickstream.ValidationError)

	create := func(c *quickstream.Client, opts ...quickstream.CallOption) error {
		return second(c.PayTo.Create(ctx, customerID, agreementParams("REF-1"), opts...))
	}
	require.ErrorAs(t, create(client, extra("payerDetails.bsb", "650-000")), &invalid)
	assert.Equal(t, "payer.bsb.digits", invalid.Findings[0].Rule)
	sent, err := sentBody(t, create, extra("payerDetails.bsb", "650-000"), quickstream.WithoutRule("payer.bsb.digits"),
		extra("paymentDetails.description", "Fibre"), extra("respondByTimeMinutes", "60"))
	require.ErrorIs(t, err, quickstream.ErrInvalid)
	tree := decodedTree(t, []byte(sent))
	assert.Equal(t, "650-000", tree["payerDetails"].(map[string]any)["bsb"])
	assert.Equal(t, "Fibre", tree["paymentDetails"].(map[string]any)["description"])
	assert.Equal(t, "60", tree["respondByTimeMinutes"])
	unread := clientOf(t, says(200, "<html>"))
	assert.Contains(t, string(intentOf(t, create(unread, extra("paymentDetails.description", "Fibre"))).Request), `"description":"Fibre"`)

	details, err := agreement.Details()
	require.NoError(t, err)
	terms, err := agreement.Terms()
	require.NoError(t, err)
	suspension := quickstream.ChangingStatus(agreement.AgreementToken, quickstream.AgreementStatusSuspended, quickstream.StatusReason{Code: quickstream.ReasonCodeInitiatingParty})
	_, err = client.PayTo.Plan(ctx, suspension, extra("statusAmendment.reasonDescription", strings.Repeat("x", 257)))
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, "statusAmendment.reasonDescription.length", invalid.Findings[0].Rule)
	for _, change := range []struct {
		of               quickstream.AgreementChange
		name, value, has string
	}{
		{suspension, "statusAmendment.reasonDescription", "new", `"reasonDescription":"new"`},
		{details, "unilateralAmendment.description", "new", `"description":"new"`},
		{terms, "bilateralAmendment.paymentDetails.additionalInformation", "new", `"additionalInformation":"new"`},
	} {
		planned, err := client.PayTo.Plan(ctx, change.of, extra(change.name, change.value))
		require.NoError(t, err, change.name)
		assert.Contains(t, string(planned.Request), change.has)
		require.NoError(t, client.PayTo.Submit(ctx, planned, func(context.Context) error { return nil }))
		_, err = client.PayTo.Plan(ctx, change.of, extra(change.name, 1))
		require.ErrorContains(t, err, "does not hold the whole request", change.name)
	}
	sent, err = sentBody(t, func(c *quickstream.Client, opts ...quickstream.CallOption) error {
		return c.PayTo.AmendBilaterally(ctx, terms, opts...)
	}, extra("bilateralAmendment.respondByTimeMinutes", "60"))
	require.ErrorIs(t, err, quickstream.ErrInvalid)
	assert.Equal(t, "60", decodedTree(t, []byte(sent))["bilateralAmendment"].(map[string]any)["respondByTimeMinutes"])

	requests := len(box.Requests())
	for _, name := range []string{
		"agreementCreationType", "payeeReference", "supplierBusinessCode", "paymentDetails.purpose", "paymentDetails.startDate", "paymentDetails.endDate",
		"paymentDetails.automaticRenewal", "paymentTerms.frequency", "paymentTerms.numberOfPaymentsPermitted", "paymentTerms.pointInTime",
		"paymentTerms.agreementType", "paymentTerms.firstPaymentAmount", "paymentTerms.lastPaymentAmount", "paymentTerms.paymentAmount",
		"paymentTerms.maximumPaymentAmount", "paymentTerms.currency", "paymentTerms.firstPaymentDue", "paymentTerms.lastPaymentDue",
		"payerDetails.payerId", "payerDetails.payerReference", "payerDetails.accountNumber", "payerDetails.payId", "payerDetails.payIdType",
	} {
		require.ErrorContains(t, create(client, extra(name, "1")), `"`+name+`" can only be set by the parameters`)
	}
	for name, change := range map[string]quickstream.AgreementChange{
		"updateType": suspension, "statusAmendment.statusCode": suspension, "recallPayToAgreement.statusCode": suspension,
		"bilateralAmendment.respondByTimeMinutes": suspension, "unilateralAmendment": suspension,
		"unilateralAmendment.payeeReference": details, "unilateralAmendment.supplierBusinessCode": details,
		"bilateralAmendment.paymentDetails.endDate": terms, "bilateralAmendment.paymentTerms.maximumPaymentAmount": terms,
	} {
		_, err := client.PayTo.Plan(ctx, change, extra(name, "1"))
		require.ErrorContains(t, err, `"`+name+`" can only be set by the parameters`)
	}
	_, err = client.PayTo.Plan(ctx, suspension, extra("StatusAmendment", "1"))
	require.ErrorIs(t, err, quickstream.ErrNotSent)
	assert.Len(t, box.Requests(), requests, "what decides is not sent")
}

// TestReplacedFieldsOfThreeDS: the rules judge a replaced text. Another type is sent as it is.
func TestReplacedFieldsOfThreeDS(t *testing.T) {
	params := authentication()
	params.RecurringExpiry = quickstream.Date{Year: 2031, Month: 2, Day: 1}
	authenticate := func(c *quickstream.Client, opts ...quickstream.CallOption) error {
		return second(c.SingleUseTokens.Authenticate(t.Context(), "T-1", params, opts...))
	}
	sent, err := sentBody(t, authenticate, quickstream.WithExtraField("billAddrState", "QLD"), quickstream.WithExtraField("recurringExpiry", "2031-02-01"),
		quickstream.WithExtraField("addrMatch", true), quickstream.WithExtraField("acctID", ""), quickstream.WithExtraField("newMember", 1))
	require.ErrorIs(t, err, quickstream.ErrInvalid)
	tree := decodedTree(t, []byte(sent))
	assert.Equal(t, []any{"QLD", "2031-02-01", true, "", json.Number("1"), "Sydney"},
		[]any{tree["billAddrState"], tree["recurringExpiry"], tree["addrMatch"], tree["acctID"], tree["newMember"], tree["billAddrCity"]})
	assert.Equal(t, "NSW", params.BillingAddress.State)

	invalid := new(quickstream.ValidationError)
	sent, err = sentBody(t, authenticate, quickstream.WithExtraField("shipAddrState", "Queensland"))
	require.ErrorAs(t, err, &invalid)
	assert.Equal(t, "threeDS.shipAddrState.length", invalid.Findings[0].Rule)
	assert.Empty(t, sent)
	for _, name := range []string{"messageCategory", "threeDSRequestorAuthenticationInd", "principalAmount", "currency"} {
		_, err := sentBody(t, authenticate, quickstream.WithExtraField(name, "01"))
		require.ErrorContains(t, err, `"`+name+`" can only be set by the parameters`)
		require.ErrorIs(t, err, errNothingSent)
	}
	_, err = sentBody(t, authenticate, quickstream.WithExtraField("BILLADDRSTATE", "QLD"))
	require.ErrorIs(t, err, errNothingSent, "a known name in another case")
	_, err = sentBody(t, authenticate, quickstream.WithExtraField("shipaddrstate", "QLD"))
	require.ErrorIs(t, err, errNothingSent, "one that the parameters do not set")
}
