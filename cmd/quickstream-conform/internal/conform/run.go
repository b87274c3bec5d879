package conform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// Report is what a run has found.
type Report struct {
	sandbox.Facility
	Requests int
	// Left is what has not been undone yet, by the references that the run gave it: [Clean] does it.
	Left []string
}

// shortest is how long a run takes that waits for nothing.
const shortest = 6 * time.Minute

// Run asks the questions, undoes what it has made, and returns the answers. After an error the
// report holds what was found before.
func Run(ctx context.Context, cfg Config) (Report, error) {
	s, err := newSession(ctx, cfg)
	if err != nil {
		return Report{}, err
	}
	s.until = time.Now().Add(max(cfg.Wait, shortest))
	if s.greet(); s.err == nil {
		s.ask()
	}
	if errors.Is(s.err, errUsedUp) {
		s.err = nil
	}
	asked := s.err
	report := s.report()
	s.cleaning, s.err = true, nil
	s.until = time.Now().Add(max(time.Until(s.until), time.Minute))
	report.Left = s.clean()
	report.Requests = s.asked
	return report, errors.Join(asked, s.err)
}

// Clean undoes what an interrupted run has made, and asks nothing. It returns what is left, by the
// references that the run gave it. It makes at most 300 requests, whatever the run has made.
func Clean(ctx context.Context, cfg Config) (left []string, err error) {
	s, err := newSession(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s.cleaning = true
	s.greet()
	s.until = time.Now().Add(max(cfg.Wait, time.Minute))
	left = s.clean()
	return left, s.err
}

// Left names what the journal of an earlier run lists as made and not undone.
func Left(cfg Config) ([]string, error) {
	cfg, base, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	j, err := openJournal(cfg.Journal, base.Host)
	if err != nil {
		return nil, err
	}
	return j.remaining(), nil
}

// greet checks the key, and finds the business.
func (s *session) greet() {
	if a := s.get("/", nil); !a.accepted() && s.err == nil {
		s.err = fmt.Errorf("conform: the service does not accept the secret key: status %d", a.status)
	}
	if s.business != "" || s.err != nil {
		return
	}
	for _, item := range s.get("/businesses", nil).body.get("data").items() {
		if s.business = item.get("supplierBusinessCode").text(); s.business != "" {
			return
		}
	}
	if s.err == nil {
		s.err = errors.New("conform: no business was found; name one with -business")
	}
}

// task is something to do at a time.
type task struct {
	due time.Time
	run func()
}

// at has something done at a time, if the run lasts until then.
func (s *session) at(due time.Time, run func()) { s.tasks = append(s.tasks, task{due, run}) }

// work does what is due until a time, each thing when it is due.
func (s *session) work(until time.Time) {
	for s.err == nil && len(s.tasks) > 0 {
		slices.SortStableFunc(s.tasks, func(a, b task) int { return a.due.Compare(b.due) })
		t := s.tasks[0]
		if t.due.After(until) {
			return
		}
		s.tasks = s.tasks[1:]
		if s.wait(t.due) {
			t.run()
		}
	}
}
