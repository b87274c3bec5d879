//go:build !race

// Not with the race detector: worlds that are drawn one after the other have no races to find.

package sandbox

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The covering set is what it says: counted here without the code that made it.
func TestWorldsCoverPairsAndTriples(t *testing.T) {
	dimensions := Dimensions()
	core := make(map[int]bool)
	for i, d := range dimensions {
		core[i] = slices.Contains(tripled, d.Name)
	}
	pairs, triples := make(map[[4]int]bool), make(map[[6]int]bool)
	var wantPairs, wantTriples int
	for i := range dimensions {
		for j := i + 1; j < len(dimensions); j++ {
			wantPairs += len(dimensions[i].Values) * len(dimensions[j].Values)
			for k := j + 1; k < len(dimensions) && core[i] && core[j]; k++ {
				if core[k] {
					wantTriples += len(dimensions[i].Values) * len(dimensions[j].Values) * len(dimensions[k].Values)
				}
			}
		}
	}
	worlds, allPairs, after200 := 0, 0, 0
	for w := range Worlds(7, 0) {
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
		for w := range Worlds(seed, n) {
			printed = append(printed, w.String())
		}
		return printed
	}
	one, two := take(1, 2000), take(2, 2000)
	assert.Len(t, one, 2000)
	assert.Equal(t, one[:1000], two[:1000], "the covering set has no seed")
	assert.NotEqual(t, one[1900:], two[1900:])
	assert.Equal(t, one[:50], take(1, 50))
	assert.Equal(t, one[1900:], take(1, 2000)[1900:])
}

func TestWorldsPrintAndParse(t *testing.T) {
	for w := range Worlds(1, 100) {
		back, err := ParseWorld(w.String())
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
		_, err := ParseWorld(text)
		assert.ErrorContains(t, err, want)
	}
}

// Every value of the table can be read, and prints as it was written.
func TestEveryValueOfEveryDimensionCanBeSet(t *testing.T) {
	for _, a := range DefaultAssumptions().List() {
		assert.Equal(t, len(a.Worlds), len(slices.Compact(slices.Sorted(slices.Values(a.Worlds)))), a.Name)
		for _, value := range a.Worlds {
			changed := DefaultAssumptions()
			require.NoError(t, changed.Set(a.Name, value))
			i := slices.IndexFunc(changed.List(), func(b Assumption) bool { return b.Name == a.Name })
			assert.Equal(t, value, changed.List()[i].Value, a.Name)
			assert.NotContains(t, value, " ", a.Name)
		}
	}
	changed := DefaultAssumptions()
	assert.ErrorContains(t, changed.Set("PageSize", "many"), "assumption PageSize")
	assert.ErrorContains(t, changed.Set("Colour", "red"), "no assumption")
}

func TestWithWorld(t *testing.T) {
	w, err := ParseWorld("PageSize=10 Fault=lostTwice")
	require.NoError(t, err)
	box := New(WithWorld(w))
	defer box.Close()
	want := DefaultAssumptions()
	want.PageSize = 10
	assert.Equal(t, want, box.Assumptions())
	assert.Equal(t, []string{"10", "lostTwice", "none", ""}, []string{w.Value("PageSize"), w.Value(DimensionFault), w.Value(DimensionCrash), w.Value("Colour")})
	assert.Nil(t, World{}.Faults("POST /transactions"))
	require.NoError(t, box.Inject(w.Faults("POST /transactions")...))
	assert.Equal(t, map[string]int{"ResetAfterCommit": 0}, box.FaultCounts())
}

// TestMerchantTime: his clock is right, an hour off, or steps back in the second hour.
func TestMerchantTime(t *testing.T) {
	begun := time.Date(2026, time.November, 20, 10, 0, 0, 0, time.UTC)
	for value, off := range map[string][2]time.Duration{
		"right": {0, 0}, "behind": {-time.Hour, -time.Hour}, "ahead": {time.Hour, time.Hour}, "stepsBack": {0, -time.Hour},
	} {
		text := DimensionMerchantClock + "=" + value
		world, err := ParseWorld(text)
		require.NoError(t, err, text)
		for i, passed := range []time.Duration{90 * time.Minute, 90*time.Minute + 1} {
			now := begun.Add(passed)
			assert.Equal(t, off[i], world.MerchantTime(now, begun).Sub(now), text)
		}
	}
	assert.Equal(t, begun, World{}.MerchantTime(begun, begun))
}
