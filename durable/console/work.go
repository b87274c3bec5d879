package console

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/resolve"
)

// work is what a person has started and does not wait for. One process has one at a time.
type work struct {
	Title, By         string
	All, Made, Failed int
	Technical         string // the last error
	Running           bool
}

// works is the newest work. The zero value is ready.
type works struct {
	mu   sync.Mutex
	work work
}

func (w *works) now() work {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.work
}

// made counts a step, and reports whether there are more.
func (w *works) made(err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.work.Made++
	if err != nil {
		w.work.Failed++
		w.work.Technical = err.Error()
	}
	w.work.Running = w.work.Made < w.work.All
	return w.work.Running
}

// errFailed means that the service could not be asked.
var errFailed = errors.New("the service could not be asked")

// pace is the pause between two steps, so that payments are not held up.
const pace = 200 * time.Millisecond

// start makes all steps one after the other, until the console is closed.
func (c *console[TTx]) start(title, by string, all int, step func(ctx context.Context, i int) error) error {
	w := &c.working
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.work.Running {
		return errForm(w.work.Title + ", by " + w.work.By + ", is not done yet.")
	}
	w.work = work{Title: title, By: by, All: all, Running: true}
	go func() {
		for i := 0; w.made(step(c.ending, i)); i++ {
			select {
			case <-time.After(pace):
			case <-c.ending.Done():
				return
			}
		}
	}()
	return nil
}

// lookUpAll looks up all whose outcome is unknown.
func (c *console[TTx]) lookUpAll(q request) error {
	g, err := c.glance(q.Context())
	if err != nil {
		return err
	}
	ids := []string{}
	for _, r := range append(g.Person, g.Unknown...) {
		ids = append(ids, r.ID)
	}
	if len(ids) == 0 {
		return errForm("Nothing is unknown any more.")
	}
	by, note := q.person.Name, q.field("note")
	return c.start("Look-up", by, len(ids), func(ctx context.Context, i int) error {
		if err := c.lookUpOne(ctx, by, note, ids[i]); !errors.Is(err, durable.ErrNotAllowed) { // it has ended meanwhile
			return err
		}
		return nil
	})
}

// lookUpOne looks one up, and says if the service could not be asked.
func (c *console[TTx]) lookUpOne(ctx context.Context, by, note, id string) error {
	list, err := c.engine.LookUp(ctx, by, note, id)
	if err != nil {
		return err
	}
	if looks := evidence(list[0]); len(looks) > 0 && looks[len(looks)-1].Result == resolve.LookupFailed {
		return errFailed
	}
	return nil
}

// evidence are the look-ups of a write.
func evidence(w durable.Write) []resolve.Lookup {
	if w.Case == nil {
		return nil
	}
	return w.Case.Lookups
}
