//go:build !race

// Not with the race detector: worlds that are drawn one after the other have no races to find.

package worlds

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// The covering set is what it says: counted here without the code that made it.
func TestWorldsCoverPairsAndTriples(t *testing.T) {
	dimensions := dimensions()
	core := make(map[int]bool)
	for i, d := range dimensions {
		core[i] = slices.Contains(tripled, d.name)
	}
	pairs, triples := make(map[[4]int]bool), make(map[[6]int]bool)
	var wantPairs, wantTriples int
	for i := range dimensions {
		for j := i + 1; j < len(dimensions); j++ {
			wantPairs += len(dimensions[i].values) * len(dimensions[j].values)
			for k := j + 1; k < len(dimensions) && core[i] && core[j]; k++ {
				if core[k] {
					wantTriples += len(dimensions[i].values) * len(dimensions[j].values) * len(dimensions[k].values)
				}
			}
		}
	}
	worlds, allPairs, after200 := 0, 0, 0
	for w := range Generate(7, 0) {
		if worlds++; worlds == 1 {
			assert.Equal(t, "default", w.String())
		}
		for i := range dimensions {
			for j := i + 1; j < len(dimensions); j++ {
				pairs[[4]int{i, w.choice[i], j, w.choice[j]}] = true
				for k := j + 1; k < len(dimensions) && core[i] && core[j]; k++ {
					if core[k] {
						triples[[6]int{i, w.choice[i], j, w.choice[j], k, w.choice[k]}] = true
					}
				}
			}
		}
		if worlds == 200 {
			after200 = len(pairs)
		}
		if allPairs == 0 && len(pairs) == wantPairs {
			allPairs = worlds
		}
	}
	assert.Len(t, pairs, wantPairs)
	assert.Len(t, triples, wantTriples)
	t.Logf("%d dimensions; %d pairs in the first %d worlds (%d in 200), %d triples over %d dimensions in all %d",
		len(dimensions), wantPairs, allPairs, after200, wantTriples, len(tripled), worlds)
}

func TestWorldsAreTheSameInEveryRun(t *testing.T) {
	take := func(seed uint64, n int) (printed []string) {
		for w := range Generate(seed, n) {
			printed = append(printed, w.String())
		}
		return printed
	}
	one, two := take(1, 2700), take(2, 2700)
	assert.Len(t, one, 2700)
	assert.True(t, slices.Equal(one[:2300], two[:2300]), "the covering set has no seed")
	assert.NotEqual(t, one[2690:], two[2690:])
	assert.Equal(t, one[2690:], take(1, 2700)[2690:])
}

func TestWorldsPrintAndParse(t *testing.T) {
	for w := range Generate(1, 100) {
		back, err := Parse(w.String())
		require.NoError(t, err)
		assert.Equal(t, w.String(), back.String())
		assert.Equal(t, w.choice, back.choice)
	}
	assert.Equal(t, "default", World{}.String())
	for text, want := range map[string]string{
		"Colour=red":    `no dimension "Colour"`,
		"LookupLag=1h":  "it has 2s, 0s, 10s, 5m, 24h",
		"LookupLag":     "no value",
		"default world": `no dimension "default"`,
	} {
		_, err := Parse(text)
		assert.ErrorContains(t, err, want)
	}
}

func TestOption(t *testing.T) {
	w, err := Parse("PageSize=10 Fault=lostTwice")
	require.NoError(t, err)
	box := sandbox.New(w.Option())
	defer box.Close()
	want := sandbox.DefaultAssumptions()
	want.PageSize = 10
	assert.Equal(t, want, box.Assumptions())
	assert.Equal(t, []string{"10", "lostTwice", "none", ""}, []string{w.Value("PageSize"), w.Value(Fault), w.Value(Crash), w.Value("Colour")})
	assert.Nil(t, World{}.Faults("POST /transactions"))
	require.NoError(t, box.Inject(w.Faults("POST /transactions")...))
	assert.Equal(t, map[string]int{"ResetAfterCommit": 0}, box.FaultCounts())
}

// The merchant's clock is right, an hour off, or steps back in the second hour.
func TestMerchantTime(t *testing.T) {
	begun := time.Date(2026, time.November, 20, 10, 0, 0, 0, time.UTC)
	for value, off := range map[string][2]time.Duration{
		"right": {0, 0}, "behind": {-time.Hour, -time.Hour}, "ahead": {time.Hour, time.Hour}, "stepsBack": {0, -time.Hour},
	} {
		text := MerchantClock + "=" + value
		world, err := Parse(text)
		require.NoError(t, err, text)
		for i, passed := range []time.Duration{90 * time.Minute, 90*time.Minute + 1} {
			now := begun.Add(passed)
			assert.Equal(t, off[i], world.MerchantTime(now, begun).Sub(now), text)
		}
	}
	assert.Equal(t, begun, World{}.MerchantTime(begun, begun))
}
