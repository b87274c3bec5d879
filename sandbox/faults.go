package sandbox

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
)

// Fault is a fault, with the calls that meet it.
type Fault struct {
	// Operation is an operation's id, such as "POST /transactions"; empty for all
	// operations.
	Operation string
	// Match limits the fault to the calls for which it returns true. It must not call the
	// sandbox. With [Unreachable] the request has no body yet.
	Match func(Request) bool
	// Nth is the number, from 1, of the matching call at which the fault begins; 0 is the
	// first.
	Nth int
	// Times is the largest number of calls that meet the fault. 0 is one call if Nth is set,
	// and otherwise no limit.
	Times int
	// Probability is the chance that a call meets the fault, from 0 to 1; 0 is always.
	Probability float64
	// Kind is what happens to the call. Required.
	Kind FaultKind
}

// FaultKind is what a fault does to a call. Functions such as [ResetAfterCommit] return one.
type FaultKind struct {
	name string
	dial error           // if set, the request is never sent
	play func(*exchange) // otherwise, plays the call
}

// String returns the name of the kind, as in [Sandbox.FaultCounts].
func (k FaultKind) String() string { return k.name }

type armedFault struct {
	Fault
	seen, fired int
}

type faultList struct {
	armed  []*armedFault
	counts map[string]int
}

// Inject arms faults. If several faults could meet a call, the first one injected does. It is
// an error, and nothing is armed, if there is no such operation, a kind is missing, or a
// probability is not between 0 and 1.
func (b *Sandbox) Inject(faults ...Fault) error {
	for _, f := range faults {
		if f.Operation != "" && !b.routes.known(f.Operation) {
			return fmt.Errorf("sandbox: no operation %q", f.Operation)
		}
		if f.Kind.dial == nil && f.Kind.play == nil {
			return fmt.Errorf("sandbox: fault for %q has no kind", f.Operation)
		}
		if f.Probability < 0 || f.Probability > 1 {
			return fmt.Errorf("sandbox: probability %v of %s", f.Probability, f.Kind)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range faults {
		list := &b.serverFaults
		if f.Kind.dial != nil {
			list = &b.dialFaults
		}
		list.armed = append(list.armed, &armedFault{Fault: f})
		if list.counts == nil {
			list.counts = make(map[string]int)
		}
		list.counts[f.Kind.name] += 0 // counted from 0
	}
	return nil
}

// ClearFaults disarms all faults. It does not end calls that hang, nor reset the counts.
func (b *Sandbox) ClearFaults() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dialFaults.armed, b.serverFaults.armed = nil, nil
}

// FaultCounts returns how many calls each kind of fault has met, for all kinds that were
// injected.
func (b *Sandbox) FaultCounts() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make(map[string]int)
	maps.Copy(out, b.dialFaults.counts)
	maps.Copy(out, b.serverFaults.counts)
	return out
}

// next returns the fault that a call meets, or nil. The caller holds mu.
func (l *faultList) next(dice *rand.Rand, e Request) *FaultKind {
	var hit *armedFault
	for _, f := range l.armed {
		if f.Operation != "" && f.Operation != e.Operation || f.Match != nil && !f.Match(e.copy()) {
			continue
		}
		f.seen++ // even if another fault wins
		if hit == nil && f.due(dice) {
			hit = f
		}
	}
	if hit == nil {
		return nil
	}
	hit.fired++
	l.counts[hit.Kind.name]++
	return &hit.Kind
}

func (f *armedFault) due(dice *rand.Rand) bool {
	times := f.Times
	if times == 0 && f.Nth > 0 {
		times = 1
	}
	if f.seen < f.Nth || times > 0 && f.fired >= times {
		return false
	}
	return f.Probability == 0 || dice.Float64() < f.Probability
}

// dialFault returns the error with which a request cannot be sent, or nil.
func (b *Sandbox) dialFault(r *http.Request) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.dialFaults.armed) == 0 {
		return nil
	}
	c, _ := b.newCall(r, nil)
	kind, _ := b.keyOf(c.header)
	if met := b.dialFaults.next(b.dice, *c.record(kind)); met != nil {
		return met.dial
	}
	return nil
}
