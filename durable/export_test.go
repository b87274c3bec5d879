package durable

import "time"

// WithStep sets what is called before and after each durable step.
func (o Options[TTx]) WithStep(step func(name string)) Options[TTx] {
	o.step = step
	return o
}

// WithMachine sets the clock of the machine, which is wrong in some tests.
func (o Options[TTx]) WithMachine(clock func() time.Time) Options[TTx] {
	o.machine = clock
	return o
}

// Steps are the names of all of them.
func Steps() []string {
	return []string{
		"before the payment's commit",
		"before the claim", "before the claim's commit", "after the claim's commit", "after the claim", "after the answer", "after the outcome",
		"before the choice", "after the choice",
		"before OnOutcome", "after OnOutcome", "before the observation's commit", "after the observation's commit",
		"before the inbox", "before the inbox's commit", "after the inbox",
		"before the event's effect", "before the event's commit", "after the event's effect",
		"before the sweep's commit", "after the sweep's commit",
	}
}
