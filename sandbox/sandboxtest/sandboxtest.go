// Package sandboxtest gives tests a sandbox and a client of it.
//
// # Worlds
//
// [Worlds] runs a test in many worlds, each with other answers to the questions that the
// public contract leaves open, and with another fault.
//
// # Chaos
//
// [Chaos] calls a merchant's function once for each of many orders, concurrently, while calls
// fail in every way that a network, a gateway and the service can fail:
//
//	sandboxtest.Chaos(t, sandboxtest.ChaosOptions{Seed: 1, Settle: shop.settle}, shop.pay)
//
// Then it lets a week pass and compares what the function returned with the sandbox's ledger.
// The ledger is read by order and not by idempotency key, because a second charge under
// another key is still a second charge.
//
// Chaos works inside and outside testing/synctest. Inside, the function can wait for days.
// Payments that the service has not made when the caller gives up are made up to 20 hours
// later.
package sandboxtest

import (
	"testing"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// Open starts a sandbox and returns it with a client, for programs: tests use [New]. The client goes by
// the sandbox's clock, and pays to its default business in Australian dollars unless a call says
// otherwise. Close the sandbox at the end.
func Open(opts ...sandbox.Option) (*sandbox.Sandbox, *quickstream.Client, error) {
	box := sandbox.New(opts...)
	client, err := newClient(box, quickstream.WithSupplierBusinessCode(sandbox.DefaultBusiness), quickstream.WithCurrency(quickstream.CurrencyAUD))
	return box, client, err
}

// New starts a sandbox that ends with the test, and returns it with a client. Nothing leaves
// the process. It works inside a testing/synctest bubble too.
func New(t testing.TB, opts ...sandbox.Option) (*sandbox.Sandbox, *quickstream.Client) {
	t.Helper()
	box := sandbox.New(opts...)
	t.Cleanup(box.Close)
	return box, Client(t, box)
}

// Client returns a client of the sandbox with both keys and the options, which goes by the sandbox's
// clock. That is not moved past the client's writes, by [sandbox.Sandbox.Hold], unless you give it an
// HTTP client or an observer of your own.
func Client(t testing.TB, box *sandbox.Sandbox, opts ...quickstream.ClientOption) *quickstream.Client {
	t.Helper()
	client, err := newClient(box, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func newClient(box *sandbox.Sandbox, opts ...quickstream.ClientOption) (*quickstream.Client, error) {
	opts = append(append(holding(box), quickstream.WithClock(box.Now)), opts...)
	return quickstream.NewClient(quickstream.CustomURL(box.URL()), Keys(box), opts...)
}

// Keys returns the sandbox's keys in the type of the client.
func Keys(box *sandbox.Sandbox) quickstream.Keys {
	keys := box.Keys()
	return quickstream.Keys{
		Secret:      quickstream.NewSecretKey(keys.Secret),
		Publishable: quickstream.NewPublishableKey(keys.Publishable),
	}
}
