package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMutants: what is changed in a file, and how.
func TestMutants(t *testing.T) {
	const source = `package p

const most = 1 + 2

func f(a, b bool, n int, in chan int, v any, name string) int {
	if a && b && n > most {
		n++
	}
	for i := 0; i < n; i++ {
		n = n*2 - len(name+"s")
	}
	switch n {
	case 1, 2:
		return n
	}
	switch {
	case !a || n <= 3:
	}
	switch v := v.(type) {
	case string:
		name = v
	}
	select {
	case n = <-in:
	default:
	}
	if a {
		return 0
	}
	return n
}
`
	text, mutants, err := mutate("p.go", []byte(source), 10)
	require.NoError(t, err)
	var changes []string
	for _, m := range mutants {
		changes = append(changes, m.String())
	}
	assert.ElementsMatch(t, []string{
		"p.go: `a && b` with ||", "p.go: `a && b` without its left side", "p.go: `a && b` without its right side",
		"p.go: `a && b && n > most` with ||", "p.go: `a && b && n > most` without its right side",
		"p.go: `n > most` with =", "p.go: `n > most` negated", "p.go: `n++` as --", "p.go: `i < n` with =", "p.go: `i < n` negated",
		"p.go: `n*2` without its right side", "p.go: `n*2 - len(name+\"s\")` with +",
		"p.go: `1` as a case removed", "p.go: `2` as a case removed", "p.go: `!a` negated",
		"p.go: `!a || n <= 3` with &&", "p.go: `!a || n <= 3` without its left side", "p.go: `!a || n <= 3` without its right side",
		"p.go: `n <= 3` without =", "p.go: `n <= 3` negated", "p.go: `!a || n <= 3` as a case removed",
		"p.go: `string` as a case removed", "p.go: `n = <-in` as a case removed", "p.go: `a` negated",
	}, changes)
	for number, m := range mutants {
		assert.Contains(t, text, "mutantOn("+strconv.Itoa(number+11)+")", m.text)
	}
	assert.Contains(t, text, "const most = 1 + 2\n", "a constant is not changed")
	_, _, err = mutate("p.go", []byte("package"), 0)
	assert.Error(t, err)
}

// TestSurvivorsExist: each line of survivors.txt explains a mutant of the code as it is.
func TestSurvivorsExist(t *testing.T) {
	t.Chdir("../..")
	_, mutants := read()
	assert.Greater(t, len(mutants), 1000)
	there := map[string]bool{}
	for _, m := range mutants {
		there[m.String()] = true
	}
	for name, why := range explanations() {
		assert.True(t, there[name], "%s is gone: remove its line", name)
		assert.NotEmpty(t, why, name)
	}
	assert.Equal(t, strings.Count(explained, "\n")-1, len(explanations()), "a line for each, after the heading")
}
