package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/quickstream-go/quickstream/bench/report"
)

// check is something that has to hold.
type check struct {
	what, found, want string
	holds             bool
}

// outcome is what came of a trial.
type outcome struct {
	settings
	book    *book
	samples []memory
	peak    int64 // bytes; 0 where the system does not tell

	handled  int // notifications
	repeated int // of them, handled more than once
	settled  int // answered with 200
	genuine  tally
	refused  tally
	missing  int // kinds of delivery that never came
}

func (s *sender) outcome() (*outcome, error) {
	b := s.book
	b.mu.Lock()
	defer b.mu.Unlock()
	o := &outcome{settings: s.settings, book: b, samples: s.gauge.samples}
	if len(o.samples) != points {
		return nil, fmt.Errorf("%d looks at the memory instead of %d", len(o.samples), points)
	}
	if peak, err := report.PeakRSS(); err == nil {
		o.peak = peak
	}
	for number, calls := range b.handled {
		if b.sent[number] == 0 {
			continue
		}
		if calls > 0 {
			o.handled++
		}
		if calls > 1 {
			o.repeated++
		}
		if b.known.has(number) {
			o.settled++
		}
	}
	for k := range b.tallies {
		sum := &o.genuine
		if kind(k) >= forged {
			sum = &o.refused
		}
		sum.add(&b.tallies[k])
		if b.tallies[k].sent == 0 {
			o.missing++
		}
	}
	return o, nil
}

func (t *tally) add(o *tally) {
	t.sent += o.sent
	t.right += o.right
	t.failed += o.failed
	t.lost += o.lost
	t.silent += o.silent
	t.wrong += o.wrong
	t.took.merge(&o.took)
}

// achieved is the rate of deliveries a second, until the last one had ended.
func (o *outcome) achieved() float64 { return float64(o.deliveries) / o.book.took.Seconds() }

func (o *outcome) checks() []check {
	c := &o.book.counts
	all := []check{
		equal("genuine notifications handled at least once", o.handled, c.genuine),
		equal("genuine notifications answered with 200", o.settled, c.genuine),
		equal("answered with 200 before they were handled", c.hollow, 0),
		equal("handled more than once", o.repeated, 0),
		equal("forged ones refused with the documented status", o.refused.right, o.refused.sent),
		equal("forged ones that reached the function", c.reached, 0),
		equal("genuine deliveries answered with neither 200 nor 500", o.genuine.wrong, 0),
		equal("deliveries without an answer, but on purpose", o.genuine.silent+o.refused.silent, 0),
		// The answers to what the sender did not wait for are not heard.
		between("answers of 500, one for each failure that was heard", o.genuine.failed, c.failed-o.genuine.lost, c.failed),
		equal("answers that say why, in a body", c.talkative, 0),
		equal("kinds of delivery that did not come", o.missing, 0),
	}
	if o.rate > 0 {
		least := 0.95 * float64(o.rate)
		all = append(all, check{
			"deliveries a second", fmt.Sprintf("%.1f", o.achieved()), fmt.Sprintf(">= %.1f", least), o.achieved() >= least,
		})
	}
	before, _ := quarter(o.samples, 1)
	after, _ := quarter(o.samples, 3)
	second, last := mega(before.live), mega(after.live)
	return append(all, check{
		"MB of live heap in the last quarter, at least", fmt.Sprintf("%.2f", last), fmt.Sprintf("<= %.2f + %.2f", second, o.margin), last <= second+o.margin,
	})
}

func equal(what string, found, want int) check {
	return check{what, fmt.Sprint(found), fmt.Sprint(want), found == want}
}

func between(what string, found, least, most int) check {
	return check{what, fmt.Sprint(found), fmt.Sprintf("%d to %d", least, most), least <= found && found <= most}
}

func mega(bytes uint64) float64 { return float64(bytes) / megabyte }

// print writes the tables and reports whether all holds.
func (o *outcome) print(out io.Writer) (bool, error) {
	text := new(strings.Builder)
	fmt.Fprintf(text, "%s %s/%s, %d processors, %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), time.Now().Format(time.DateOnly))
	fmt.Fprintf(text, "%d deliveries, %d a second over %d connections, seed %d, a function of %v, a store of %d ids\n\n",
		o.deliveries, o.rate, o.connections, o.seed, o.work, o.ids)
	o.printKinds(text)
	o.printMemory(text)
	c := &o.book.counts
	fmt.Fprintf(text, "%d notifications, %d of them out of order; %d calls of the function failed, by error or panic;\n",
		c.genuine, c.disorder, c.failed)
	fmt.Fprintf(text, "%d were handled more than once\n\n", o.repeated)

	holds := true
	fmt.Fprintln(text, "what\tfound\twanted\tholds")
	for _, c := range o.checks() {
		verdict := "yes"
		if !c.holds {
			verdict, holds = "NO", false
		}
		fmt.Fprintf(text, "%s\t%s\t%s\t%s\n", c.what, c.found, c.want, verdict)
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, err := io.WriteString(t, text.String())
	return holds, errors.Join(err, t.Flush())
}

func (o *outcome) printKinds(text *strings.Builder) {
	names := []string{"first time", "twice at once", "again after anything but 200", "duplicate after 200", "duplicate, forgotten by the store"}
	fmt.Fprintln(text, "delivery\tsent\twanted\tgot it\t500\tlost\tp50\tp99\tmax")
	row := func(name, want string, t *tally) {
		fmt.Fprintf(text, "%s\t%d\t%s\t%d\t%d\t%d\t%s\n", name, t.sent, want, t.right, t.failed, t.lost, times(&t.took))
	}
	for i, name := range names {
		want := "200"
		if kind(i) == latecomer {
			want = "401"
		}
		row(name, want, &o.book.tallies[i])
	}
	row("all genuine", "200", &o.genuine)
	for i, f := range o.book.all {
		row(f.name, fmt.Sprint(f.status), &o.book.tallies[int(forged)+i])
	}
	row("all forged", "", &o.refused)
	var all tally
	all.add(&o.genuine)
	all.add(&o.refused)
	fmt.Fprintf(text, "all\t%d\t\t%d\t%d\t%d\t%s\n", all.sent, all.right, all.failed, all.lost, times(&all.took))
	fmt.Fprintf(text, "all, since they were due\t\t\t\t\t\t%s\n\n", times(&o.book.due))
}

// times are three cells with times in milliseconds.
func times(h *histogram) string {
	ms := func(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond)) }
	return strings.Join([]string{ms(h.quantile(0.5)), ms(h.quantile(0.99)), ms(h.max)}, "\t")
}

func (o *outcome) printMemory(text *strings.Builder) {
	fmt.Fprintln(text, "memory after a collection\tlive heap, least\tmost\theap in use, least\tmost\tgoroutines, most")
	for q, name := range []string{"first quarter", "second quarter", "third quarter", "last quarter"} {
		least, most := quarter(o.samples, q)
		fmt.Fprintf(text, "%s\t%.2f MB\t%.2f MB\t%.2f MB\t%.2f MB\t%d\n",
			name, mega(least.live), mega(most.live), mega(least.inUse), mega(most.inUse), most.goroutines)
	}
	if o.peak > 0 {
		fmt.Fprintf(text, "peak RSS of the process, the sender included\t%.1f MB\n", float64(o.peak)/megabyte)
	}
	fmt.Fprintln(text)
}
