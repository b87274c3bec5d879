package console

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// glance is what is for a person now, and what each page counts.
type glance struct {
	Health  durable.Health
	Charged []durable.Write // twice, and neither payment is refunded
	Done    []durable.Write // refunds and others that were done twice
	Person  []durable.Write // whose outcome a person finds out
	Unknown []durable.Write // that are looked up by themselves
	Refused []durable.Write // by the shop's program
	Unsent  []durable.Write // that could not be sent, and are tried again
	Held    []durable.Notification

	Silent time.Time // since when look-ups have failed; zero if the last one was answered
	Work   work
	Now    bool // for the first page, which says so if all is well
}

// mostOpen is how many of each kind a glance has.
const mostOpen = 1000

// Waiting is how much is for a person: what the first page lists. A held notification is tried again by itself for an hour.
func (g glance) Waiting() int {
	waiting := len(g.Charged) + len(g.Done) + len(g.Person) + len(g.Refused)
	for _, n := range g.Held {
		if g.Health.At.Sub(n.Received) > time.Hour {
			waiting++
		}
	}
	return waiting
}

// Since is how long ago something was.
func (g glance) Since(t time.Time) string { return span(g.Health.At.Sub(t)) }

func (c *console[TTx]) glance(ctx context.Context) (g glance, err error) {
	if g.Health, err = c.engine.Health(ctx); err != nil {
		return g, err
	}
	g.Health.DatabaseAhead = g.Health.At.Sub(c.opts.Now()).Round(time.Millisecond)
	var person []durable.Write
	for into, f := range map[*[]durable.Write]durable.Filter{
		&person:    {States: []durable.State{durable.StateNeedsPerson}, Limit: mostOpen},
		&g.Unknown: {States: []durable.State{durable.StateUnknown}, Limit: mostOpen},
		&g.Unsent:  {States: []durable.State{durable.StateQueued}, Limit: mostOpen},
		&g.Refused: {Refused: true, Limit: mostOpen},
	} {
		found, err := c.engine.List(ctx, f)
		if err != nil {
			return g, err
		}
		*into = found.Writes
	}
	g.Refused = slices.DeleteFunc(g.Refused, func(w durable.Write) bool { return w.Failures == 0 })            // it was not told yet
	g.Unsent = slices.DeleteFunc(g.Unsent, func(w durable.Write) bool { return w.Failures == 0 || !takes(w) }) // a refund waits for its day
	for _, w := range person {
		switch {
		case isTwice(w):
			both, err := c.both(ctx, w.Order)
			if err != nil {
				return g, err
			}
			if len(both) > 0 {
				g.Charged = append(g.Charged, w)
			}
		case w.Reason == durable.ReasonDoubleCharged:
			g.Done = append(g.Done, w)
		case w.ReplacedBy == "":
			g.Person = append(g.Person, w)
		}
	}
	c.mu.Lock()
	g.Work = c.work
	c.mu.Unlock()
	g.Silent = silent(slices.Concat(g.Unknown, g.Person))
	g.Held, err = c.engine.Notifications(ctx, mostOpen)
	g.Held = slices.DeleteFunc(g.Held, func(n durable.Notification) bool { return n.Failures == 0 })
	return g, err
}

// silent is since when all look-ups have failed; zero if the last one was answered, or there was none.
func silent(writes []durable.Write) (since time.Time) {
	var answered time.Time
	for _, w := range writes {
		if w.LookedUp.After(answered) {
			answered = w.LookedUp
		}
	}
	for _, w := range writes {
		if lastLook(w).Last.After(answered) && !w.Case.Failing.IsZero() && (since.IsZero() || w.Case.Failing.Before(since)) {
			since = w.Case.Failing
		}
	}
	return since
}

// Oldest is the oldest that could not be sent.
func (g glance) Oldest() (oldest durable.Write) {
	if len(g.Unsent) > 0 {
		oldest = g.Unsent[len(g.Unsent)-1]
	}
	return oldest
}

func (c *console[TTx]) first(q request, notice string) {
	g, err := c.glance(q.Context())
	if err != nil {
		c.fail(q, err)
		return
	}
	g.Now = true
	c.show(q, page{Name: "now", Title: "Now", Notice: notice, Address: "./", Glance: &g, Content: g})
}

// deed is what was done, and the payment that it was about.
type deed struct {
	durable.Event

	Of durable.Write
}

// service is the page of the installation.
type service struct {
	glance

	Ready     string
	Deeds     []deed
	Yesterday string
}

// mostDeeds is how many deeds are shown.
const mostDeeds = 100

func (c *console[TTx]) installation(q request, notice string) {
	g, err := c.glance(q.Context())
	events, failed := c.engine.EventsBy(q.Context(), "")
	if err := errors.Join(err, failed); err != nil {
		c.fail(q, err)
		return
	}
	content := service{glance: g, Yesterday: g.Health.At.In(c.sydney).AddDate(0, 0, -1).Format("2/1/2006")}
	for _, event := range events[:min(len(events), mostDeeds)] {
		d := deed{Event: event}
		if event.WriteID != "" {
			if d.Of, err = c.engine.Get(q.Context(), event.WriteID); err != nil && !errors.Is(err, durable.ErrNoWrite) {
				c.fail(q, err)
				return
			}
		}
		content.Deeds = append(content.Deeds, d)
	}
	if err := c.engine.Ready(q.Context()); err != nil {
		content.Ready = strings.TrimPrefix(err.Error(), "durable: ")
	}
	c.show(q, page{Name: "installation", Title: "Installation", Notice: notice, Address: "installation", Glance: &g, Content: content})
}

// compare compares a day with the service, meanwhile and from now on.
func (c *console[TTx]) compare(q request) error {
	day, _, err := c.when(q.field("day"))
	if err != nil {
		return err
	}
	return c.start("Comparison of "+day.Format("2/1/2006"), q.person.Name, 1, func(ctx context.Context, _ int) error {
		return c.engine.CompareNow(ctx, quickstream.DateOf(day))
	})
}
