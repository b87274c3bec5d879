// Package demo holds what the example programs share: a sandbox with a client of
// it, and a program's beginning and end.
package demo

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// Shop is a merchant with a sandbox in place of the service.
type Shop struct {
	Box    *sandbox.Sandbox
	Clock  *sandbox.Clock
	Client *quickstream.Client
}

// Main runs an example against a new sandbox whose clock stands still until it
// is advanced, and ends the program. The options are the sandbox's.
func Main(name string, run func(ctx context.Context, s *Shop) error, opts ...sandbox.Option) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	err := inSandbox(ctx, run, opts...)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
	fmt.Println("\nEverything was as expected.")
}

func inSandbox(ctx context.Context, run func(context.Context, *Shop) error, opts ...sandbox.Option) error {
	clock := sandbox.NewClock(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC)) // 10:00 in Sydney
	box := sandbox.New(append([]sandbox.Option{
		sandbox.WithClock(clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.LookupLag = 0 }),
	}, opts...)...)
	defer box.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box),
		quickstream.WithHTTPClient(box.HTTPClient()), quickstream.WithClock(clock.Now))
	if err != nil {
		return err
	}
	return run(ctx, &Shop{Box: box, Clock: clock, Client: client})
}
