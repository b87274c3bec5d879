package resolve

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
)

// Status is the status of a case.
type Status string

// The statuses. All but [StatusOpen] are final.
const (
	StatusOpen    Status = "open" // to be looked up at NextLook
	StatusSettled Status = "settled"
	// StatusNotFound: no transaction that may be the payment was found. That is no permission to pay again.
	StatusNotFound  Status = "not_found"
	StatusEscalated Status = "escalated"
	// StatusDoubleCharged: more than one transaction of the intent is approved. This package refunds nothing.
	StatusDoubleCharged Status = "double_charged"
)

// The steps of the schedule.
const (
	stepSoon  = iota // not found yet, or its payer has to answer
	stepHeld         // waits for a cut-off, a retry, the payer or the portal
	stepDaily        // was looked up after the cut-off
)

// Final reports whether the merchant may act on the status. Look-ups may go on, and change it if a
// charge appears late: see Case.NextLook.
func (s Status) Final() bool {
	return s == StatusSettled || s == StatusNotFound || s == StatusEscalated || s == StatusDoubleCharged
}

// Lookup is one entry of the evidence. Look-ups with the same result are one entry.
type Lookup struct {
	At    time.Time `json:"at"`   // the first time
	Last  time.Time `json:"last"` // the last time
	Count int       `json:"count"`
	Observation
}

// maxLookups bounds the evidence. Later look-ups replace the last one.
const maxLookups = 64

// caseVersion is the version of cases. Others are refused.
const caseVersion = 1

// Case is one unknown outcome, with its look-ups. Store it as JSON.
type Case struct {
	Version int                `json:"version"`
	Intent  quickstream.Intent `json:"intent"`
	Status  Status             `json:"status"`
	// Step is the step of the schedule of an open case: 0 looks soon and often, 1 waits for a
	// cut-off, a retry, the payer or the portal, 2 looks daily. In a final status it is 0.
	Step int `json:"step,omitempty"`
	// NextLook is when to look up next. It is zero when the case is over.
	NextLook time.Time `json:"nextLook,omitzero"`
	// Until is when the last look-up of a final case is due.
	Until time.Time `json:"until,omitzero"`
	// Outcome is set with [StatusSettled] and [StatusDoubleCharged].
	Outcome quickstream.Outcome `json:"outcome,omitempty"`
	// Seen is the last observation of the transaction; with [StatusSettled] the one that settled it.
	Seen Observation `json:"seen,omitzero"`
	// Lookups are the look-ups in the order of Last, at most 64, as evidence for technical support.
	Lookups []Lookup `json:"lookups,omitempty"`
	// Unanswered means that an answer was lost: an approval is looked up again after 15 minutes and
	// after the cut-off, because the service may reverse it, or there may be a second one.
	Unanswered bool `json:"unanswered,omitempty"`
	// Changed means that the outcome of a settled case changed: a decline was approved after all,
	// or an approval was taken back, which is escalated.
	Changed bool `json:"changed,omitempty"`
	// FailingSince is the time of the first of the latest failed look-ups; zero if the last one succeeded.
	FailingSince time.Time `json:"failing,omitzero"`
}

// Begin returns the case of a transaction, refund or void that may have been sent before a crash, to be
// looked up immediately. A void settles as voided; if it is not found, its payment is still approved. A
// stored intent does not have the number of attempts, so a decline is held until the cut-off.
func Begin(intent quickstream.Intent, now time.Time) Case {
	if intent.MadeAt.IsZero() {
		intent.MadeAt = now
	}
	intent.MadeAt = intent.MadeAt.Round(0)
	return Case{Version: caseVersion, Intent: intent, Status: StatusOpen, NextLook: now.Round(0), Unanswered: true}
}

// Receipts returns the receipt numbers of all transactions that were seen, for technical support.
// Several attempts can make several transactions.
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
			add(candidate.ReceiptNumber)
		}
	}
	return receipts
}

var errUnreadable = errors.New("resolve: the case cannot be read")

// UnmarshalJSON reads a case, and refuses one with unknown version, status or results. It accepts a zero
// Case, such as that of a row that was not looked up yet.
func (c *Case) UnmarshalJSON(data []byte) error {
	type plain Case
	var read plain
	if json.Unmarshal(data, &read) != nil {
		return errUnreadable // an error of encoding/json may show parts of the case
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
	open, ended := c.Status == StatusOpen, c.Status == StatusSettled || c.Status == StatusDoubleCharged
	unknown := func(l Lookup) bool { return l.of(quickstream.Intent{}).Result != l.Result }
	switch {
	case c.Version != caseVersion:
		return fmt.Errorf("resolve: the case has version %d, and this package knows version %d", c.Version, caseVersion)
	case !open && !c.Status.Final(), c.Step < 0 || c.Step > stepDaily, !open && c.Step != 0:
		return fmt.Errorf("resolve: the status %q at step %d is not known", c.Status, c.Step)
	case c.Intent.MadeAt.IsZero(), open && c.NextLook.IsZero(), ended != c.Outcome.Final(), !ended && c.Outcome != "", c.anyLookup(unknown):
		return errUnreadable
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
		c.FailingSince = time.Time{}
	}
	return c
}

// anyLookup reports whether a condition holds for a look-up.
func (c Case) anyLookup(holds func(Lookup) bool) bool { return slices.ContainsFunc(c.Lookups, holds) }

// evident reports whether a transaction that may be the payment was found. Such a case is never not_found.
func (c Case) evident() bool {
	return c.Intent.ReceiptNumber != "" || c.anyLookup(func(l Lookup) bool {
		return len(l.Candidates) > 0 || l.Result != LookupNone && l.Result != LookupFailed
	})
}

// alone reports whether no look-up showed another transaction that may be the payment and may have
// taken its money.
func (c Case) alone(o Observation) bool {
	return !c.anyLookup(func(l Lookup) bool {
		another := func(found Candidate) bool { return !sameReceipt(found.ReceiptNumber, o.ReceiptNumber) }
		return slices.ContainsFunc(l.Candidates, another) || l.Result == LookupPending && !sameReceipt(l.ReceiptNumber, o.ReceiptNumber)
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

// settle ends a case with an outcome. An approval that only a look-up found, or that another
// approval may rival, is looked up again.
func (c Case) settle(o Observation, now time.Time) Case {
	c.Status, c.Step, c.Outcome, c.Seen, c.NextLook = StatusSettled, 0, o.Outcome, o, time.Time{}
	if o.Outcome == quickstream.OutcomeApproved && (c.Unanswered || o.rivalled()) {
		c.NextLook = now.Add(again)
	}
	return c
}

// again is when an approval is looked up for the second time. The third time is after the cut-off.
const again = 15 * time.Minute

// watch ends without an outcome; look-ups go on.
func (c Case) watch(status Status, now time.Time) Case {
	c.Status, c.Step, c.Until = status, 0, now.Add(watched)
	return c.watchOn(now)
}

// watchOn looks daily until Until.
func (c Case) watchOn(now time.Time) Case {
	if c.NextLook = earliest(nextDay(now), c.Until); !now.Before(c.Until) {
		c.NextLook = time.Time{}
	}
	return c
}
