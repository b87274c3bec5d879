package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// glance is what is for a person now, and what each page counts.
type glance struct {
	Health  durable.Health
	Charged []row // twice, and neither payment is refunded
	Done    []row // refunds and others that were done twice
	Person  []row // whose outcome a person finds out
	Unknown []row // that are looked up by themselves
	Refused []row // by the shop's program
	Unsent  []row // that could not be sent, and are tried again
	Held    []durable.Notification

	Silent time.Time // since when look-ups have failed; zero if the last one was answered
}

// mostOpen is how many of each kind a glance has.
const mostOpen = 1000

// Waiting is how much is for a person: what the first page lists. A held notification is tried again by itself for an hour.
func (g glance) Waiting() int {
	held := 0
	for _, n := range g.Held {
		if g.Health.At.Sub(n.Received) > time.Hour {
			held++
		}
	}
	return len(g.Charged) + len(g.Done) + len(g.Person) + len(g.Refused) + held
}

func (c *console[TTx]) glance(ctx context.Context) (g glance, err error) {
	if g.Health, err = c.engine.Health(ctx); err != nil {
		return g, err
	}
	var person []row
	for rows, f := range map[*[]row]durable.Filter{
		&person:    {States: []durable.State{durable.StateNeedsPerson}, Limit: mostOpen},
		&g.Unknown: {States: []durable.State{durable.StateUnknown}, Limit: mostOpen},
		&g.Unsent:  {States: []durable.State{durable.StateQueued}, Limit: mostOpen},
		&g.Refused: {Refused: true, Limit: mostOpen},
	} {
		found, err := c.engine.List(ctx, f)
		if err != nil {
			return g, err
		}
		*rows = rowsOf(found.Writes)
	}
	g.Refused = slices.DeleteFunc(g.Refused, func(r row) bool { return r.Failures == 0 })                  // it was not told yet
	g.Unsent = slices.DeleteFunc(g.Unsent, func(r row) bool { return r.Failures == 0 || !takes(r.Write) }) // a refund waits for its day
	for _, r := range person {
		twice := r.Reason == durable.ReasonDoubleCharged
		switch {
		case twice && takes(r.Write):
			both, err := c.both(ctx, r.Order)
			if err != nil {
				return g, err
			}
			if len(both) > 0 {
				g.Charged = append(g.Charged, r)
			}
		case twice:
			g.Done = append(g.Done, r)
		case r.ReplacedBy == "":
			g.Person = append(g.Person, r)
		}
	}
	if g.Health.Held > 0 {
		if g.Held, err = c.engine.Notifications(ctx, mostOpen); err != nil {
			return g, err
		}
		g.Held = slices.DeleteFunc(g.Held, func(n durable.Notification) bool { return n.Failures == 0 })
	}
	g.Silent = silent(slices.Concat(g.Unknown, g.Person))
	return g, nil
}

// silent is since when all look-ups have failed; zero if the last one was answered, or there was none.
func silent(rows []row) (since time.Time) {
	var answered time.Time
	for _, r := range rows {
		if r.LookedUp.After(answered) {
			answered = r.LookedUp
		}
	}
	for _, r := range rows {
		looked := evidence(r.Write)
		if len(looked) == 0 || !looked[len(looked)-1].Last.After(answered) {
			continue
		}
		if failing := r.Case.Failing; !failing.IsZero() && (since.IsZero() || failing.Before(since)) {
			since = failing
		}
	}
	return since
}

// alarm is something that a person should know. Technical is the error, for developers.
type alarm struct{ Title, Text, Technical string }

