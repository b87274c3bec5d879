// Package wrongprograms measures what ordinary mistakes of merchants cost: how many
// orders are charged twice, and about how many the merchant believes the wrong thing.
//
// Each mistake that does harm names the documentation where a reader decides. No client
// can prevent it, or this one invites it.
package wrongprograms

import (
	"errors"
	"testing"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// mistake is one way to make a mistake, and what has become of it.
type mistake struct {
	name    string
	program program
	// decides is the doc comment where a reader decides; "" for a program that does
	// no harm.
	decides string
}

// measured measures a mistake, and prints its row of the table.
func (m mistake) measured(t *testing.T) figures {
	t.Helper()
	f := measure(t, m.program)
	t.Logf("%-40s of %d orders charged twice %2d; believed unpaid %2d, believed paid %d, paid %3d, held %2d; %s",
		m.name, orders, f.twice, f.believedUnpaid, f.believedPaid, f.paid, f.held, m.decides)
	return f
}

func (m mistake) harmsNobody(t *testing.T) {
	t.Helper()
	if f := m.measured(t); f.twice+f.believedUnpaid+f.believedPaid != 0 || f.paid == 0 {
		t.Errorf("%s: %+v", m.name, f)
	}
}

func (m mistake) chargesTwice(t *testing.T) {
	t.Helper()
	if f := m.measured(t); f.twice == 0 {
		t.Errorf("%s charges nobody twice any more: %+v", m.name, f)
	}
}

func TestRightProgram(t *testing.T) {
	t.Parallel()
	mistake{"0 none", right, ""}.harmsNobody(t)
}

// No client can prevent it: each turn is a payment of its own.
func TestWrongProgramAnyErrorPaysAgain(t *testing.T) {
	t.Parallel()
	mistake{"1 any error: pay again", anyErrorPaysAgain, "TransactionsService.Pay, UnknownOutcomeError"}.chargesTwice(t)
}

func TestWrongProgramIntentMadeInTheLoop(t *testing.T) {
	t.Parallel()
	mistake{"2a stored over the one before", storesInTheLoop, "WithBeforeSend"}.chargesTwice(t)
	mistake{"2b inserted, one for each order", storesOnceInTheLoop, ""}.harmsNobody(t)
}

func TestWrongProgramNotFoundPaysAgain(t *testing.T) {
	t.Parallel()
	mistake{"3a by ErrNotFound", notFoundPaysAgain(notFoundError), ""}.harmsNobody(t)
	mistake{"3b by no candidates", notFoundPaysAgain(noCandidates), "TransactionsService.Resume"}.chargesTwice(t)
}

func TestWrongProgramRequireApprovedHoldsOnlyUnknown(t *testing.T) {
	t.Parallel()
	mistake{"4a by errors.Is ErrOutcomeUnknown", requireApproved(unknownByIs), ""}.harmsNobody(t)
	mistake{"4b by the type UnknownOutcomeError", requireApproved(unknownByType), ""}.harmsNobody(t)
}

func TestWrongProgramNotApprovedMeansFailed(t *testing.T) {
	t.Parallel()
	mistake{"5a not approved: another card", notApprovedTakesAnotherCard((*quickstream.Transaction).Outcome), ""}.harmsNobody(t)
	mistake{"5b the error of Outcome thrown away", notApprovedTakesAnotherCard(outcomeWithoutItsError), "Transaction.Outcome"}.chargesTwice(t)
}

// Under an own key no client can prevent it: that it was used hours ago, nobody here
// knows. A planned intent is safe with a claim, and without Renewed.
func TestWrongProgramSameIntentAgainLater(t *testing.T) {
	t.Parallel()
	mistake{"6a own key: loop, and the job once more", jobPaysAgainUnderItsKey(2, tries), "WithIdempotencyKey"}.chargesTwice(t)
	mistake{"6b own key: one try in each run", jobPaysAgainUnderItsKey(tries, 1), "WithIdempotencyKey"}.chargesTwice(t)
	mistake{"6c submitted again, empty claim", jobSubmitsAgain(emptyClaim, submitsThePlan), "Claim"}.chargesTwice(t)
	mistake{"6d claim refused: renewed", jobSubmitsAgain((*shop).claim, renewsWhatWasNotSent), ""}.harmsNobody(t)
	mistake{"6e lost intent refused: not paid", jobSubmitsAgain((*shop).claim, submitsTheLost), ""}.harmsNobody(t)
}

// The look-up finds a payment that the plan did not make, and a person is asked.
func TestWrongProgramStoredAnotherIntentThanSent(t *testing.T) {
	t.Parallel()
	t.Run("7a card details cannot be planned", func(t *testing.T) {
		_, client := sandboxtest.New(t)
		if _, err := client.Transactions.Plan(t.Context(), byCard(orderID(0), visa)); !errors.Is(err, quickstream.ErrNotSent) {
			t.Errorf("the plan of a card's details: %v", err)
		}
	})
	mistake{"7b planned, and Pay called", paysWhatWasNotPlanned, ""}.harmsNobody(t)
}

func TestWrongProgramDeadlineMeansTemporary(t *testing.T) {
	t.Parallel()
	mistake{"8a by the error", deadlineIsTemporary(exceededByError), ""}.harmsNobody(t)
	mistake{"8b by the context", deadlineIsTemporary(exceededByContext), "UnknownOutcomeError"}.chargesTwice(t)
}
