//go:build !race

// Not with the race detector: worlds that are drawn one after the other have no races to find.

package worlds

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// The covering set is what it says: counted here without the code that made it.
func TestWorldsCoverPairs(t *testing.T) {
	dimensions := dimensions()
	pairs, want := make(map[[4]int]bool), 0
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
				pairs[[4]int{i, w.choice[i], j, w.choice[j]}] = true
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
		assert.Equal(t, w.choice, back.choice)
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

// What every value of the dimension Fault does to a payment: the answer to its first
// call, 0 for none, and how often it was carried out.
func TestFaultsOfWorlds(t *testing.T) {
	type end struct{ status, made int }
	want := map[string]end{
		"notSent": {0, 0}, "lostBeforeCommit": {0, 0}, "lostAfterCommit": {0, 1}, "lostTwice": {0, 1}, "hangAfterCommit": {0, 1},
		"commitLate": {0, 1}, "cutBody": {0, 1}, "slowBody": {201, 1}, "htmlFor201": {201, 1},
		"500before": {500, 0}, "500after": {500, 1}, "502after": {502, 1},
		"503own": {503, 0}, "503gateway": {503, 1}, "503errors": {503, 1}, "503html": {503, 1}, "503empty": {503, 1},
		"203for201": {203, 1}, "206for201": {206, 1}, "207for201": {207, 1}, "299for201": {299, 1},
		"twice401": {201, 1}, "twice422": {201, 1}, "twice429": {201, 1}, "twice503": {201, 1},
	}
	for _, code := range []int{400, 401, 403, 404, 405, 407, 408, 409, 411, 413, 415, 422, 425, 429, 460, 499} {
		want[strconv.Itoa(code)+"after"] = end{code, 1}
	}
	values := ofMerchant()[0].values
	require.Len(t, values, 1+len(want))
	for _, value := range values[1:] {
		w, err := Parse("Fault=" + value)
		require.NoError(t, err)
		synctest.Test(t, func(t *testing.T) {
			box := sandbox.New(w.Option())
			defer box.Close()
			require.NoError(t, box.Inject(w.Faults("POST /transactions")...))
			client := &http.Client{Transport: box.HTTPClient().Transport, Timeout: time.Hour}
			status := 0
			if resp, err := client.Do(payment(t, box)); err == nil {
				status = resp.StatusCode
				require.NoError(t, resp.Body.Close())
			}
			if value == "cutBody" {
				status = 0 // only the head of the answer arrives
			}
			<-time.After(time.Hour)
			assert.Equal(t, want[value], end{status, len(box.Ledger())}, value)
		})
	}
}

func payment(t *testing.T, box *sandbox.Sandbox) *http.Request {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"transactionType": "PAYMENT", "supplierBusinessCode": sandbox.DefaultBusiness, "principalAmount": json.Number("10.00"), "currency": "AUD",
		"eci": "PHONE", "storedCredentialData": map[string]string{"entryMode": "MANUAL"},
		"creditCard": map[string]string{"cardNumber": "4242424242424242", "expiryDateMonth": "02", "expiryDateYear": "2035", "cvn": "123"},
	})
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, box.URL()+"/transactions", bytes.NewReader(raw))
	require.NoError(t, err)
	r.SetBasicAuth(box.Keys().Secret, "")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", "k")
	return r
}
