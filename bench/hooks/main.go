// Command hooks sends a thousand webhooks a second to an endpoint made of package
// webhooks, among them duplicates, redeliveries, reordered and forged ones, and
// fails unless every genuine notification was handled, every forged one was
// refused, and the memory in use stayed what it was.
//
//	go -C bench run ./hooks                     # a minute
//	go -C bench run ./hooks -for 10s -seed 2    # shorter, and otherwise drawn
//
// The endpoint is a real server on the loopback interface, in this process. What
// the sender keeps for its own use is allocated before the first delivery.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"time"

	"github.com/quickstream-go/quickstream/webhooks"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "hooks:", err)
		os.Exit(1)
	}
}

// megabyte is a million bytes.
const megabyte = 1_000_000

// settings are what a trial is made with.
type settings struct {
	deliveries  int // not counting the last redeliveries
	rate        int // deliveries a second; as fast as it goes when 0
	seed        uint64
	connections int
	ids         int           // that the endpoint's store remembers
	work        time.Duration // that the endpoint's function takes
	margin      float64       // megabytes by which the heap may grow
}

// errFailed means that the table has a NO in it.
var errFailed = errors.New("not everything holds")

func run(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("hooks", flag.ContinueOnError)
	flags.IntVar(&s.rate, "rate", 1000, "deliveries a second, of all kinds")
	lasting := flags.Duration("for", time.Minute, "how long to send; it fails when that is too short for each kind of delivery to come")
	flags.Uint64Var(&s.seed, "seed", 1, "of what is drawn")
	flags.IntVar(&s.connections, "connections", 64, "of the sender")
	flags.IntVar(&s.ids, "ids", 0, "notifications that the endpoint's store remembers; by itself a twentieth of the deliveries, so that it is full soon")
	flags.DurationVar(&s.work, "work", 2*time.Millisecond, "how long the endpoint's function takes")
	flags.Float64Var(&s.margin, "margin", 0.5, "megabytes by which the live heap of the last quarter may exceed that of the second")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s.deliveries = int(math.Round(float64(s.rate) * lasting.Seconds()))
	if s.ids == 0 {
		s.ids = max(memorable, min(s.deliveries/20, webhooks.DefaultMaxIDs))
	}
	switch {
	case s.rate <= 0 || s.connections <= 0:
		return errors.New("rate and connections must be positive")
	case s.ids < memorable:
		return fmt.Errorf("a store of fewer than %d ids forgets what is still being delivered", memorable)
	case s.deliveries < points || s.deliveries > math.MaxInt32:
		return fmt.Errorf("%d deliveries are too few, or too many", s.deliveries)
	}
	o, err := try(ctx, s, merchant)
	if err != nil {
		return err
	}
	holds, err := o.print(out)
	if err != nil {
		return err
	}
	if !holds {
		return errFailed
	}
	return nil
}
