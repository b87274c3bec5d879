package sandbox

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A call that its caller has given up is carried out before Drain returns, and calls that
// hang have ended.
func TestDrain(t *testing.T) {
	b := New()
	defer b.Close()
	require.NoError(t, b.Drain(t.Context()), "nothing was ever called")
	for _, kind := range []FaultKind{HangBeforeCommit(), HangAfterCommit()} {
		require.NoError(t, b.Inject(Fault{Operation: "POST /customers", Kind: kind, Times: 1}))
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.URL()+"/customers", strings.NewReader(`{}`))
		require.NoError(t, err)
		_, err = b.HTTPClient().Do(r) //nolint:bodyclose // there is none
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NoError(t, b.Drain(t.Context()))
		assert.Zero(t, b.listener.Abandoned())
	}
}
