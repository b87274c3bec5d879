package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// classes are what must never happen, whatever is true of the service.
var classes = []string{"charged twice", "lost", "wrongly reported", "charged but absent", "must that did not settle", "broken story", "answer not taken"}

// totals are those of many worlds.
type totals struct {
	worlds, writes, musts int
	requests int64
	ends                  map[string]int
	held                  map[string]int // by combination
	apart                 map[string]int
	complaints            map[string][]string
}

// runWorlds takes payments in many worlds, and writes what the oracle says of them.
func runWorlds(ctx context.Context, w io.Writer, c config, worlds iter.Seq[sandbox.World]) error {
	begun := time.Now()
	sum := totals{ends: map[string]int{}, held: map[string]int{}, apart: map[string]int{}, complaints: map[string][]string{}}
	for world := range worlds {
		if err := sum.world(ctx, c, world); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(w, sum.report(c, time.Since(begun))); err != nil {
		return err
	}
	if n := sum.failures(); n > 0 {
		return fmt.Errorf("%d complaints of the oracle", n)
	}
	return nil
}

// world runs the story in one world.
func (sum *totals) world(ctx context.Context, c config, world sandbox.World) error {
	sum.worlds++
	at := time.Now()
	defer func() {
		if c.verbose {
			fmt.Fprintf(os.Stderr, "%3d %5.1fs %6d requests  %s\n", sum.worlds, time.Since(at).Seconds(), sum.requests, world)
		}
	}()
	complain := func(class, text string) {
		sum.complaints[class] = append(sum.complaints[class], fmt.Sprintf("%s\n      %s", text, c.again(world)))
	}
	s, err := open(ctx, c, &world)
	if err != nil {
		complain("broken story", err.Error())
		return ctx.Err()
	}
	defer s.box.Close()
	table, err := s.fill()
	if err == nil {
		err = rounds(ctx, s, table, c.workers, newMerchant(s, table).work)
	}
	if err != nil {
		complain("broken story", err.Error())
	}
	sum.requests = s.attempts.Load()
	if c.verbose {
		counts := map[string]int{}
		for _, text := range s.unknown {
			counts[text]++
		}
		for text, n := range counts {
			fmt.Fprintln(os.Stderr, "   ", n, text)
		}
	}
	orders, err := table.all()
	if err != nil {
		return err
	}
	if c.verbose {
		for _, o := range orders {
			for _, t := range o.Tries {
				if t.Ended == "" || t.Ended == endEscalated {
					row, _ := json.Marshal(t)
					fmt.Fprintf(os.Stderr, "    %s %s\n", o.ID, row)
				}
			}
		}
	}
	if c.faults == 0 {
		for _, text := range s.unknown {
			complain("answer not taken", text)
		}
	}
	words := wordsOf(s, orders)
	judge := newOracle(world, c.resend, s.box.Ledger(), s.box.Requests(), words)
	for _, word := range words {
		v := judge.judge(word)
		sum.writes++
		sum.ends[word.ended]++
		class, text := v.complaint(word)
		switch {
		case v.apart != "":
			sum.apart[v.apart]++
			if v.held == "" {
				sum.musts++
			}
			continue
		case v.held == "":
			sum.musts++
		case word.ended == "held":
			sum.held[v.held]++
		}
		if class != "" {
			complain(class, text)
		}
	}
	for _, text := range judge.lostOrDouble(idsOf(orders)) {
		complain(text[0], text[1])
	}
	return ctx.Err()
}

func (sum *totals) failures() (n int) {
	for _, list := range sum.complaints {
		n += len(list)
	}
	if sum.musts*100 < sum.writes*95 {
		n++
	}
	return n
}

// again is the command that runs one world again.
func (c config) again(world sandbox.World) string {
	return fmt.Sprintf("go run ./examples/chaos -payments %d -seed %d -faults %g -resend=%t -world '%s'", c.payments, c.seed, c.faults, c.resend, world)
}

func (sum *totals) report(c config, took time.Duration) string {
	w := new(strings.Builder)
	fmt.Fprintf(w, "%d worlds with %d orders each, seed %d, re-sending %t\n", sum.worlds, c.payments, c.seed, c.resend)
	fmt.Fprintf(w, "%d writes, of which %d must settle (%.1f %%). They ended\n", sum.writes, sum.musts, 100*float64(sum.musts)/float64(max(sum.writes, 1)))
	counted(w, sum.ends)
	fmt.Fprintf(w, "Held, as the contract permits no better:\n")
	counted(w, sum.held)
	fmt.Fprintf(w, "Apart, risks that were taken:\n")
	counted(w, sum.apart)
	fmt.Fprintln(w, "Never, in no world:")
	for _, class := range classes {
		list := sum.complaints[class]
		fmt.Fprintf(w, "  %-68s %8d\n", class, len(list))
		for _, text := range list[:min(len(list), mostListed)] {
			fmt.Fprintf(w, "    %s\n", text)
		}
	}
	fmt.Fprintf(w, "Took %.1f s.\n", took.Seconds())
	return w.String()
}

func counted(w *strings.Builder, counts map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(w, "  %-68s %8d\n", name, counts[name])
	}
}

// wordsOf brings the merchant's table into the oracle's words.
func wordsOf(s *service, orders []*order) (words []word) {
	said := map[ending]string{
		endDone: "done", endDeclined: "declined", endRefused: "nothing", endAbsent: "absent", endTwice: "twice", endEscalated: "held", "": "held",
	}
	for _, o := range orders {
		for _, t := range o.Tries {
			_, crashed := s.crashed.Load(t.Intent.IdempotencyKey)
			w := word{
				order: o.ID, kind: string(t.Kind), key: t.Intent.IdempotencyKey, amount: t.Amount.String(), ended: said[t.Ended], receipt: t.Receipt, crashed: crashed,
			}
			if t.Kind == kindPayment {
				w.reference = o.Reference
			} else {
				w.original = o.Receipt
			}
			words = append(words, w)
		}
	}
	return words
}

func idsOf(orders []*order) map[string]bool {
	known := make(map[string]bool)
	for _, o := range orders {
		known[o.ID] = true
	}
	return known
}
