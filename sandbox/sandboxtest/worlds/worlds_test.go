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

// The covering set covers every pair of values, counted here without the code that made it.
func TestWorldsCoverPairs(t *testing.T) {
	dimensions := dimensions()
	pairs, want := make(map[[2]string]bool), 0
	for i := range dimensions {
		for j := i + 1; j < len(dimensions); j++ {
			want += len(dimensions[i].values) * len(dimensions[j].values)
		}
	}
	var first []string
	worlds := 0
	for w := range Generate(7, 0) {
		worlds++
		first = append(first, w.String())
		for i := range dimensions {
			for j := i + 1; j < len(dimensions); j++ {
				pairs[[2]string{dimensions[i].name + w.differs[dimensions[i].name], dimensions[j].name + w.differs[dimensions[j].name]}] = true
			}
		}
	}
	assert.Equal(t, []string{"default", Unkind().String()}, first[:2])
	assert.Len(t, pairs, want)
	assert.Less(t, worlds, 500)
	t.Logf("%d dimensions; %d pairs in %d worlds", len(dimensions), want, worlds)
}

func TestWorldsAreTheSameInEveryRun(t *testing.T) {
	take := func(seed uint64, n int) (printed []string) {
		for w := range Generate(seed, n) {
			printed = append(printed, w.String())
		}
		return printed
	}
	one, two := take(1, 600), take(2, 600)
	assert.Len(t, one, 600)
	assert.True(t, slices.Equal(one[:250], two[:250]), "the covering set has no seed")
	assert.NotEqual(t, one[590:], two[590:])
	assert.Equal(t, one[590:], take(1, 600)[590:])
}

func TestWorldsPrintAndParse(t *testing.T) {
	for w := range Generate(1, 100) {
		back, err := Parse(w.String())
		require.NoError(t, err)
		assert.Equal(t, w.String(), back.String())
		assert.Equal(t, w, back)
	}
	assert.Equal(t, "default", World{}.String())
	hard, err := Parse("unkind PageSize=1 Fault=lostTwice")
	require.NoError(t, err)
	assert.Equal(t, []string{"1", "lostTwice", "before"}, []string{hard.Value("PageSize"), hard.Value(Fault), hard.Value("Events")})
	for text, want := range map[string]string{
		"Colour=red":    `no dimension "Colour"`,
		"LookupLag=1h":  "it has 0s, 2s, 10s, 5m, 24h",
		"LookupLag":     "no value",
		"default world": `no dimension "default"`,
	} {
		_, err := Parse(text)
		assert.ErrorContains(t, err, want)
	}
}

func TestOption(t *testing.T) {
	w, err := Parse("PageSize=3 Fault=lostTwice")
	require.NoError(t, err)
	box := sandbox.New(w.Option())
	defer box.Close()
	want := sandbox.DefaultAssumptions()
	want.PageSize = 3
	assert.Equal(t, want, box.Assumptions())
	assert.Equal(t, []string{"3", "lostTwice", "none", ""}, []string{w.Value("PageSize"), w.Value(Fault), w.Value(Crash), w.Value("Colour")})
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
