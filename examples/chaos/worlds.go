package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// runWorlds takes payments in many worlds, some at a time, and writes what the oracle
// says of them.
func runWorlds(ctx context.Context, w io.Writer, c config, worlds iter.Seq[sandbox.World]) error {
	begun, sum := time.Now(), newTotals()
	type one struct {
		world sandbox.World
		seed  uint64
	}
	queue := make(chan one)
	var running sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		running.Go(func() {
			for next := range queue {
				c := c
				c.seed = next.seed
				sum.world(ctx, w, c, next.world)
			}
		})
	}
	seed := c.seed // each world has orders of its own
	for world := range worlds {
		if ctx.Err() != nil {
			break
		}
		queue <- one{world, seed}
		seed++
	}
	close(queue)
	running.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, err := io.WriteString(w, sum.report(c, time.Since(begun))); err != nil {
		return err
	}
	return sum.err()
}

// totals are those of many worlds.
type totals struct {
	mu                    sync.Mutex
	worlds, writes, musts int
	planted               int                 // answers with one member changed
	formless              int                 // refusals that are not in the service's words
	ends                  map[string]int      // how the writes ended
	held                  map[string]int      // by combination
	apart                 map[string]int      // by risk
	complaints            map[string][]string // by class
}

func newTotals() *totals {
	return &totals{ends: make(map[string]int), held: make(map[string]int), apart: make(map[string]int), complaints: make(map[string][]string)}
}

// world runs the story in one world.
func (sum *totals) world(ctx context.Context, w io.Writer, c config, world sandbox.World) {
	s, orders, err := tell(ctx, c, world)
	sum.mu.Lock()
	defer sum.mu.Unlock()
	sum.worlds++
	complain := func(class, text string) {
		sum.complaints[class] = append(sum.complaints[class], text+"\n      "+c.again(world))
	}
	if err != nil {
		complain(classBroken, err.Error())
	}
	if s == nil {
		return
	}
	for _, answer := range s.unknown {
		switch {
		case c.faults != 0:
		case answer.refusal && isFormless(world):
			sum.formless++
		default:
			complain(classNotTaken, answer.text)
		}
	}
	sum.planted += s.plants.tried
	for _, text := range s.plants.wrong {
		complain(classPlanted, text)
	}
	words := wordsOf(s, orders)
	judge := newOracle(world, s.ledger, words)
	for _, word := range words {
		sum.add(word, judge.judge(word), complain)
	}
	for _, found := range judge.ledger() {
		complain(found.class, found.text)
	}
	if c.verbose {
		_, _ = io.WriteString(w, world.String()+"\n"+details(s, orders)) // the report after it tells whether w can be written to
	}
}

// tell runs the story to its end, and returns what the merchant's table says then.
func tell(ctx context.Context, c config, world sandbox.World) (*service, []*order, error) {
	s, err := open(ctx, c, &world)
	if err != nil {
		return nil, nil, err
	}
	defer s.box.Close()
	table, err := s.fill()
	if err != nil {
		return nil, nil, err
	}
	broken := rounds(ctx, s, table, c.workers, newMerchant(s, table).work)
	orders, err := table.all()
	if err != nil {
		return nil, nil, err
	}
	s.ledger = s.box.Ledger()
	if c.faults == 0 {
		broken = errors.Join(broken, s.plant(ctx, c, orders))
	}
	return s, orders, broken
}

// add counts one write.
func (sum *totals) add(word word, v verdict, complain func(class, text string)) {
	sum.writes++
	sum.ends[word.ended]++
	if v.held == "" {
		sum.musts++
	} else if word.ended == "held" {
		sum.held[v.held]++
	}
	class, text := v.complaint(word)
	switch {
	case class == "":
	case v.apart != "":
		sum.apart[v.apart]++
	default:
		complain(class, text)
	}
}

func (sum *totals) err() error {
	n := 0
	for _, list := range sum.complaints {
		n += len(list)
	}
	switch {
	case n > 0:
		return fmt.Errorf("%d complaints of the oracle", n)
	case sum.musts*100 < sum.writes*95:
		return fmt.Errorf("only %d of %d writes must settle: the run shows little", sum.musts, sum.writes)
	}
	return nil
}

// again is the command that runs one world again.
func (c config) again(world sandbox.World) string {
	return fmt.Sprintf("go run ./chaos -payments %d -seed %d -faults %g -resend=%t -world '%s'", c.payments, c.seed, c.faults, c.resend, world)
}

func (sum *totals) report(c config, took time.Duration) string {
	w := new(strings.Builder)
	fmt.Fprintf(w, "%d worlds with %d orders each, seed %d, re-sending %t\n", sum.worlds, c.payments, c.seed, c.resend)
	fmt.Fprintf(w, "%d writes, of which %d must settle (%.1f %%). They ended\n", sum.writes, sum.musts, 100*float64(sum.musts)/float64(max(sum.writes, 1)))
	counted(w, sum.ends)
	if c.faults == 0 {
		fmt.Fprintf(w, "%d planted answers, of %d kinds\n", sum.planted, len(everyPlant()))
		fmt.Fprintf(w, "%d refusals in another form than the service's words, which are looked up\n", sum.formless)
	}
	fmt.Fprintln(w, "Held, where nobody can know better:")
	counted(w, sum.held)
	fmt.Fprintln(w, "Gone wrong by a risk that the merchant has taken:")
	counted(w, sum.apart)
	fmt.Fprintln(w, "Never, in no world:")
	for _, class := range classes() {
		fmt.Fprintf(w, "  %-68s %8d\n", class, len(sum.complaints[class]))
		list(w, sum.complaints[class])
	}
	fmt.Fprintf(w, "Took %.1f s.\n", took.Seconds())
	return w.String()
}

func counted(w *strings.Builder, counts map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(w, "  %-68s %8d\n", name, counts[name])
	}
}

// details are what could not be read in a world, and what is held.
func details(s *service, orders []*order) string {
	w := new(strings.Builder)
	fmt.Fprintf(w, "  %d requests\n", s.attempts.Load())
	counts := make(map[string]int)
	for _, answer := range s.unknown {
		counts[answer.text]++
	}
	counted(w, counts)
	for _, o := range orders {
		for _, t := range o.Tries {
			if row, err := json.Marshal(t); err == nil && (t.Ended == "" || t.Ended == endEscalated || t.Ended == endTwice) {
				fmt.Fprintf(w, "  %s %s\n", o.ID, row)
			}
		}
	}
	return w.String()
}

// wordsOf brings the merchant's table into the oracle's words.
func wordsOf(s *service, orders []*order) (words []word) {
	formless := s.formless()
	said := map[ending]string{
		endDone: "done", endDeclined: "declined", endRefused: "nothing", endAbsent: "absent", endTwice: "twice", endEscalated: "held", "": "held",
	}
	for _, o := range orders {
		for _, t := range o.Tries {
			_, lost := s.crashed.Load(t.Intent.IdempotencyKey)
			if met, faulty := s.faulty.Load(t.Intent.IdempotencyKey); faulty {
				lost = lost || met != 0
			}
			lost = lost || formless[t.Intent.IdempotencyKey]
			w := word{
				order: o.ID, kind: string(t.Kind), key: t.Intent.IdempotencyKey, amount: t.Amount.String(),
				ended: said[t.Ended], receipt: t.Receipt, lost: lost, original: o.Receipt,
			}
			if t.Kind == kindPayment {
				w.reference, w.original = o.Reference, ""
			}
			words = append(words, w)
		}
	}
	return words
}