// Alarms are what is not as it should be.
func (g glance) Alarms() (list []alarm) {
	h := g.Health
	add := func(is bool, title, technical, format string, args ...any) {
		if is {
			list = append(list, alarm{title, fmt.Sprintf(format, args...), technical})
		}
	}
	since := func(t time.Time) string { return span(g.Health.At.Sub(t)) }
	paused := !h.Paused.IsZero()
	add(!g.Silent.IsZero(), "The service does not answer", "", "Look-ups have failed for %s. They are made again by themselves.", since(g.Silent))
	add(paused && h.PausedBy == "", "Nothing is sent", h.PausedFor, "The service has not taken payments for %s. It is tried again by itself. New payments wait.", since(h.Paused))
	add(!paused && len(g.Unsent) > 0, "The service cannot be reached", g.unsent().Problem,
		"%s could not be sent, the oldest written %s ago. Nothing was taken. They are tried again by themselves.", count(len(g.Unsent), "payment"), since(g.unsent().Written))
	add(paused && h.PausedBy != "", "Paused", "", "%s has paused the installation, %s ago: %s. Nothing is sent until a person goes on.", h.PausedBy, since(h.Paused), h.PausedFor)
	add(h.Unknown > 0 && h.UnknownFor > 2*time.Minute, "Outcome unknown", "",
		"%s, the oldest for %s. Do not take the money another way, and do not refund it. They are looked up by themselves.", count(h.Unknown, "payment"), span(h.UnknownFor))
	add(h.Facility != nil, "Another facility", fmt.Sprint(h.Facility), "The database belongs to another installation or facility: nothing is sent.")
	add(h.MaybeCopy, "Perhaps a copy", "", "The database may be a copy of one that is in use. What was queued waits until a person says that it is none.")
	add(!h.Restoring.IsZero() && h.Unreadable != "", "Restoring", h.Unreadable, "Nothing is sent, because a list of the service cannot be read, since %s.", since(h.Restoring))
	add(!h.Restoring.IsZero() && h.Unreadable == "", "Restoring", "", "Payments that the database lacks are being read from the service, since %s. %s", since(h.Restoring),
		map[bool]string{true: "New payments are sent.", false: "Nothing is sent until they were read once."}[h.Read])
	add(h.Overdue > 2*time.Minute, "Late", "", "What is due has waited for %s.", span(h.Overdue))
	add(!h.Comparison.FailingSince.IsZero(), "The comparison fails", h.Comparison.Problem,
		"The service's list of what it has settled could not be read for %s. Payments go on. Compare now when the service answers.", since(h.Comparison.FailingSince))
	add(h.DatabaseAhead.Abs() > 2*time.Minute || h.ServiceAhead.Abs() > 2*time.Minute, "Clocks apart", "",
		"The database's clock is %s, and the service's is %s. Tell whoever runs the machine: times on these pages may be wrong.",
		ahead(h.DatabaseAhead, "this machine's"), ahead(h.ServiceAhead, "the database's"))
	return list
}

// unsent is the oldest that could not be sent.
func (g glance) unsent() row {
	if len(g.Unsent) == 0 {
		return row{}
	}
	return g.Unsent[len(g.Unsent)-1]
}

// Service says whether the service answers.
func (g glance) Service() string {
	h := g.Health
	switch {
	case !g.Silent.IsZero():
		return "does not answer, for " + span(h.At.Sub(g.Silent))
	case !h.Paused.IsZero() && h.PausedBy == "":
		return "does not take payments, for " + span(h.At.Sub(h.Paused))
	case len(g.Unsent) > 0:
		return "cannot be reached"
	case h.ServiceAt.IsZero():
		return "not asked yet"
	default:
		return "answers"
	}
}

// Sending says whether payments are sent.
func (g glance) Sending() string {
	h := g.Health
	switch {
	case !h.Paused.IsZero() && h.PausedBy != "":
		return "no, paused by " + h.PausedBy + ": " + h.PausedFor
	case !h.Paused.IsZero():
		return "no, they wait for the service"
	case h.Facility != nil, h.MaybeCopy, !h.Restoring.IsZero() && !h.Read:
		return "no, see below"
	case len(g.Unsent) > 0:
		return "no, they are tried again"
	case !g.Silent.IsZero():
		return "yes, without an answer"
	default:
		return "yes"
	}
}

// people is the first page.
type people struct {
	glance

	Work work
}

func (c *console[TTx]) first(q request, notice string) {
	g, err := c.glance(q.Context())
	if err != nil {
		c.fail(q, err)
		return
	}
	c.show(q, page{Name: "now", Title: "Now", Notice: notice, Address: "./", Glance: &g, Content: people{g, c.working.now()}})
}

// deed is what was done, and the payment that it was about.
type deed struct {
	durable.Event

	Row row
}

// service is the page of the installation.
type service struct {
	glance

	Work      work
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
	content := service{glance: g, Work: c.working.now(), Yesterday: g.Health.At.In(c.sydney).AddDate(0, 0, -1).Format("2/1/2006")}
	for _, event := range events[:min(len(events), mostDeeds)] {
		d := deed{Event: event}
		if event.WriteID != "" {
			w, err := c.engine.Get(q.Context(), event.WriteID)
			if err != nil && !errors.Is(err, durable.ErrNoWrite) {
				c.fail(q, err)
				return
			}
			d.Row = rowOf(w)
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
	day, _, ok := c.when(q.field("day"))
	if !ok {
		return errForm("A day is written as 25/11/2026.")
	}
	return c.start("Comparison of "+day.Format("2/1/2006"), q.person.Name, 1, func(ctx context.Context, _ int) error {
		return c.engine.CompareNow(ctx, quickstream.DateOf(day))
	})
}
