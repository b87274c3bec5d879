package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// timeline prints what happens, and what a merchant should store at each step.
type timeline struct {
	mu    sync.Mutex
	w     io.Writer
	begun time.Time
}

func newTimeline(w io.Writer) *timeline { return &timeline{w: w, begun: time.Now()} }

func (t *timeline) step(name, what, store string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = fmt.Fprintf(t.w, "%6.2fs  %-10s %s\n", time.Since(t.begun).Seconds(), name, what)
	if store != "" {
		_, _ = fmt.Fprintf(t.w, "         %-10s store: %s\n", "", store)
	}
}

func (t *timeline) note(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = fmt.Fprintf(t.w, "%6.2fs  %s\n", time.Since(t.begun).Seconds(), text)
}
