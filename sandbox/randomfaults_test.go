package sandbox

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRandomFaults draws often enough to see every kind with about its share.
func TestRandomFaults(t *testing.T) {
	const calls = 200_000
	for _, share := range []float64{0.05, 0.3, 1} {
		b := New(WithSeed(7))
		require.NoError(t, b.Inject(RandomFaults(share)...))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.URL()+"/", nil)
		require.NoError(t, err)
		for range calls {
			if b.dialFault(r) == nil {
				b.serverFaults.next(b.dice, Request{Operation: "GET /"})
			}
		}
		want, total := map[string]float64{}, 0.0
		for _, k := range randomKinds() {
			want[k.kind.String()] += k.weight
			total += k.weight
		}
		met := 0
		for kind, n := range b.FaultCounts() {
			met += n
			assert.InEpsilon(t, want[kind]/total*share*calls, n, 0.3, "%s of %v", kind, share)
		}
		assert.Len(t, b.FaultCounts(), len(want))
		assert.InDelta(t, share, float64(met)/calls, 0.01)
		b.Close()
	}
	assert.Empty(t, RandomFaults(0), "no share is no faults, and not faults without end")
	assert.Equal(t, RandomFaults(1)[0].Probability, RandomFaults(7)[0].Probability)
}

// TestNextTransactionFor gives each order its own outcomes, whoever asks first.
func TestNextTransactionFor(t *testing.T) {
	b := New()
	defer b.Close()
	b.NextTransaction(Rejected("QA"))
	b.NextTransactionFor("ORDER-1", Declined("51"), Erred())
	var got []string
	for _, order := range []string{"order-1", "ORDER-2", "ORDER-1", "ORDER-1"} {
		o := b.decide(&transaction{customerReference: order}, b.Now())
		got = append(got, string(o.result))
	}
	assert.Equal(t, []string{"declined", "rejected", "erred", "approved"}, got)
}
