package worlds

import (
	"math/rand/v2"
	"slices"
)

// covering makes choices, each with one value for each dimension, until every pair of values
// has occurred. Each choice is the best of some greedy tries around a missing pair.
type covering struct {
	sizes []int
	dice  *rand.Rand
	pairs [][]tuples // by two dimensions, the first before the second
}

// tuples are the combinations of the values of two dimensions, as one number each.
type tuples struct {
	seen    []bool
	missing int
	from    int // no tuple before it is missing
}

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

func newCovering(sizes []int) *covering {
	c := &covering{sizes: sizes, dice: rand.New(rand.NewPCG(1, 1))} //nolint:gosec // repeatable on purpose
	c.pairs = make([][]tuples, len(sizes))
	for i := range sizes {
		c.pairs[i] = make([]tuples, len(sizes))
		for j := i + 1; j < len(sizes); j++ {
			n := sizes[i] * sizes[j]
			c.pairs[i][j] = tuples{seen: make([]bool, n), missing: n}
		}
	}
	return c
}

// next returns the next choice, and nil if no pair is missing.
func (c *covering) next() (choice []int) {
	pair := c.missingPair()
	if pair == nil {
		return nil
	}
	choice = c.best(pair)
	c.mark(choice)
	return choice
}

const open = -1 // no value yet

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
	choice, tuple := slices.Repeat([]int{open}, len(c.sizes)), c.pairs[a][b].first()
	choice[a], choice[b] = tuple/c.sizes[b], tuple%c.sizes[b]
	return choice
}

// tries is the number of completions from which the best is taken.
const tries = 2

// best completes a choice so that it has many new tuples.
func (c *covering) best(start []int) (best []int) {
	most := open
	for range tries {
		choice, total := slices.Clone(start), 0
		for _, d := range c.dice.Perm(len(choice)) {
			if choice[d] == open {
				total += c.fill(choice, d)
			}
		}
		if total > most {
			most, best = total, choice
		}
	}
	return best
}

// fill gives a dimension the value with the most new tuples, or one of several such values.
func (c *covering) fill(choice []int, d int) (most int) {
	most = open
	value, equals := 0, 0
	for v := range c.sizes[d] {
		choice[d] = v
		switch n := c.newPairs(choice, d); {
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

// mark marks all pairs of a choice.
func (c *covering) mark(choice []int) {
	for i := range choice {
		for j := i + 1; j < len(choice); j++ {
			c.pairs[i][j].mark(choice[i]*c.sizes[j] + choice[j])
		}
	}
}
