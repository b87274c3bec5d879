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
	first []int    // the place of each dimension's first value among all values
	seen  [][]bool // by the places of two values, that of the earlier dimension first
}

func newCovering(sizes []int) *covering {
	c := &covering{sizes: sizes, dice: rand.New(rand.NewPCG(1, 1))} //nolint:gosec // repeatable on purpose
	all := 0
	for _, size := range sizes {
		c.first = append(c.first, all)
		all += size
	}
	for range all {
		c.seen = append(c.seen, make([]bool, all))
	}
	return c
}

// pair is whether two values have occurred together.
func (c *covering) pair(i, v, j, w int) *bool { return &c.seen[c.first[i]+v][c.first[j]+w] }

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
func (c *covering) missingPair() (choice []int) {
	most := 0
	for i := range c.sizes {
		for j := i + 1; j < len(c.sizes); j++ {
			var missing [][2]int
			for v := range c.sizes[i] {
				for w := range c.sizes[j] {
					if !*c.pair(i, v, j, w) {
						missing = append(missing, [2]int{v, w})
					}
				}
			}
			if len(missing) > most {
				most, choice = len(missing), slices.Repeat([]int{open}, len(c.sizes))
				choice[i], choice[j] = missing[0][0], missing[0][1]
			}
		}
	}
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
		if i, j := min(d, other), max(d, other); !*c.pair(i, choice[i], j, choice[j]) {
			n++
		}
	}
	return n
}

// mark marks all pairs of a choice.
func (c *covering) mark(choice []int) {
	for i := range choice {
		for j := i + 1; j < len(choice); j++ {
			*c.pair(i, choice[i], j, choice[j]) = true
		}
	}
}
