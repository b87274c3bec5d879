package resolve_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// retried is a service that finds these attempts, with these retries.
type retried struct {
	attempts []*quickstream.Transaction
	retries  map[string][]*quickstream.Transaction
	endless  bool
	service  *quickstream.TransactionsService // whose retries they are, in place of these
	asked    []string
}

func (r *retried) Resume(context.Context, quickstream.Intent, ...quickstream.CallOption) (*quickstream.Transaction, error) {
	if len(r.attempts) == 1 {
		return r.attempts[0], nil
	}
	open := &quickstream.UnknownOutcomeError{Intent: &quickstream.Intent{Attempts: len(r.attempts)}}
	for _, attempt := range r.attempts {
		open.Candidates = append(open.Candidates, quickstream.Candidate{Transaction: attempt, Matches: true})
	}
	return nil, open
}

func (r *retried) Retries(receipt string, _ ...quickstream.CallOption) quickstream.List[quickstream.Transaction] {
	r.asked = append(r.asked, receipt)
	switch {
	case r.service != nil:
		return r.service.Retries(receipt)
	case r.endless:
		return quickstream.ListOf(declined(receipt+"0", "51"))
	}
	return quickstream.ListOf(r.retries[receipt]...)
}

// TestRetriesOfRetries: the approved payment is found however the service lists it: as the retry of
// a retry, or of any of several declined attempts.
func TestRetriesOfRetries(t *testing.T) {
	type lists = map[string][]*quickstream.Transaction
	soft := declined("R1", "51")
	both := []*quickstream.Transaction{soft, declined("R2", "54")}
	for name, tt := range map[string]struct {
		service *retried
		result  resolve.LookupResult
		receipt string
		asked   []string
	}{
		"a retry of a retry":         {&retried{retries: lists{"R1": {declined("R3", "51")}, "R3": {declined("R4", "54")}, "R4": {approved("R5")}}}, resolve.LookupSettled, "R5", []string{"R1", "R3", "R4"}},
		"in a circle":                {&retried{retries: lists{"R1": {soft, declined("R3", "51")}, "R3": {declined("R1", "51"), declined("R3", "51")}}}, resolve.LookupSettled, "R1", []string{"R1", "R3"}},
		"a receipt in another form":  {&retried{retries: lists{"R1": {approved("R3"), approved("r3")}}}, resolve.LookupSettled, "R3", []string{"R1"}},
		"endless":                    {&retried{endless: true}, resolve.LookupFailed, "", nil},
		"of the first of two":        {&retried{attempts: both, retries: lists{"R1": {approved("R3")}}}, resolve.LookupSettled, "R3", []string{"R1", "R2"}},
		"of the second of two":       {&retried{attempts: both, retries: lists{"R2": {approved("R3")}}}, resolve.LookupSettled, "R3", []string{"R1", "R2"}},
		"of both":                    {&retried{attempts: both, retries: lists{"R1": {approved("R3")}, "R2": {approved("R4")}}}, resolve.LookupDoubleCharged, "", []string{"R1", "R2"}},
		"one of both":                {&retried{attempts: both, retries: lists{"R1": {approved("R3")}, "R2": {approved("R3")}}}, resolve.LookupSettled, "R3", []string{"R1", "R2"}},
		"none yet":                   {&retried{}, resolve.LookupSettled, "R1", []string{"R1"}},
		"declined":                   {&retried{retries: lists{"R1": {declined("R3", "51")}}}, resolve.LookupSettled, "R1", []string{"R1", "R3"}},
		"under way":                  {&retried{retries: lists{"R1": {declined("R3", "54"), unsettled("R4")}}}, resolve.LookupPending, "R4", nil},
		"approved":                   {&retried{retries: lists{"R1": {approved("R3"), declined("R4", "54")}}}, resolve.LookupSettled, "R3", nil},
		"both approved":              {&retried{retries: lists{"R1": {approved("R3"), approved("R4")}}}, resolve.LookupDoubleCharged, "", []string{"R1"}},
		"not declined":               {&retried{attempts: []*quickstream.Transaction{approved("R1")}, retries: lists{"R1": {approved("R3")}}}, resolve.LookupSettled, "R1", nil},
		"in two states":              {&retried{retries: lists{"R1": {declined("R3", "51"), approved("R3")}}}, resolve.LookupFailed, "", []string{"R1"}},
		"in two states, newer first": {&retried{retries: lists{"R1": {approved("R3"), declined("R3", "51")}}}, resolve.LookupFailed, "", []string{"R1"}},
		"in two states of two lists": {&retried{attempts: both, retries: lists{"R1": {approved("R3")}, "R2": {declined("R3", "51")}}}, resolve.LookupFailed, "", []string{"R1", "R2"}},
		"not declined any more":      {&retried{retries: lists{"R1": {approved("R1")}}}, resolve.LookupFailed, "", []string{"R1"}},
	} {
		if tt.service.attempts == nil {
			tt.service.attempts = []*quickstream.Transaction{soft}
		}
		o := resolve.DefaultPolicy(resolve.ServiceRetriesFor(time.Hour)).LookUp(t.Context(), tt.service, resolve.Case{})
		assert.Equal(t, tt.result, o.Result, name)
		assert.Equal(t, tt.receipt, o.ReceiptNumber, name)
		assert.Equal(t, tt.receipt != "" && o.Outcome != quickstream.OutcomeApproved, o.Retryable, name)
		assert.True(t, slices.IsSorted(receipts(o)), name)
		if tt.asked != nil {
			assert.Equal(t, tt.asked, tt.service.asked, name)
		}
		assert.LessOrEqual(t, len(tt.service.asked), 50, name)
	}
}

