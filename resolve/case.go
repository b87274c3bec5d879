package resolve

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
)

// Status says where the pursuit of an unknown outcome stands.
type Status string

// The statuses. All but [StatusOpen] are final.
const (
	StatusOpen    Status = "open" // to be looked up at NextLook
	StatusSettled Status = "settled"
	// StatusNotFound: nothing that may be the payment was found. That is absence of evidence, and
	// no permission to pay again.
	StatusNotFound  Status = "not_found"
	StatusEscalated Status = "escalated"
	// StatusDoubleCharged: more than one transaction of the intent is approved. Under a reference
	// that the merchant chose, only the intent's id shows it. Nothing refunds it automatically.
	StatusDoubleCharged Status = "double_charged"
)

// The steps of the schedule.
const (
	stepSoon        = iota // not found yet
	stepHeld               // waits for a cut-off, a retry, the payer or the portal
	stepAfterCutOff        // was looked up after the cut-off
	stepDaily              // was looked up on a later day
	stepScan               // the lists of its settlement dates are to be read
)

// Final reports whether the merchant may act on the status. Look-ups may go on, and change it if a
// charge appears late: see Case.NextLook.
func (s Status) Final() bool {
	return s == StatusSettled || s == StatusNotFound || s == StatusEscalated || s == StatusDoubleCharged
}

// Lookup is one entry of the evidence. Equal consecutive look-ups are one entry.
type Lookup struct {
	At    time.Time `json:"at"`   // the first time
	Last  time.Time `json:"last"` // the last time
	Count int       `json:"count"`
	Observation
}

// maxLookups bounds the evidence. Later look-ups replace the last one.
const maxLookups = 64

// CaseVersion is the version of cases. Others are refused.
const CaseVersion = 1

// Case is the pursuit of one unknown outcome. Store it as JSON.
type Case struct {
	Version int                `json:"version"`
	Intent  quickstream.Intent `json:"intent"`
	Status  Status             `json:"status"`
	// Step is the step of the schedule of an open case: 0 looks soon and often, 1 waits for a
	// cut-off, a retry, the payer or the portal, 2 has looked after the cut-off, 3 looks daily, 4
	// reads the lists of its settlement dates. In a final status it is 0.
	Step int `json:"step,omitempty"`
	// NextLook is when to look up next. It is zero when the case is over.
	NextLook time.Time `json:"nextLook,omitzero"`
	// Until is the last look-up of a final case.
	Until time.Time `json:"until,omitzero"`
	// Outcome is set with [StatusSettled] and [StatusDoubleCharged].
	Outcome quickstream.Outcome `json:"outcome,omitempty"`
	// Seen is the last observation of the transaction; with [StatusSettled] the one that settled
	// it, with response code and next step.
	Seen Observation `json:"seen,omitzero"`
	// Lookups are all look-ups, oldest first, as evidence for technical support.
	Lookups []Lookup `json:"lookups,omitempty"`
	// Resent means that the payment is approved, and was sent again after a lost answer.
	Resent bool `json:"resent,omitempty"`
	// Misses counts consecutive look-ups that found nothing.
	Misses int `json:"misses,omitempty"`
	// Failing is the first of the latest failed look-ups; zero if the last one succeeded.
	Failing time.Time `json:"failing,omitzero"`
}

// Begin returns the case of a transaction, refund or void whose answer was lost, to be looked up
// immediately. A void settles as voided. If it is not found by the end, the transaction was still
// approved at each look-up.
//
// The intent is that of the UnknownOutcomeError, or the stored one. The stored one does not have
// the number of attempts, so a decline is held until the cut-off.
func Begin(intent quickstream.Intent, now time.Time) Case {
	if intent.NotBefore.IsZero() {
		intent.NotBefore = now
	}
	intent.NotBefore = intent.NotBefore.Round(0)
	return Case{Version: CaseVersion, Intent: intent, Status: StatusOpen, NextLook: now.Round(0)}
}

// own makes a match of a Resume a candidate if another payment may have made it: under a reference
// of the merchant's, only the intent's id shows that a payment was made twice.
func (c Case) own(t *quickstream.Transaction, err error) (*quickstream.Transaction, error) {
	if !c.Resent || !c.Intent.OwnReference {
		return t, err
	}
	is := func(t *quickstream.Transaction) bool {
		return t == nil || t.ReceiptNumber == c.Seen.ReceiptNumber || c.isNamedBy(t)
	}
	if !is(t) {
		return nil, &quickstream.UnknownOutcomeError{Candidates: []quickstream.Candidate{{Transaction: t}}}
	}
	if lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok {
		open := *lost
		open.Candidates = slices.Clone(lost.Candidates)
		for i := range open.Candidates {
			candidate := &open.Candidates[i]
			candidate.Matches = candidate.Matches && is(candidate.Transaction)
		}
		err = &open
	}
	return t, err
}

func (c Case) isNamedBy(t *quickstream.Transaction) bool {
	return c.Intent.ID != "" && t.Metadata[c.Intent.MetadataName] == c.Intent.ID
}

// Receipts returns the receipt numbers of all transactions that were seen, for technical support.
// Several attempts can have several.
func (c Case) Receipts() []string {
	var receipts []string
	add := func(receipt string) {
		if receipt != "" && !slices.Contains(receipts, receipt) {
			receipts = append(receipts, receipt)
		}
	}
	add(c.Intent.ReceiptNumber)
	for _, lookup := range c.Lookups {
		add(lookup.ReceiptNumber)
		for _, candidate := range lookup.Candidates {
			add(candidate)
		}
	}
	return receipts
}

