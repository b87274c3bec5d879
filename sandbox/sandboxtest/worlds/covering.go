package worlds

import "slices"

// covering makes choices, each with one value for each dimension, until every pair of values
// has occurred. A choice begins with a missing pair, and takes the values that add the most others.
// Values are numbered through all dimensions.
type covering struct {
	first []int    // by dimension: its first value
	of    []int    // by value: its dimension
	seen  [][]bool // by two values
	made  int
}

func newCovering(sizes []int) *covering {
	c := &covering{}
	for d, size := range sizes {
		c.first = append(c.first, len(c.of))
		c.of = append(c.of, slices.Repeat([]int{d}, size)...)
	}
	for _, d := range c.of { // two values of a dimension are no pair
		row := make([]bool, len(c.of))
		for b := range row {
			row[b] = c.of[b] == d
		}
		c.seen = append(c.seen, row)
	}
	return c
}

// next returns the next choice, and nil if no pair is missing.
func (c *covering) next() (choice []int) {
	c.made++
	for i := range c.seen {
		a := (31*c.made + i) % len(c.seen) // so that the first worlds differ in everything
		if b := slices.Index(c.seen[a], false); b >= 0 {
			return c.complete(a, b)
		}
	}
	return nil
}

func (c *covering) complete(a, b int) (choice []int) {
	const open = -1
	values := slices.Repeat([]int{open}, len(c.first))
	values[c.of[a]], values[c.of[b]] = a, b
	for d := range values {
		most := open
		for v := c.first[d]; v < len(c.of) && c.of[v] == d && values[d] != a && values[d] != b; v++ {
			made := 0
			for _, other := range values {
				if other != open && !c.seen[v][other] {
					made++
				}
			}
			if made > most {
				most, values[d] = made, v
			}
		}
	}
	for d, v := range values {
		choice = append(choice, v-c.first[d])
	}
	c.mark(choice)
	return choice
}

// mark marks all pairs of a choice.
func (c *covering) mark(choice []int) {
	for i, v := range choice {
		for j, w := range choice {
			c.seen[c.first[i]+v][c.first[j]+w] = true
		}
	}
}
