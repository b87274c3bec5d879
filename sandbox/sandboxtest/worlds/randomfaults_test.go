package worlds

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// TestRandomFaults calls often enough to meet every kind with about its share.
func TestRandomFaults(t *testing.T) {
	const calls = 15_000
	for _, share := range []float64{0.05, 0.3, 1} {
		synctest.Test(t, func(t *testing.T) {
			box := sandbox.New(sandbox.WithSeed(7))
			defer box.Close()
			require.NoError(t, box.Inject(RandomFaults(share)...))
			client := &http.Client{Transport: box.HTTPClient().Transport, Timeout: time.Hour}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, box.URL()+"/customers", nil) // net/http repeats no POST
			require.NoError(t, err)
			for range calls {
				if resp, err := client.Do(r); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			}
			want, total := map[string]float64{}, 0.0
			for _, k := range randomKinds() {
				want[k.kind.String()] += k.weight
				total += k.weight
			}
			met := 0
			for kind, n := range box.FaultCounts() {
				met += n
				if share == 1 {
					assert.InEpsilon(t, want[kind]/total*calls, n, 0.3, kind)
				}
			}
			assert.Len(t, box.FaultCounts(), len(want))
			assert.InDelta(t, share, float64(met)/calls, 0.01)
		})
	}
	assert.Empty(t, RandomFaults(0), "no share is no faults, and not faults without end")
	assert.Equal(t, RandomFaults(1)[0].Probability, RandomFaults(7)[0].Probability)
}
