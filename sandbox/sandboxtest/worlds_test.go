package sandboxtest_test

import (
	"errors"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

func TestWorldsRunsEachInABubble(t *testing.T) {
	var seen []string
	sandboxtest.Worlds(t, sandboxtest.WorldsOptions{N: 30}, func(t *testing.T, run sandboxtest.Run) {
		began := time.Now()
		<-time.After(7 * 24 * time.Hour) // no time at all
		assert.Equal(t, 7*24*time.Hour, time.Since(began))
		assert.Equal(t, run.World.Value("KeyMismatch"), run.Box.Assumptions().KeyMismatch)
		assert.NotNil(t, run.Client)
		seen = append(seen, run.World.String())
	})
	var want []string
	for w := range worlds.Generate(0, 30) {
		want = append(want, w.String())
	}
	assert.Equal(t, want, seen)
}

func TestWorldsPlaysTheFaultOfTheWorld(t *testing.T) {
	opts := sandboxtest.WorldsOptions{Only: "Fault=460after LookupLag=0s"}
	sandboxtest.Worlds(t, opts, func(t *testing.T, run sandboxtest.Run) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, run.Box.URL()+"/transactions", nil)
		require.NoError(t, err)
		resp, err := run.Box.HTTPClient().Do(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, 460, resp.StatusCode)
	})
}

func TestWorldsTakesTheMerchantsOptions(t *testing.T) {
	ran := 0
	few := sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.TokenQuota = 7 })
	opts := sandboxtest.WorldsOptions{N: 3, Sandbox: []sandbox.Option{few}}
	sandboxtest.Worlds(t, opts, func(t *testing.T, run sandboxtest.Run) {
		ran++
		assert.Equal(t, 7, run.Box.Assumptions().TokenQuota)
	})
	assert.Equal(t, 3, ran)
}

// TestExampleOfWorlds runs what ExampleWorlds shows.
func TestExampleOfWorlds(t *testing.T) { testPay(t) }

// In a world whose service retries a decline, the client does not say that the order can be paid again at once.
func TestWorldsHaveRetries(t *testing.T) {
	sandboxtest.Worlds(t, sandboxtest.WorldsOptions{Only: "SoftDeclineCodes=01,05,51,91"}, func(t *testing.T, run sandboxtest.Run) {
		run.Box.NextTransaction(sandbox.Declined("51"))
		token, err := sandboxtest.CardToken(t.Context(), run.Client, "4242424242424242")
		require.NoError(t, err)
		_, err = run.Client.Transactions.Pay(t.Context(), quickstream.PayParams{
			Source: quickstream.FromSingleUseToken(token), PrincipalAmount: decimal.RequireFromString("49.95"), ECI: quickstream.ECIInternet,
			IPAddress: netip.MustParseAddr("203.0.113.7"),
		})
		declined, ok := errors.AsType[*quickstream.DeclinedError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, quickstream.NextStepCheckRetries, declined.Transaction.NextStep())
	})
}
