package console

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/resolve"
)

// glance is what needs a person now, and what each page counts.
type glance struct {
	Health  durable.Health
	Charged []durable.Write // twice, and neither payment is refunded
	Done    []durable.Write // refunds and others that were done twice
	Person  []durable.Write // whose outcome a person has to find out
	Unknown []durable.Write // that the engine looks up
	Refused []durable.Write // by the shop's program
	Unsent  []durable.Write // that could not be sent, and are tried again: the oldest first
	Held    []durable.Notification

	Failed   time.Time // when the last look-up failed; zero if it was answered
	Back     time.Time // when a payment was answered since
	Answered time.Time // when a payment was answered last, if some could not be sent
	Work     work
	Now      bool // it is for the first page, which says if all is well
}

// mostOpen is how many writes of each kind a glance has at most.
const mostOpen = 1000

// Waiting returns how many entries need a person: those that the first page lists.
func (g glance) Waiting() int {
	return len(g.Charged) + len(g.Done) + len(g.Person) + len(g.Refused) + len(g.Held)
}

// Silent reports whether the last look-up failed, and nothing was answered since.
func (g glance) Silent() bool { return !g.Failed.IsZero() && g.Back.IsZero() }

// CutOff reports whether nothing reaches the service: a payment that was never sent has failed twice, or none was answered
// since the last one that could not be sent was written, or refused for now.
func (g glance) CutOff() bool {
	never := func(w durable.Write) bool { return w.Sends == 0 && w.Failures > 1 }
	return slices.ContainsFunc(g.Unsent, never) || len(g.Unsent) > 0 && latest(g.Unsent, func(w durable.Write) time.Time { return w.Changed }).After(g.Answered)
}

// Next returns how soon the engine looks up the first write of unknown outcome; empty if it looks up none.
func (g glance) Next() string {
	due := slices.DeleteFunc(slices.Concat(g.Unknown, g.Person), func(w durable.Write) bool { return w.Due.IsZero() })
	if len(due) == 0 {
		return ""
	}
	first := slices.MinFunc(due, func(x, y durable.Write) int { return x.Due.Compare(y.Due) })
	return span(max(0, first.Due.Sub(g.Health.At)))
}

// Since returns how long ago a time was.
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
		&g.Refused: {Unnotified: true, Limit: mostOpen},
	} {
		found, err := c.engine.List(ctx, f)
		if err != nil {
			return g, err
		}
		*into = found.Writes
	}
	g.Refused = slices.DeleteFunc(g.Refused, func(w durable.Write) bool { return w.Failures == 0 })            // OnOutcome was not called yet
	g.Unsent = slices.DeleteFunc(g.Unsent, func(w durable.Write) bool { return w.Failures == 0 || !takes(w) }) // a refund waits for its day
	slices.Reverse(g.Unsent)
	for _, w := range c.settled(ctx, person) {
		switch {
		case isTwice(w):
			g.Charged = append(g.Charged, w)
		case w.Reason == durable.ReasonDoubleCharged:
			g.Done = append(g.Done, w)
		case w.State == durable.StateNeedsPerson && !w.MayPayAgain(): // not_found and paid again is over
			g.Person = append(g.Person, w)
		}
	}
	c.mu.Lock()
	g.Work = c.work
	g.Work.Came = maps.Clone(c.work.Came)
	c.mu.Unlock()
	if err := c.answers(ctx, &g); err != nil {
		return g, err
	}
	g.Held, err = c.engine.Notifications(ctx, mostOpen)
	g.Held = slices.DeleteFunc(g.Held, func(n durable.Notification) bool { return n.Failures == 0 })
	return g, err
}

// answers fills in when the last look-up failed, and when a payment was answered.
func (c *console[TTx]) answers(ctx context.Context, g *glance) error {
	open := slices.Concat(g.Unknown, g.Person)
	g.Failed = latest(open, func(w durable.Write) (at time.Time) {
		if look := lastLook(w); look.Result == resolve.LookupFailed {
			at = look.Last
		}
		return at
	})
	if !g.Failed.After(latest(open, func(w durable.Write) time.Time { return w.LookedUp })) {
		g.Failed = time.Time{}
	}
	if g.Failed.IsZero() && len(g.Unsent) == 0 {
		return nil
	}
	ended, err := c.engine.List(ctx, durable.Filter{States: []durable.State{durable.StateApproved, durable.StateDeclined}, Limit: mostFound})
	g.Answered = latest(ended.Writes, func(w durable.Write) time.Time { return w.Changed })
	g.Back = latest(ended.Writes, func(w durable.Write) (at time.Time) {
		if w.LookedUp.After(g.Failed) || w.Written.After(g.Failed) {
			at = w.Changed
		}
		return at
	})
	return err
}

// latest returns the latest time of writes.
func latest(writes []durable.Write, at func(durable.Write) time.Time) (last time.Time) {
	for _, w := range writes {
		if t := at(w); t.After(last) {
			last = t
		}
	}
	return last
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

// deed is an event, and the payment that it is about.
type deed struct {
	durable.Event

	Of durable.Write
}

// service is the page of the installation.
type service struct {
	glance

	Deeds     []deed
	Yesterday string
}

func (c *console[TTx]) installation(q request, notice string) {
	g, err := c.glance(q.Context())
	events, failed := c.engine.EventsBy(q.Context(), "")
	if err := errors.Join(err, failed); err != nil {
		c.fail(q, err)
		return
	}
	content := service{glance: g, Yesterday: g.Health.At.In(c.sydney).AddDate(0, 0, -1).Format("2/1/2006")}
	for _, event := range events[:min(len(events), mostFound)] {
		d := deed{Event: event}
		if event.WriteID != "" {
			if d.Of, err = c.engine.Get(q.Context(), event.WriteID); err != nil && !errors.Is(err, durable.ErrNoWrite) {
				c.fail(q, err)
				return
			}
		}
		content.Deeds = append(content.Deeds, d)
	}
	c.show(q, page{Name: "installation", Title: "Installation", Notice: notice, Address: "installation", Glance: &g, Content: content})
}

// compare starts the comparison of a day with the service, and does not wait for it.
func (c *console[TTx]) compare(q request) error {
	day, _, err := c.when(q.field("day"))
	if err != nil {
		return err
	}
	return c.start("Comparison of "+day.Format("2/1/2006"), q.person.Name, 1, func(ctx context.Context, _ int) error {
		return c.engine.CompareNow(ctx, quickstream.DateOf(day))
	})
}
