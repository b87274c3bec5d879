package console

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/durable"
)

// glance is what each page shows of all payments. It is read at most every two seconds.
type glance struct {
	Health  durable.Health
	Charged []row // twice, and neither payment is refunded; or refunds and others that were done twice
	mark    string
	at      time.Time // by this machine
}

// glanceFor is how long a glance is shown.
const glanceFor = 2 * time.Second

// now is the installation's time.
func (g glance) now() time.Time { return g.Health.At.Add(time.Since(g.at)) }

// Waiting is how much is for a person.
func (g glance) Waiting() int {
	h := g.Health
	return g.open() + len(g.Charged) + h.Refused + h.Held + len(g.Alarms())
}

func (c *console[TTx]) glance(ctx context.Context) (g glance, err error) {
	c.glancing.Lock()
	defer c.glancing.Unlock()
	if !c.glanced.at.IsZero() && time.Since(c.glanced.at) < glanceFor {
		return c.glanced, nil
	}
	g.at = time.Now()
	if g.Health, err = c.engine.Health(ctx); err != nil {
		return g, err
	}
	if g.Charged, err = c.charged(ctx, g.Health); err != nil {
		return g, err
	}
	newest, err := c.engine.List(ctx, durable.Filter{})
	if err != nil {
		return g, err
	}
	h := g.Health // without what changes by itself
	h.At, h.UnknownFor, h.Overdue, h.HookWaits, h.DatabaseAhead, h.ServiceAhead, h.ServiceAt = time.Time{}, 0, 0, 0, 0, 0, time.Time{}
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%+v %d", h, len(g.Charged))
	for _, w := range newest.Writes {
		_, _ = fmt.Fprintf(sum, " %s %d", w.ID, w.Version)
	}
	g.mark = fmt.Sprintf("%x", sum.Sum(nil))
	c.glanced = g
	return g, nil
}

// forget has the next page read all anew.
func (c *console[TTx]) forget() {
	c.glancing.Lock()
	defer c.glancing.Unlock()
	c.glanced = glance{}
}

// charged are the newest payments that were charged twice, as long as none was refunded, and the newest refunds and others
// that were done twice.
func (c *console[TTx]) charged(ctx context.Context, h durable.Health) (open []row, err error) {
	if h.NeedPerson[durable.ReasonDoubleCharged] == 0 {
		return nil, nil
	}
	page, err := c.engine.List(ctx, durable.Filter{States: []durable.State{durable.StateNeedsPerson}, Reasons: []durable.Reason{durable.ReasonDoubleCharged}})
	if err != nil {
		return nil, err
	}
	for _, w := range page.Writes {
		mended := false
		if takes(w) {
			all, err := c.engine.Writes(ctx, w.Order)
			if err != nil {
				return nil, err
			}
			if mended, err = c.mended(ctx, all); err != nil {
				return nil, err
			}
		}
		if !mended {
			open = append(open, rowOf(w))
		}
	}
	return open, nil
}

// mended reports whether so much of what an order was charged was refunded that one payment is left at most.
func (c *console[TTx]) mended(ctx context.Context, all []durable.Write) (bool, error) {
	refunded, left := 0, 0
	for _, w := range all {
		if back := w.State == durable.StateVoided || w.State == durable.StateReturned; !w.IsPayment() || !w.Approved() && !back {
			continue
		}
		d, err := c.engine.Details(ctx, w.ID)
		switch {
		case err != nil:
			return false, err
		case d.Left.IsPositive():
			left++
		default:
			refunded++
		}
	}
	return refunded > 0 && left <= 1, nil
}

// open is how many writes need a person and were not charged twice.
func (g glance) open() int {
	return g.Health.Writes[durable.StateNeedsPerson] - g.Health.NeedPerson[durable.ReasonDoubleCharged]
}

// restored says how far the restoring has come.
func restored(h durable.Health) string {
	switch {
	case h.Unreadable != "":
		return "Nothing is sent, because a list cannot be read: " + h.Unreadable
	case !h.Read:
		return "Nothing is sent until they were read once."
	default:
		return "New payments are sent."
	}
}

// alarm is something about the installation that a person should know.
type alarm struct{ Title, Text string }

