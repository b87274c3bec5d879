package explore

import "math/bits"

// names give each thing that actors touch a bit.
type names map[string]uint64

// most is how many things there may be.
const most = 64

func (n names) bit(what string) uint64 {
	bit, known := n[what]
	if !known {
		if len(n) == most {
			panic("explore: there are more than 64 things to touch")
		}
		bit = 1 << len(n)
		n[what] = bit
	}
	return bit
}

// step is a step after it was run.
type step struct {
	reads, writes uint64
	ended         bool
	tangled       bool // it waits for another actor, or has let one go on
}

// trace is a sequence of steps as a number, which is the same for all orders of steps that do not
// depend on each other: the number of each step is made of those that it depends on directly, and
// the trace is their sum.
type trace struct {
	sum     uint64
	writers [most]uint64
	readers [most]uint64 // since the last writer
}

func (t trace) with(c choice, s step) trace {
	number := mix(uint64(c) + 1)
	for i := range most {
		switch bit := uint64(1) << i; {
		case s.writes&bit != 0:
			number = mix(number ^ mix(t.writers[i]+uint64(i)) ^ mix(t.readers[i]))
		case s.reads&bit != 0:
			number = mix(number ^ mix(t.writers[i]+uint64(i)))
		}
	}
	for i := range most {
		switch bit := uint64(1) << i; {
		case s.writes&bit != 0:
			t.writers[i], t.readers[i] = number, 0
		case s.reads&bit != 0:
			t.readers[i] += number
		}
	}
	t.sum += number
	return t
}

// memory holds the steps that actors took: an actor that has seen the same before, and meets the
// same now, takes the same step.
type memory map[met][]seen

type met struct {
	choice choice
	own    uint64 // the actor's last step, and so all that it has seen
}

type seen struct {
	step
	versions []uint64 // of what it touched
}

func (m memory) add(c choice, before trace, s step, names names) {
	if _, known := m.find(c, before, names); known || s.tangled {
		return
	}
	var versions []uint64
	for i := range most {
		if (s.reads|s.writes)>>i&1 != 0 {
			versions = append(versions, before.writers[i])
		}
	}
	key := met{c, before.own(c, names)}
	m[key] = append(m[key], seen{s, versions})
}

// find returns the step that a choice leads to, if it is known.
func (m memory) find(c choice, before trace, names names) (step, bool) {
	for _, s := range m[met{c, before.own(c, names)}] {
		same, n := true, 0
		for i := 0; i < most && same; i++ {
			if (s.reads|s.writes)>>i&1 != 0 {
				same = s.versions[n] == before.writers[i]
				n++
			}
		}
		if same {
			return s.step, true
		}
	}
	return step{}, false
}

// own is the last step of an actor.
func (t trace) own(c choice, names names) uint64 {
	return t.writers[bits.TrailingZeros64(actorName(names, c.actor()))]
}

// mix spreads a number over all bits, as splitmix64 does.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
