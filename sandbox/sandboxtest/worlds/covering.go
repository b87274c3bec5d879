package worlds

import (
	"math/rand/v2"
	"slices"
)

// covering makes choices, each with one value for each dimension, until every pair of values
// has occurred, and then every triple of values of the core dimensions. Each choice is the
// best of some greedy tries around a missing pair or triple.
type covering struct {
	sizes, core []int
	dice        *rand.Rand
	pairs       [][]tuples   // by two dimensions, the first before the second
	triples     [][][]tuples // by three indices of core
	began       bool
}

// tuples are the combinations of the values of some dimensions, as one number each.
type tuples struct {
	seen    []bool
	missing int
	from    int // no tuple before it is missing
}

func newTuples(n int) tuples { return tuples{seen: make([]bool, n), missing: n} }

func (t *tuples) mark(i int) {
	if !t.seen[i] {
		t.seen[i] = true
		t.missing--
	}
}

// first returns the first missing tuple.
func (t *tuples) first() int {
	for t.seen[t.from] {
		t.from++
	}
	return t.from
}

func newCovering(sizes, core []int) *covering {
	c := &covering{sizes: sizes, core: core, dice: rand.New(rand.NewPCG(1, 1))} //nolint:gosec // repeatable on purpose
	c.pairs = make([][]tuples, len(sizes))
	for i := range sizes {
		c.pairs[i] = make([]tuples, len(sizes))
		for j := i + 1; j < len(sizes); j++ {
			c.pairs[i][j] = newTuples(sizes[i] * sizes[j])
		}
	}
	c.triples = make([][][]tuples, len(core))
	for i := range core {
		c.triples[i] = make([][]tuples, len(core))
		for j := i + 1; j < len(core); j++ {
			c.triples[i][j] = make([]tuples, len(core))
			for k := j + 1; k < len(core); k++ {
				c.triples[i][j][k] = newTuples(sizes[core[i]] * sizes[core[j]] * sizes[core[k]])
			}
		}
	}
	return c
}

// next returns the next choice, and false if nothing is missing. The first choice has the
// first value of every dimension.
func (c *covering) next() (choice []int, more bool) {
	switch pair, triple := c.missingPair(), c.missingTriple(); {
	case !c.began:
		c.began = true
		choice = make([]int, len(c.sizes))
	case pair != nil:
		choice = c.best(pair, c.newPairs)
	case triple != nil:
		choice = c.best(triple, c.newTriples)
	default:
		return nil, false
	}
	c.mark(choice)
	return choice, true
}

const open = -1 // no value yet

func (c *covering) blank() []int {
	choice := make([]int, len(c.sizes))
	for i := range choice {
		choice[i] = open
	}
	return choice
}

// missingPair returns a choice with two values that have not occurred together, of the two
// dimensions with the most missing pairs. It returns nil if no pair is missing.
func (c *covering) missingPair() []int {
	most, a, b := 0, 0, 0
	for i := range c.pairs {
		for j := i + 1; j < len(c.pairs); j++ {
			if n := c.pairs[i][j].missing; n > most {
				most, a, b = n, i, j
			}
		}
	}
	if most == 0 {
		return nil
	}
	choice, tuple := c.blank(), c.pairs[a][b].first()
	choice[a], choice[b] = tuple/c.sizes[b], tuple%c.sizes[b]
	return choice
}

// missingTriple does the same for triples of the core.
func (c *covering) missingTriple() []int {
	most, at := 0, [3]int{}
	for i := range c.core {
		for j := i + 1; j < len(c.core); j++ {
			for k := j + 1; k < len(c.core); k++ {
				if n := c.triples[i][j][k].missing; n > most {
					most, at = n, [3]int{i, j, k}
				}
			}
		}
	}
	if most == 0 {
		return nil
	}
	choice, tuple := c.blank(), c.triples[at[0]][at[1]][at[2]].first()
	x, y, z := c.core[at[0]], c.core[at[1]], c.core[at[2]]
	choice[x], choice[y], choice[z] = tuple/c.sizes[z]/c.sizes[y], tuple/c.sizes[z]%c.sizes[y], tuple%c.sizes[z]
	return choice
}

// tries is the number of completions from which the best is taken.
const tries = 2

// best completes a choice so that it has many new tuples.
func (c *covering) best(start []int, gain func(choice []int, dimension int) int) (best []int) {
	most := open
	for range tries {
		choice, total := slices.Clone(start), 0
		for _, d := range c.dice.Perm(len(choice)) {
			if choice[d] == open {
				total += c.fill(choice, d, gain)
			}
		}
		if total > most {
			most, best = total, choice
		}
	}
	return best
}

// fill gives a dimension the value with the most new tuples, or one of several such values.
func (c *covering) fill(choice []int, d int, gain func([]int, int) int) (most int) {
	most = open
	value, equals := 0, 0
	for v := range c.sizes[d] {
		choice[d] = v
		switch n := gain(choice, d); {
		case n > most:
			most, value, equals = n, v, 1
		case n == most:
			if equals++; c.dice.IntN(equals) == 0 {
				value = v
			}
		}
	}
	choice[d] = value
	return most
}

// newPairs counts the missing pairs that a dimension's value would make.
func (c *covering) newPairs(choice []int, d int) (n int) {
	for other, v := range choice {
		if v == open || other == d {
			continue
		}
		if i, j := min(d, other), max(d, other); !c.pairs[i][j].seen[choice[i]*c.sizes[j]+choice[j]] {
			n++
		}
	}
	return n
}

// newTriples counts the missing triples that a core dimension's value would make.
func (c *covering) newTriples(choice []int, d int) (n int) {
	at := slices.Index(c.core, d)
	if at < 0 {
		return 0
	}
	for j := range c.core {
		for k := j + 1; k < len(c.core); k++ {
			if j == at || k == at || choice[c.core[j]] == open || choice[c.core[k]] == open {
				continue
			}
			if t, i := c.triple(choice, at, j, k); !t.seen[i] {
				n++
			}
		}
	}
	return n
}

// triple returns the tuples of three indices of core, j before k, and the tuple of a choice.
func (c *covering) triple(choice []int, at, j, k int) (t *tuples, i int) {
	x, y, z := at, j, k
	switch {
	case at > k:
		x, y, z = j, k, at
	case at > j:
		x, y = j, at
	}
	a, b, d := c.core[x], c.core[y], c.core[z]
	return &c.triples[x][y][z], (choice[a]*c.sizes[b]+choice[b])*c.sizes[d] + choice[d]
}

// mark marks all tuples of a choice.
func (c *covering) mark(choice []int) {
	for i := range choice {
		for j := i + 1; j < len(choice); j++ {
			c.pairs[i][j].mark(choice[i]*c.sizes[j] + choice[j])
		}
	}
	for i := range c.core {
		for j := i + 1; j < len(c.core); j++ {
			for k := j + 1; k < len(c.core); k++ {
				t, n := c.triple(choice, i, j, k)
				t.mark(n)
			}
		}
	}
}
