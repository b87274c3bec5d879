package conform

import (
	"slices"
	"time"
)

// task is something to do at a time.
type task struct {
	due  time.Time
	long bool // it makes many requests
	run  func()
}

// watch does what needs time, each thing when it is due, until nothing is left or the run may not
// wait longer.
func (s *session) watch() {
	for s.err == nil {
		tasks := s.tasks()
		if len(tasks) == 0 {
			return
		}
		t := next(tasks, time.Now(), s.until)
		if t.due.After(s.until) {
			return
		}
		if s.wait(t.due) {
			t.run()
			s.keep()
		}
	}
}

// next is the task to do first. What takes long lets those go that would come too late after it.
func next(tasks []task, now, until time.Time) task {
	byDue := func(a, b task) int { return a.due.Compare(b.due) }
	t := slices.MinFunc(tasks, byDue)
	short := slices.DeleteFunc(slices.Clone(tasks), func(t task) bool { return t.long || t.due.After(until) })
	if !t.long || len(short) == 0 {
		return t
	}
	const long = 2 * time.Minute
	if first := slices.MinFunc(short, byDue); first.due.Before(t.due.Add(long)) || first.due.Before(now.Add(long)) {
		return first
	}
	return t
}

func (s *session) tasks() (tasks []task) {
	for _, o := range onsets() {
		w, begun := s.windows[o.name]
		if begun && !w.seen && w.looked < len(o.ages) && s.Findings[o.name].Name == "" {
			tasks = append(tasks, task{s.Made[w.number].Answered.Add(o.ages[w.looked]), false, func() { s.look(o) }})
		}
	}
	lag, known := s.lag("LookupLag")
	if known && !s.readFrom.IsZero() {
		tasks = append(tasks, task{s.readFrom.Add(lag + time.Second), true, func() {
			s.readFrom = time.Time{} // once: what shows nothing now shows nothing later
			s.ask(reads()...)
			if s.err == nil {
				s.undo(kindPreauth) // only the reads needed it
			}
		}})
	}
	if !known {
		lag = day
	}
	return append(tasks, s.dailyTasks(lag+5*time.Second)...)
}
