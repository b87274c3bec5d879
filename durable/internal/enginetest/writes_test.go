package enginetest

import (
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const amendments = "PATCH /payto-agreements/{agreementToken}"

func TestChange(t *testing.T) { everywhere(t, testChange[*sql.Tx], testChange[pgx.Tx]) }

// A change of an agreement goes through the queue, one at a time; one whose answer is lost
// is done when the agreement is as it was asked for.
func testChange[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	customer, err := s.client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Alex Example"})
	require.NoError(t, err)
	agreement, err := s.client.PayTo.Create(t.Context(), customer.CustomerID, s.agreementParams())
	require.NoError(t, err)
	require.NoError(t, s.box.Payer(agreement.AgreementToken, sandbox.ConfirmAgreement))
	change := func(orderID string, to quickstream.Operation, code quickstream.AgreementReasonCode) string {
		return s.write(func(tx TTx) (string, error) {
			written, _, err := s.engine.Change(t.Context(), tx, s.newWrite(orderID), quickstream.AgreementChange{Operation: to, AgreementToken: agreement.AgreementToken, Reason: quickstream.AgreementReason{Code: code}})
			return written.ID, err
		})
	}
	suspended := s.settled(change("suspend", quickstream.OperationSuspendAgreement, quickstream.AgreementReasonFinalCollection))
	assert.Equal(t, approved, suspended.Text(), suspended.Problem)
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: amendments, Kind: sandbox.ResetAfterCommit(), Times: 1}))
	lost := change("reactivate", quickstream.OperationReactivateAgreement, quickstream.AgreementReasonNoAnswer)
	assert.Equal(t, approved, s.reaches(lost, approved, time.Minute).Text())
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: amendments, Kind: sandbox.Status(422, sandbox.ServiceError), Times: 1}))
	assert.Equal(t, refused, s.settled(change("refused", quickstream.OperationSuspendAgreement, quickstream.AgreementReasonFinalCollection)).Text())
	now, err := s.client.PayTo.Get(t.Context(), agreement.AgreementToken)
	require.NoError(t, err)
	assert.Equal(t, quickstream.AgreementStatusActive, now.Status)
	for order, state := range map[string]string{"suspend": approved, "reactivate": approved, "refused": refused} {
		assert.Equal(t, []string{state}, s.states(order), order)
	}
}

func TestRegister(t *testing.T) { everywhere(t, testRegister[*sql.Tx], testRegister[pgx.Tx]) }

// An account is registered through the queue, from a token or a receipt, and its token is
// kept. What a restored backup holds is looked up first. Of a lost registration the accounts that no
// other one has made are shown to a person.
func testRegister[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	customer, err := s.client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Alex Example"})
	require.NoError(t, err)
	register := func(orderID, customerID string, params quickstream.RegisterAccountParams) string {
		return s.write(func(tx TTx) (string, error) {
			written, _, err := s.engine.Register(t.Context(), tx, s.newWrite(orderID), customerID, params)
			return written.ID, err
		})
	}
	token, err := sandboxtest.CardToken(t.Context(), s.client, sandbox.CardAttempted)
	require.NoError(t, err)
	byToken := s.settled(register("token", customer.CustomerID, quickstream.RegisterAccountParams{SingleUseTokenID: token}))
	assert.Equal(t, approved, byToken.Text(), byToken.Problem)
	account, err := s.client.Accounts.Get(t.Context(), byToken.ReceiptNumber)
	require.NoError(t, err)
	assert.Equal(t, customer.CustomerID, account.CustomerID)
	paid := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	source := quickstream.RegisterAccountParams{ReceiptNumber: paid.ReceiptNumber}
	assert.Equal(t, approved, s.settled(register("receipt", customer.CustomerID, source)).Text())
	assert.Equal(t, refused, s.settled(register("nobody", "C-9", source)).Text())

	require.NoError(t, s.engine.Stop(t.Context()))
	id := register("restored", customer.CustomerID, source)
	require.NoError(t, s.engineOf().Restored(t.Context(), s.clock.Now()))
	require.NoError(t, s.engineOf().ConfirmHistory(t.Context(), "Kim", "the only copy"))
	s.box.ResetRequests()
	s.engine = s.start()
	assert.Equal(t, approved, s.reaches(id, approved, time.Minute).Text())
	operations := []string{}
	for _, request := range s.box.Requests() {
		operations = append(operations, request.Operation)
	}
	assert.Less(t, slices.Index(operations, "GET /customers/{customerId}/accounts"), slices.Index(operations, "POST /customers/{customerId}/accounts"))
	assert.Contains(t, operations, "GET /customers/{customerId}/accounts")

	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: "POST /customers/{customerId}/accounts", Kind: sandbox.ResetAfterCommit(), Times: 1}))
	lost := s.reaches(register("lost", customer.CustomerID, source), escalated, time.Hour)
	made, err := s.client.Accounts.List(customer.CustomerID).First(t.Context())
	require.NoError(t, err)
	assert.Contains(t, lost.Problem, "it may be one of these: "+made.AccountToken)
	assert.NotContains(t, lost.Problem, byToken.ReceiptNumber, "the account of another registration")
}
