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

// WorldsOptions are the options of [Worlds]. The zero value is a good start.
type WorldsOptions struct {
	// N is the number of worlds, and Seed draws those after the covering set, as in
	// [worlds.Generate]. 0 is 200. A negative number is the whole covering set.
	N    int
	Seed uint64
	// Only is the one world to run, as a failed subtest has printed it. Empty runs N worlds.
	Only string
	// Sandbox and Client are added to the options of Worlds.
	Sandbox []sandbox.Option
	Client  []quickstream.ClientOption
}

// Run is a world, with a sandbox that has its assumptions and a client of it.
type Run struct {
	World  worlds.World
	Box    *sandbox.Sandbox
	Client *quickstream.Client
}

// Worlds runs a test in many worlds. Each world answers the questions that the public
// contract leaves open in another way, and breaks a call in another way. Code that is right
// in all of them does not rely on a guess.
//
// Every world is a subtest in a testing/synctest bubble of its own, in which a week of
// waiting takes no time. The test itself may play the crashes of the merchant's process (the
// world's Value of [worlds.Crash]) and the merchant's clock (its MerchantTime). A subtest that
// fails prints its world; WorldsOptions.Only runs that one again.
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

func (o WorldsOptions) run(t *testing.T, world worlds.World) Run {
	t.Helper()
	box := sandbox.New(append([]sandbox.Option{sandbox.WithSeed(o.Seed), world.Option()}, o.Sandbox...)...)
	t.Cleanup(box.Close)
	if err := box.Inject(world.Faults("POST /transactions")...); err != nil {
		t.Fatal(err)
	}
	// In some worlds the service retries declines.
	options := append([]quickstream.ClientOption{quickstream.WithFinalDeclines(false)}, o.Client...)
	return Run{World: world, Box: box, Client: Client(t, box, options...)}
}
