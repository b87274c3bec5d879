package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// mostListed bounds what is listed one by one.
const mostListed = 20

func (f *findings) report(c config, s *service, took time.Duration) string {
	w := new(strings.Builder)
	var (
		statuses = make(map[status]int)
		hows     = make(map[how]int)
		tries    int
		unknown  int // outcomes, when the calls had ended
		crashes  int
	)
	for _, o := range f.orders {
		statuses[o.Status]++
		for _, t := range o.Tries {
			tries++
			hows[t.How]++
			if t.State != nil {
				unknown++
			}
			if t.Restarted {
				crashes++
			}
		}
	}
	faults, kinds := 0, s.box.FaultCounts()
	for _, n := range kinds {
		faults += n
	}

	fmt.Fprintf(w, "%d orders, seed %d\n", c.payments, c.seed)
	for _, st := range []status{statusPaid, statusUnpaid, statusEscalated, statusOpen} {
		fmt.Fprintf(w, "  %-48s %8d\n", st, statuses[st])
	}
	if tries > 0 {
		fmt.Fprintf(w, "\n%d payments tried for them, by %d requests in all.\n", tries, s.attempts.Load())
		fmt.Fprintf(w, "%d outcomes were unknown at first; in %d cases the worker crashed. The outcome was\n", unknown, crashes)
		for _, h := range []how{howAnswered, howResent, howByReference, howByReceipt, howLater, howRetried, howAbsent, howEscalated} {
			fmt.Fprintf(w, "  %-48s %8d%s\n", h, hows[h], map[how]string{howAbsent: "   and the order was paid again"}[h])
		}
	}
	fmt.Fprintf(w, "\n%d faults", faults)
	if requests := s.attempts.Load(); tries > 0 && requests > 0 {
		fmt.Fprintf(w, ", at %d %% of the requests", 100*int64(faults)/requests)
	}
	fmt.Fprintln(w)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(w, "  %-48s %8d\n", kind, kinds[kind])
	}

	fmt.Fprintf(w, "\nLedger: %d transactions; %d of %d orders that could be paid were paid.\n", len(f.ledger), f.paid, f.payable)
	fmt.Fprintf(w, "Double charges: %d\n", len(f.double))
	list(w, f.double)
	fmt.Fprintf(w, "Other findings: %d\n", len(f.problems))
	list(w, f.problems)
	fmt.Fprintf(w, "Took %.1f s.\n", took.Seconds())
	return w.String()
}

func list(w *strings.Builder, lines []string) {
	slices.Sort(lines)
	for _, line := range lines[:min(len(lines), mostListed)] {
		fmt.Fprintf(w, "  %s\n", line)
	}
	if more := len(lines) - mostListed; more > 0 {
		fmt.Fprintf(w, "  and %d more\n", more)
	}
}
