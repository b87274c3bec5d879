package sandbox_test

import (
	"fmt"

	"github.com/quickstream-go/quickstream/sandbox"
)

// The first world has the defaults. A world that broke something is made again
// from what it printed.
func ExampleWorlds() {
	for world := range sandbox.Worlds(1, 1) {
		fmt.Println(world)
	}
	world, err := sandbox.ParseWorld("EchoedReferences=upper ClockSkew=31s Fault=lostAfterCommit")
	if err != nil {
		fmt.Println(err)
		return
	}
	box := sandbox.New(sandbox.WithWorld(world))
	defer box.Close()
	fmt.Println(box.Assumptions().ClockSkew, world.Value(sandbox.DimensionFault), world.Value(sandbox.DimensionCrash))
	// Output:
	// default
	// 31s lostAfterCommit none
}