var errUnreadable = errors.New("resolve: the case cannot be read")

// UnmarshalJSON reads a case, and refuses one with unknown version, status or results. It accepts a
// case that has only an intent.
func (c *Case) UnmarshalJSON(data []byte) error {
	type plain Case
	var read plain
	if json.Unmarshal(data, &read) != nil {
		return errUnreadable // and nothing of the case, as encoding/json's errors may show
	}
	if begun := read.Version != 0 || read.Status != "" || read.Lookups != nil; begun {
		if err := Case(read).known(); err != nil {
			return err
		}
	}
	*c = Case(read)
	return nil
}

// known refuses a case that this version cannot judge.
func (c Case) known() error {
	if open := c.Status == StatusOpen; !open && !c.Status.Final() || c.Step < 0 || c.Step > stepScan || !open && c.Step != 0 {
		return fmt.Errorf("resolve: the status %q at step %d is not known", c.Status, c.Step)
	}
	if c.Version != CaseVersion {
		return fmt.Errorf("resolve: the case has version %d, and this package knows version %d", c.Version, CaseVersion)
	}
	if c.Intent.NotBefore.IsZero() || !c.Status.Final() && c.NextLook.IsZero() {
		return errors.New("resolve: the case does not say when the payment was sent, or when to look it up")
	}
	if settled := c.Status == StatusSettled || c.Status == StatusDoubleCharged; settled != c.Outcome.Final() || !settled && c.Outcome != "" {
		return fmt.Errorf("resolve: a payment that is %s has the outcome %q", c.Status, c.Outcome)
	}
	for _, lookup := range c.Lookups {
		if lookup.of(quickstream.Intent{}).Result != lookup.Result {
			return fmt.Errorf("resolve: the look-up %q with the outcome %q is not known", lookup.Result, lookup.Outcome)
		}
	}
	return nil
}

// record returns a copy of the case with another look-up.
func (c Case) record(o Observation, now time.Time) Case {
	lookup := Lookup{At: now, Last: now, Count: 1, Observation: o}
	lookups := make([]Lookup, 0, len(c.Lookups)+1)
	for _, earlier := range c.Lookups {
		if earlier.same(o) {
			lookup.At, lookup.Count = earlier.At, earlier.Count+1
			continue
		}
		lookups = append(lookups, earlier)
	}
	c.Lookups = append(lookups[:min(len(lookups), maxLookups-1)], lookup)
	if o.ReceiptNumber != "" && c.Status != StatusSettled {
		c.Seen = o
	}
	if o.Result != LookupFailed {
		c.Failing = time.Time{}
	}
	return c
}

// anyLookup reports whether a condition holds for a look-up.
func (c Case) anyLookup(holds func(Lookup) bool) bool { return slices.ContainsFunc(c.Lookups, holds) }

// evident reports whether anything found may be the payment. Then it is never not_found.
func (c Case) evident() bool {
	return c.Intent.ReceiptNumber != "" || c.anyLookup(func(l Lookup) bool {
		return len(l.Candidates) > 0 || l.Result != LookupNone && l.Result != LookupFailed
	})
}

// rivalled reports whether another transaction than the observed one may be the payment and have
// taken its money.
func (c Case) rivalled(o Observation) bool {
	return c.anyLookup(func(l Lookup) bool {
		another := func(receipt string) bool { return receipt != o.ReceiptNumber }
		return slices.ContainsFunc(l.Candidates, another) || l.Result == LookupPending && l.ReceiptNumber != o.ReceiptNumber
	})
}

// taken reports whether an observation shows that the write was executed.
func (c Case) taken(o Observation) bool {
	wanted := quickstream.OutcomeApproved
	if c.Intent.Operation == quickstream.OperationVoid {
		wanted = quickstream.OutcomeVoided
	}
	return o.Result == LookupSettled && o.Outcome == wanted
}

// settle ends with an outcome. If several matched, look-ups go on, because another may be approved.
func (c Case) settle(o Observation, now time.Time) Case {
	c.Status, c.Step, c.Outcome, c.Seen = StatusSettled, 0, o.Outcome, o
	if c.anyLookup(func(l Lookup) bool { return l.Result == LookupAmbiguous }) {
		if now.Before(c.NextLook) {
			return c
		}
		return c.watchOn(now)
	}
	c.Intent.ReceiptNumber, c.NextLook, c.Until = o.ReceiptNumber, time.Time{}, time.Time{}
	return c
}

// doubleCharged ends a write that was executed more than once.
func (c Case) doubleCharged() Case {
	c.Status, c.Step, c.Outcome = StatusDoubleCharged, 0, quickstream.OutcomeApproved
	c.NextLook, c.Until = time.Time{}, time.Time{}
	return c
}

// watch ends without an outcome; look-ups go on.
func (c Case) watch(status Status, now time.Time) Case {
	c.Status, c.Step, c.Until = status, 0, now.Add(watched)
	return c.watchOn(now)
}

// watchOn looks daily until Until, and at a suspended payment as long as it is suspended.
func (c Case) watchOn(now time.Time) Case {
	if c.Lookups[len(c.Lookups)-1].Outcome == quickstream.OutcomeSuspended {
		c.NextLook = nextDay(now)
		return c
	}
	if !now.Before(c.Until) {
		c.NextLook = time.Time{}
		return c
	}
	c.NextLook = earliest(nextDay(now), c.Until)
	return c
}
