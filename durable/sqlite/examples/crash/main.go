// Command crash kills a merchant's program in the middle of payments, and shows that no
// payment is lost or made twice. The service is the sandbox in this process. The shop is a
// process of its own, with a SQLite file. It is killed without warning, again and again,
// when a payment has been carried out and its answer has not arrived, and is started
// again.
//
// At the end every order has one payment, by the service's own ledger, and the shop's
// books say the same. The program ends with a status other than zero if they do not.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

const (
	orders = 12
	kills  = 4
	// addressVariable, keyVariable and publishableVariable give the shop the service's address and keys.
	addressVariable, keyVariable, publishableVariable = "SHOP_SERVICE", "SHOP_KEY", "SHOP_PUBLISHABLE_KEY"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	run := watch
	if len(os.Args) == 3 && os.Args[1] == "shop" {
		run = func(ctx context.Context) error { return keepShop(ctx, os.Args[2]) }
	}
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
}

// watch runs the service, and kills the shop.
func watch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()

	// An answer that takes this long leaves time to kill the shop before it arrives.
	var paid atomic.Int64
	moment := make(chan struct{}, orders)
	box := sandbox.New(sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.LookupLag = 0 }))
	defer box.Close()
	err = box.Inject(sandbox.Fault{
		Operation: "POST /transactions", Kind: sandbox.DelayAfterCommit(700 * time.Millisecond),
		Match: func(sandbox.Request) bool {
			if paid.Add(1)%3 != 0 {
				return false
			}
			select {
			case moment <- struct{}{}:
			default:
			}
			return true
		},
	})
	if err != nil {
		return err
	}
	address, err := box.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "shop.db")
	for run := 1; ; run++ {
		shop, err := open(ctx, file, address, box.Keys())
		if err != nil {
			return err
		}
		ended := make(chan error, 1)
		go func() { ended <- shop.Wait() }()
		if run > kills {
			if err := <-ended; err != nil {
				return fmt.Errorf("the shop: %w", err)
			}
			return judge(ctx, file, box)
		}
		select {
		case <-moment:
			<-time.After(300 * time.Millisecond) // carried out, and not answered
			_ = shop.Process.Kill()
			fmt.Printf("-- %v (%d of %d), with a payment carried out and its answer on the way\n", <-ended, run, kills)
		case err := <-ended:
			return fmt.Errorf("the shop ended too early: %w", err)
		}
	}
}

// open starts the shop.
func open(ctx context.Context, file, address string, keys sandbox.Keys) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	shop := exec.CommandContext(ctx, program, "shop", file) //nolint:gosec // this program
	shop.Env = append(os.Environ(), addressVariable+"="+address, keyVariable+"="+keys.Secret, publishableVariable+"="+keys.Publishable)
	shop.Stdout, shop.Stderr = os.Stdout, os.Stderr
	return shop, shop.Start()
}

// judge compares the shop's books with the service's ledger.
func judge(ctx context.Context, file string, box *sandbox.Sandbox) error {
	books, err := read(ctx, file)
	if err != nil {
		return err
	}
	charged := map[string]int{}
	for _, entry := range box.Ledger() {
		if entry.Outcome == "approved" {
			charged[entry.Metadata["quickstreamOrder"]]++
		}
	}
	var wrong []string
	for i := range orders {
		order := orderID(i)
		if charged[order] != 1 || books[order] != 1 {
			wrong = append(wrong, fmt.Sprintf("%s was charged %d times, and is in the books %d times", order, charged[order], books[order]))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	fmt.Printf("%d orders, %d kills: each was charged once, and is in the books once.\n", orders, kills)
	return nil
}

func orderID(i int) string { return fmt.Sprintf("order %02d", i+1) }
