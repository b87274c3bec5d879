package console

import (
	"context"
	"errors"
	"time"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/resolve"
)

// work is a task that a person started and does not wait for. One process has one at a time.
type work struct {
	Title, By         string
	All, Made, Failed int
	Came              map[string]int // how many look-ups have found each state
	Technical         string         // the last error
	Running           bool
}

// pace is the pause between two steps, so that payments are not held up.
const pace = 50 * time.Millisecond

// start runs all steps in a goroutine, one after the other, until the console is closed.
func (c *console[TTx]) start(title, by string, all int, step func(ctx context.Context, i int) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.work.Running {
		return errForm(c.work.Title + ", by " + c.work.By + ", is not done yet.")
	}
	c.work = work{Title: title, By: by, All: all, Came: map[string]int{}, Running: true}
	go func() {
		for i := range all {
			err := step(c.ending, i)
			c.mu.Lock()
			if c.work.Made, c.work.Running = i+1, i+1 < all; err != nil {
				c.work.Failed++
				c.work.Technical = err.Error()
			}
			c.mu.Unlock()
			select {
			case <-time.After(pace):
			case <-c.ending.Done():
				return
			}
		}
	}()
	return nil
}

// lookUpAll looks up all writes of unknown outcome.
func (c *console[TTx]) lookUpAll(q request) error {
	g, err := c.glance(q.Context())
	if err != nil {
		return err
	}
	all := append(g.Person, g.Unknown...)
	if len(all) == 0 {
		return errForm("Nothing is unknown any more.")
	}
	by, note := q.person.Name, q.field("note")
	return c.start("Look-up", by, len(all), func(ctx context.Context, i int) error {
		if err := c.lookUpOne(ctx, all[i].ID, by, note); err != nil && !errors.Is(err, durable.ErrNotAllowed) { // it has ended meanwhile
			return err
		}
		w, err := c.engine.Get(ctx, all[i].ID)
		c.mu.Lock()
		c.work.Came[label(w.Standing)]++
		c.mu.Unlock()
		return err
	})
}

// errFailed means that the service could not be asked.
var errFailed = errors.New("the service could not be asked")

// lookUpOne looks a write up. The error is errFailed if the service could not be asked.
func (c *console[TTx]) lookUpOne(ctx context.Context, id, by, note string) error {
	list, err := c.engine.LookUp(ctx, by, note, id)
	if err == nil && lastLook(list[0]).Result == resolve.LookupFailed {
		return errFailed
	}
	return err
}

// evidence returns the look-ups of a write, and lastLook returns the last of them.
func evidence(w durable.Write) []resolve.Lookup {
	if w.Case == nil {
		return nil
	}
	return w.Case.Lookups
}

func lastLook(w durable.Write) resolve.Lookup {
	looked := evidence(w)
	if len(looked) == 0 {
		return resolve.Lookup{}
	}
	return looked[len(looked)-1]
}
