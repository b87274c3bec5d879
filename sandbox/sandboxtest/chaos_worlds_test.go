//go:build !race

// Not with the race detector: what follows takes ten times as long with it, and has the races of chaos_test.go.

package sandboxtest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// TestChaosPassesTheCarefulMerchantInWorlds is TestChaosPassesTheCarefulMerchant with what the contract leaves open.
func TestChaosPassesTheCarefulMerchantInWorlds(t *testing.T) {
	for world := range worlds.Generate(0, 40) {
		synctest.Test(t, func(t *testing.T) {
			shop := &carefulShop{}
			client := []quickstream.ClientOption{quickstream.WithoutResend()}
			sandboxtest.Chaos(t, sandboxtest.ChaosOptions{
				Orders: 40, World: world, Settle: shop.settle, Client: client,
				Sandbox: []sandbox.Option{sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
					// No merchant can know better that says that nothing is retried
					// and leaves its references to the client.
					assert.NoError(t, a.Set("SoftDeclineCodes", "none"))
					// This merchant takes the first approval that a look-up finds for the last
					// word, and does not look again, as package resolve does.
					a.ReversalAfter = 0
					if strings.HasPrefix(world.Value(worlds.Fault), "twice") {
						a.KeyLifetime = time.Hour
					}
				})},
			}, shop.pay)
		})
	}
}
