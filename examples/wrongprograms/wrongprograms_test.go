package main

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream"
)

// TestShortestPrograms: the shortest programs are right where the service keeps keys.
func TestShortestPrograms(t *testing.T) {
	wrong, err := table(t.Context(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ignored := 0
	for _, text := range wrong {
		if !strings.HasPrefix(text, "keys ignored") {
			t.Error(text)
		}
		ignored++
	}
	if ignored != len(shortest())-1 {
		t.Errorf("where keys are ignored %d programs charge twice, and only the one that resolves shows it: %q", ignored, wrong)
	}
}

var chargedTwice = regexp.MustCompile(`was charged \d+ times`)

// TestPrograms shows whether an ordinary mistake charges orders twice, or makes the merchant believe the
// wrong thing. What does harm names the documentation where a reader decides.
func TestPrograms(t *testing.T) {
	for _, mistake := range []struct {
		name    string
		program program
		// decides is the doc comment where a reader decides; "" for a program that does
		// no harm.
		decides string
	}{
		{"0 none", right, ""},
		// No client can prevent it: each turn is a payment of its own.
		{"1 any error: pay again", anyErrorPaysAgain(nothing, errNotPaid), "TransactionsService.Pay, UnknownOutcomeError"},
		{"2a stored over the one before", anyErrorPaysAgain((*shop).storing, errNotPaid), "WithBeforeSend"},
		{"2b inserted, one for each order", anyErrorPaysAgain((*shop).once, quickstream.ErrOutcomeUnknown), ""},
		{"3a not found, by ErrNotFound", notFoundPaysAgain(notFoundError), ""},
		{"3b not found, by no candidates", notFoundPaysAgain(noCandidates), "TransactionsService.Resume"},
		{"4a all but ErrOutcomeUnknown: another card", othersTakeAnotherCard(unknownByIs), ""},
		{"4b all but the type UnknownOutcomeError: another card", othersTakeAnotherCard(unknownByType), ""},
		{"5 the transaction of an error: another card unless approved", anotherCardUnlessApproved, "Transaction.Outcome"},
		// Under an own key no client can prevent it: that it was used hours ago, nobody here
		// knows. A planned intent is safe with a claim.
		{"6a own key: loop, and the job once more", jobPaysAgainUnderItsKey(2, tries), "WithIdempotencyKey"},
		{"6b own key: one try in each run", jobPaysAgainUnderItsKey(tries, 1), "WithIdempotencyKey"},
		{"6c submitted again, empty claim", jobSubmitsAgain(emptyClaim, submitsThePlan), "Claim"},
		{"6d lost intent refused: not paid", jobSubmitsAgain((*shop).claim, submitsTheLost), ""},
		// The look-up finds a payment that the plan did not make, and a person is asked.
		{"7 planned, and Pay called", paysWhatWasNotPlanned, ""},
		{"8a deadline is temporary, by the error", deadlineIsTemporary(exceededByError), ""},
		{"8b deadline is temporary, by the context", deadlineIsTemporary(exceededByContext), "UnknownOutcomeError"},
	} {
		t.Run(mistake.name, func(t *testing.T) {
			t.Parallel()
			wrong := harm(t, mistake.program)
			switch {
			case mistake.decides == "" && len(wrong) > 0:
				t.Errorf("it does harm: %s", strings.Join(wrong, "\n"))
			case mistake.decides != "" && !chargedTwice.MatchString(strings.Join(wrong, "\n")):
				t.Errorf("it charges nobody twice any more; %s says that it does: %q", mistake.decides, wrong)
			}
		})
	}
}
