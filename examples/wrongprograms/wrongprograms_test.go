// Package wrongprograms measures what ordinary mistakes of merchants cost: how many
// orders are charged twice, and about how many the merchant believes the wrong
// thing. The old figures are those of the same mistakes, orders, seed and faults
// against the interface of commit 5284839, in which an intent was made by Prepare,
// sent by WithIntent and looked for by Reconcile.
//
// What still does harm is here to be seen, each with the place in the documentation
// where a reader decides: it is what no client can prevent, or what this one invites.
package wrongprograms

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// mistake is one way to make a mistake, and what has become of it.
type mistake struct {
	name    string
	old     string // how many of 400 orders were charged twice at commit 5284839
	program program
	// decides is the doc comment where a reader decides; "" for a program that does
	// no harm.
	decides string
}

// measured measures a mistake, and prints its row of the table.
func (m mistake) measured(t *testing.T) figures {
	t.Helper()
	f := measure(t, m.program)
	t.Logf("%-40s of %d orders charged twice %2d, was %2s; believed unpaid %2d, believed paid %d, paid %3d, held %2d; %s",
		m.name, orders, f.twice, m.old, f.believedUnpaid, f.believedPaid, f.paid, f.held, m.decides)
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
	mistake{"0 none", "0", right, ""}.harmsNobody(t)
}

// No client can prevent it: each turn is a payment of its own.
func TestWrongProgramAnyErrorPaysAgain(t *testing.T) {
	t.Parallel()
	mistake{"1 any error: pay again", "59", anyErrorPaysAgain, "TransactionsService.Pay, UnknownOutcomeError"}.chargesTwice(t)
}

func TestWrongProgramIntentMadeInTheLoop(t *testing.T) {
	t.Parallel()
	mistake{"2a stored over the one before", "59", storesInTheLoop, "WithBeforeSend"}.chargesTwice(t)
	mistake{"2b inserted, one for each order", "59", storesOnceInTheLoop, ""}.harmsNobody(t)
}

func TestWrongProgramNotFoundPaysAgain(t *testing.T) {
	t.Parallel()
	mistake{"3a by ErrNotFound", "41", notFoundPaysAgain(notFoundError), ""}.harmsNobody(t)
	mistake{"3b by no candidates", "41", notFoundPaysAgain(noCandidates), "TransactionsService.Resume"}.chargesTwice(t)
}

func TestWrongProgramRequireApprovedHoldsOnlyUnknown(t *testing.T) {
	t.Parallel()
	mistake{"4a by errors.Is ErrOutcomeUnknown", "16", requireApproved(unknownByIs), ""}.harmsNobody(t)
	mistake{"4b by the type UnknownOutcomeError", "16", requireApproved(unknownByType), ""}.harmsNobody(t)
}

func TestWrongProgramNotApprovedMeansFailed(t *testing.T) {
	t.Parallel()
	mistake{"5a not approved: another card", "11", notApprovedTakesAnotherCard((*quickstream.Transaction).Outcome), ""}.harmsNobody(t)
	mistake{"5b the error of Outcome thrown away", "11", notApprovedTakesAnotherCard(outcomeWithoutItsError), "Transaction.Outcome"}.chargesTwice(t)
}

// Under an own key no client can prevent it: that it was used hours ago, nobody here
// knows. A planned intent is safe with a claim, and without Renewed.
func TestWrongProgramSameIntentAgainLater(t *testing.T) {
	t.Parallel()
	mistake{"6a own key: loop, and the job once more", "7", jobPaysAgainUnderItsKey(2, tries), "WithIdempotencyKey"}.chargesTwice(t)
	mistake{"6b own key: one try in each run", "52", jobPaysAgainUnderItsKey(tries, 1), "WithIdempotencyKey"}.chargesTwice(t)
	mistake{"6c submitted again, empty claim", "52", jobSubmitsAgain(emptyClaim, submitsThePlan), "Claim"}.chargesTwice(t)
	mistake{"6d claim refused: renewed", "", jobSubmitsAgain((*shop).claim, renewsWhatWasNotSent), ""}.harmsNobody(t)
	mistake{"6e lost intent refused: not paid", "", jobSubmitsAgain((*shop).claim, submitsTheLost), ""}.harmsNobody(t)
}

// Of old 44 orders were charged and believed unpaid, and none charged twice. Today
// the look-up finds the payment that the plan has not made, and a person is asked.
func TestWrongProgramStoredAnotherIntentThanSent(t *testing.T) {
	t.Parallel()
	t.Run("7a card details cannot be planned", func(t *testing.T) {
		_, client := sandboxtest.New(t)
		if _, err := client.Transactions.Plan(t.Context(), byCard(orderID(0), visa)); !errors.Is(err, quickstream.ErrNotSent) {
			t.Errorf("the plan of a card's details: %v", err)
		}
	})
	mistake{"7b planned, and Pay called", "0", paysWhatWasNotPlanned, ""}.harmsNobody(t)
}

func TestWrongProgramDeadlineMeansTemporary(t *testing.T) {
	t.Parallel()
	mistake{"8a by the error", "4", deadlineIsTemporary(exceededByError), ""}.harmsNobody(t)
	mistake{"8b by the context", "4", deadlineIsTemporary(exceededByContext), "UnknownOutcomeError"}.chargesTwice(t)
}

// TestWrongProgramsOfOldDoNotCompile builds what the mistakes 2, 3, 5, 6 and 7 were
// made of.
func TestWrongProgramsOfOldDoNotCompile(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("testdata/old.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "old.go")
	if err := os.WriteFile(file, source, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, file).CombinedOutput()
	if err == nil {
		t.Fatal("it compiles")
	}
	for _, missing := range []string{
		"params.Prepare undefined", "client.Transactions.Reconcile undefined", "undefined: quickstream.ReconcileNotFoundYet", "undefined: quickstream.WithIntent",
		"not enough arguments in call to client.Transactions.Submit", "not enough arguments in call to resolve.DefaultPolicy",
		"multiple-value tx.Outcome()",
	} {
		if !strings.Contains(string(out), missing) {
			t.Errorf("%q is not among the errors:\n%s", missing, out)
		}
	}
}
