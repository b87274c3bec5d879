package sandboxtest

import (
	"fmt"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// WorldsOptions are the choices of a Worlds. The zero value is a good beginning.
type WorldsOptions struct {
	// N is how many worlds there are, and Seed draws those beyond the covering
	// set, as sandbox.Worlds says; 0 is 200. Negative is the whole covering set.
	N    int
	Seed uint64
	// Only, unless it is empty, is the one world to run, as it was printed when it
	// failed.
	Only string
	// Operation is the operation whose first call meets the fault of the world;
	// empty is "POST /transactions". NoFaults leaves faults out.
	Operation string
	NoFaults  bool
	// Sandbox and Client are applied after Worlds's own options.
	Sandbox []sandbox.Option
	Client  []quickstream.ClientOption
}

// Run is one world with a sandbox that has its assumptions, and a client of it.
type Run struct {
	World  worlds.World
	Box    *sandbox.Sandbox
	Client *quickstream.Client
}

// Worlds runs a test in many worlds: each answers differently what the public
// contract leaves open, and each breaks a call in another way. Code that is right
// in all of them relies on no guess.
//
// Every world is a subtest in a testing/synctest bubble of its own, in which a
// week of waiting takes no time. What the sandbox does not play is for test to play,
// when it wants to: where the merchant's process dies, by Run.World.Value, and how his
// clock goes, by Run.World.MerchantTime. A subtest that fails prints its world; WorldsOptions.Only runs
// that one again.
func Worlds(t *testing.T, opts WorldsOptions, test func(t *testing.T, run Run)) {
	t.Helper()
	list, err := opts.worlds()
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	for world := range list {
		number++
		t.Run(fmt.Sprintf("world%04d", number), func(t *testing.T) {
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("in the world %q", world)
				}
			})
			synctest.Test(t, func(t *testing.T) { test(t, opts.run(t, world)) })
		})
	}
}

func (o WorldsOptions) worlds() (iter.Seq[worlds.World], error) {
	if o.Only != "" {
		world, err := worlds.Parse(o.Only)
		return func(yield func(worlds.World) bool) { yield(world) }, err
	}
	n := o.N
	if n == 0 {
		n = 200
	}
	return worlds.Generate(o.Seed, n), nil
}

// run starts the sandbox of a world.
func (o WorldsOptions) run(t *testing.T, world worlds.World) Run {
	t.Helper()
	box := sandbox.New(append([]sandbox.Option{sandbox.WithSeed(o.Seed), world.Option()}, o.Sandbox...)...)
	t.Cleanup(box.Close)
	operation := o.Operation
	if operation == "" {
		operation = "POST /transactions"
	}
	if !o.NoFaults {
		if err := box.Inject(world.Faults(operation)...); err != nil {
			t.Fatal(err)
		}
	}
	return Run{World: world, Box: box, Client: Client(t, box, o.Client...)}
}
