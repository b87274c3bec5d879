package resolve_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// run drives a case until its status is final, or another one.
func run(t *testing.T, service resolve.Service, c resolve.Case) resolve.Case {
	t.Helper()
	for begun := c.Status; !c.NextLook.IsZero() && (!c.Status.Final() || c.Status == begun); {
		<-time.After(time.Until(c.NextLook))
		c = policy().Next(c, policy().LookUp(t.Context(), service, c), time.Now())
	}
	return c
}

// TestOutcomeAfterTheEnd: a webhook may bring what nobody could find in two days.
func TestOutcomeAfterTheEnd(t *testing.T) {
	policy := policy()
	sent := at("2026-06-10 09:00")
	later := at("2026-06-16 09:00")
	approved := resolve.Observation{Result: resolve.LookupSettled, Outcome: quickstream.OutcomeApproved, ReceiptNumber: "R1"}
	_, absent := looksBy(policy, resolve.Begin(quickstream.Intent{Reference: "ORDER-1", NotBefore: sent}, sent), foundNothing())
	today := approved
	today.SettlementDate = quickstream.DateOf(later)
	assert.Equal(t, resolve.StatusSettled, policy.Next(absent, today, later).Status, "an approval waits for no cut-off")
	today.Outcome = quickstream.OutcomeDeclined
	assert.Equal(t, resolve.StatusEscalated, policy.Next(absent, today, later).Status, "a decline of one of several attempts does, and is not nothing")
	assert.Equal(t, resolve.StatusSettled, policy.Next(absent, today, later.Add(24*time.Hour)).Status)
	soft := today
	soft.Retryable = true
	retrying := resolve.DefaultPolicy(resolve.ServiceRetriesFor(10 * 24 * time.Hour))
	assert.Equal(t, resolve.StatusEscalated, retrying.Next(absent, soft, later.Add(24*time.Hour)).Status, "the service may retry it")
}

var _ resolve.Service = (*quickstream.TransactionsService)(nil)

// progress is how far an open case has come.
type progress string

const (
	openSoon        progress = "open 0"
	openHeld        progress = "open 1"
	openAfterCutOff progress = "open 2"
	openDaily       progress = "open 3"
)

func progressOf(c resolve.Case) progress { return progress(fmt.Sprint(c.Status, " ", c.Step)) }
