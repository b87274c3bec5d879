package main

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// fault is a fault with a switch. On says whether it is switched on.
type fault struct {
	Name, Title, Text string
	On                bool

	kind sandbox.FaultKind
}

// troubles are the faults with their switches, and how often the engine was killed and the clock was moved.
type troubles struct {
	Faults       []fault
	Kills, Leaps int
}

// The names of the faults.
const (
	faultDown = "down"
	faultHang = "hang"
	faultLost = "lost"
)

// faults returns all faults, switched off. If several are on, the first one meets a call.
func faults() []fault {
	return []fault{
		{faultDown, "The service cannot be reached", "Payments and look-ups get no connection. What was paid waits, and is sent when it is off.", false, sandbox.Unreachable(sandbox.ConnectionRefused)},
		{faultHang, "The service hangs", "A payment is carried out and not answered. No look-up is answered either.", false, sandbox.HangAfterCommit()},
		{faultLost, "Answers get lost", "A payment is carried out, and the connection breaks before its answer. Look-ups are answered.", false, sandbox.ResetAfterCommit()},
	}
}

// Quiet reports whether no fault is on and the clock was not moved.
func (t troubles) Quiet() bool {
	return t.Leaps == 0 && !slices.ContainsFunc(t.Faults, func(f fault) bool { return f.On })
}

// trouble returns a copy of the troubles.
func (s *shop) trouble() troubles {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.made
	t.Faults = slices.Clone(t.Faults)
	return t
}

// switchFault switches a fault on or off, and arms those that are on.
func (s *shop) switchFault(name string, on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.box.ClearFaults()
	for i := range s.made.Faults {
		f := &s.made.Faults[i]
		if f.Name == name {
			f.On = on
		}
		if !f.On {
			continue
		}
		every := f.Name != faultLost
		payments := func(r sandbox.Request) bool {
			return r.Operation == "POST /transactions" || every && strings.Contains(r.Operation, "/transactions")
		}
		if err := s.box.Inject(sandbox.Fault{Match: payments, Kind: f.kind}); err != nil {
			return err
		}
	}
	return nil
}

// kill ends the engine in the middle of what it does, and starts another one on the same database.
func (s *shop) kill(ctx context.Context) error {
	return s.restart(ctx, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.made.Kills++
		return nil
	})
}

// restart ends the engine in the middle of what it does, calls meanwhile, and starts another one.
func (s *shop) restart(ctx context.Context, meanwhile func() error) error {
	s.killing.Lock()
	defer s.killing.Unlock()
	s.stop()
	return cmp.Or(meanwhile(), s.start(context.WithoutCancel(ctx)))
}

// leap is how far the clock is moved.
const leap = 48 * time.Hour

// later moves the clock of everything, and wakes River's jobs, which sleep by the clock of this machine.
func (s *shop) later(ctx context.Context) error {
	return s.restart(ctx, func() error {
		s.clock.Advance(leap)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.made.Leaps++
		_, err := s.db.ExecContext(ctx, "UPDATE river_job SET scheduled_at = datetime('now', 'subsec') WHERE state IN ('scheduled', 'retryable')")
		return err
	})
}
