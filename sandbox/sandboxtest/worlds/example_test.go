package worlds_test

import (
	"fmt"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// The first world has the defaults. Parse makes a world again from the text that
// it printed.
func ExampleGenerate() {
	for world := range worlds.Generate(1, 1) {
		fmt.Println(world)
	}
	world, err := worlds.Parse("EchoedReferences=upper ClockSkew=31s Fault=lostAfterCommit")
	if err != nil {
		fmt.Println(err)
		return
	}
	box := sandbox.New(world.Option())
	defer box.Close()
	fmt.Println(box.Assumptions().ClockSkew, world.Value(worlds.Fault), world.Value(worlds.Crash))
	// Output:
	// default
	// 31s lostAfterCommit none
}