// Alarms are what is not as it should be.
func (g glance) Alarms() (list []alarm) {
	h := g.Health
	add := func(is bool, title, format string, args ...any) {
		if is {
			list = append(list, alarm{title, fmt.Sprintf(format, args...)})
		}
	}
	since := func(t time.Time) string { return span(g.now().Sub(t)) }
	add(!h.Paused.IsZero() && h.PausedBy != "", "Paused", "%s has paused the installation, %s ago. Nothing is sent until a person goes on.", h.PausedBy, since(h.Paused))
	add(!h.Paused.IsZero() && h.PausedBy == "", "Nothing is sent", "The service, or what stands in front of it, does not take requests, since %s: %s. It is tried again by itself.", since(h.Paused), h.PausedFor)
	add(h.Overdue > 2*time.Minute, "Late", "What is due has waited for %s.", span(h.Overdue))
	add(h.Facility != nil, "Another facility", "The database belongs to another installation or facility: nothing is sent.")
	add(h.MaybeCopy, "Perhaps a copy", "The database may be a copy of one that is in use. What was queued waits until a person says that it is none.")
	add(!h.Restoring.IsZero(), "Restoring", "Payments that the database lacks are being read from the service, since %s. %s", since(h.Restoring), restored(h))
	add(!h.Comparison.FailingSince.IsZero(), "The comparison fails", "The comparison with the service has failed for %s: %s", since(h.Comparison.FailingSince), h.Comparison.Problem)
	add(h.Unknown > 50, "Many unknown", "The outcome of %d payments is unknown at once. They are looked up by themselves: decide none of them now.", h.Unknown)
	known := g.open() > 0 // which Waiting counts
	add(h.UnknownFor > 6*time.Hour && !known, "Unknown for long", "The outcome of a payment has been unknown for %s.", span(h.UnknownFor))
	add(h.DatabaseAhead.Abs() > 2*time.Minute || h.ServiceAhead.Abs() > 2*time.Minute, "Clocks apart", "The database's clock is %s, and the service's is %s.", ahead(h.DatabaseAhead, "this machine's"), ahead(h.ServiceAhead, "the installation's time"))
	return list
}

// people is what needs a person.
type people struct {
	Charged, Done, Unknown, Refused []row // Charged and Done are twice
	Held                            []durable.Notification
	Alarms                          []alarm
	More                            bool
}

func (c *console[TTx]) attention(q request, notice string) {
	content := people{}
	g, err := c.glance(q.Context())
	content.Alarms = g.Alarms()
	for _, r := range g.Charged {
		if takes(r.Record) {
			content.Charged = append(content.Charged, r)
		} else {
			content.Done = append(content.Done, r)
		}
	}
	for rows, f := range map[*[]row]durable.Filter{
		&content.Unknown: {States: []durable.State{durable.StateNeedsPerson}}, &content.Refused: {Refused: true},
	} {
		found, failed := c.engine.List(q.Context(), f)
		*rows, content.More, err = rowsOf(found.Writes), content.More || found.Next != "", errors.Join(err, failed)
	}
	content.Unknown = slices.DeleteFunc(content.Unknown, func(r row) bool { return r.Reason == durable.ReasonDoubleCharged || r.ReplacedBy != "" })
	content.Refused = slices.DeleteFunc(content.Refused, func(r row) bool { return r.Failures == 0 }) // it was not told yet
	for next, more := durable.Cursor(""), true; more && err == nil && len(content.Held) < mostFound; more = next != "" {
		var waiting []durable.Notification
		waiting, next, err = c.engine.Notifications(q.Context(), next, 1000)
		content.Held = append(content.Held, slices.DeleteFunc(waiting, func(n durable.Notification) bool { return n.Failures == 0 })...)
	}
	if err != nil {
		c.fail(q, err)
		return
	}
	c.show(q, page{Name: "attention", Title: "For a person", Notice: notice, Address: "attention", Content: content})
}

// service is the page of the installation.
type service struct {
	Health  durable.Health
	Alarms  []alarm
	Waiting int
	Ready   string
	History []entry
}

func (c *console[TTx]) installation(q request, notice string) {
	g, err := c.glance(q.Context())
	events, failed := c.engine.Events(q.Context(), "")
	if err := errors.Join(err, failed); err != nil {
		c.fail(q, err)
		return
	}
	content := service{Health: g.Health, Alarms: g.Alarms(), Waiting: g.Waiting(), History: entries(Record{}, events)}
	if err := c.engine.Ready(q.Context()); err != nil {
		content.Ready = strings.TrimPrefix(err.Error(), "durable: ")
	}
	slices.Reverse(content.History)
	content.History = content.History[:min(len(content.History), 100)]
	c.show(q, page{Name: "installation", Title: "Installation", Notice: notice, Address: "installation", Content: content})
}