// TestRetriesOfAnotherAmount: a payment in a list of retries is no retry if it has another amount.
func TestRetriesOfAnotherAmount(t *testing.T) {
	for _, tt := range []struct {
		principal, total           string // of the declined payment
		retryPrincipal, retryTotal string
		result                     resolve.LookupResult
	}{
		{"10.50", "10.50", "10.50", "10.50", resolve.LookupSettled},
		{"10.50", "10.50", "10.5", "11.00", resolve.LookupSettled},
		{"10.50", "11.00", "11.00", "11.00", resolve.LookupFailed},
		{"", "", "10.50", "10.50", resolve.LookupSettled},
		{"10.50", "", "", "", resolve.LookupSettled},
		{"10.50", "10.50", "10.51", "10.51", resolve.LookupFailed},
		{"", "10.50", "1.05", "", resolve.LookupFailed},
	} {
		attempt, retry := declined("R1", "51"), approved("R2")
		for member, text := range map[**quickstream.Amount]string{
			&attempt.PrincipalAmount: tt.principal, &attempt.TotalAmount: tt.total, &retry.PrincipalAmount: tt.retryPrincipal, &retry.TotalAmount: tt.retryTotal,
		} {
			if text != "" {
				*member = &quickstream.Amount{Amount: decimal.RequireFromString(text)}
			}
		}
		service := &retried{attempts: []*quickstream.Transaction{attempt}, retries: map[string][]*quickstream.Transaction{"R1": {retry}}}
		o := resolve.DefaultPolicy(resolve.ServiceRetriesFor(time.Hour)).LookUp(t.Context(), service, resolve.Case{})
		assert.Equal(t, tt.result, o.Result, "%v", tt)
	}
}

// TestNextStepFollowsServiceRetries: a decline that the service may retry is paid again at once only
// if the merchant says that the service retries nothing.
func TestNextStepFollowsServiceRetries(t *testing.T) {
	for _, tx := range []*quickstream.Transaction{approved("R1"), unsettled("R1"), declined("R1", "43"), declined("R1", "54"), declined("R1", "05"), declined("R1", "51")} {
		for i, retries := range []resolve.ServiceRetries{resolve.ServiceRetriesOff(), {}, resolve.ServiceRetriesFor(time.Hour), resolve.ServiceRetriesFor(0), resolve.ServiceRetriesFor(-time.Hour)} {
			want := tx.NextStep()
			if want == quickstream.NextStepCheckRetries && i == 0 { // off
				want = quickstream.NextStepPayAgain
			}
			seen := resolve.DefaultPolicy(retries).Next(begun(quickstream.Intent{Attempts: 1}), found(tx), wednesday())
			assert.Equal(t, want, seen.Seen.NextStep, "%s, %v", tx.ResponseCode, retries)
		}
	}
}

// TestRetriesThatAreNotShown: only the service's own 404 says that there are no retries.
func TestRetriesThatAreNotShown(t *testing.T) {
	const own = `{"developerMessage":"nothing was found"}`
	for _, c := range []struct {
		status int
		body   string
		want   resolve.LookupResult
	}{
		{http.StatusNotFound, own, resolve.LookupSettled}, {http.StatusNotFound, "<html>", resolve.LookupFailed}, {http.StatusUnauthorized, own, resolve.LookupFailed},
	} {
		service := &retried{attempts: []*quickstream.Transaction{declined("R1", "01")}, service: answering(t, c.status, c.body).Transactions}
		assert.Equal(t, c.want, resolve.DefaultPolicy(resolve.ServiceRetriesFor(time.Hour)).LookUp(t.Context(), service, resolve.Case{}).Result, "%+v", c)
		o := resolve.DefaultPolicy(resolve.ServiceRetriesOff()).LookUp(t.Context(), service, resolve.Case{})
		assert.Equal(t, "R1", o.ReceiptNumber, "nobody asks for what there cannot be")
	}
}
