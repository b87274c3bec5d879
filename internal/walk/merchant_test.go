package walk_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
)

// word is what a merchant believes of a write in the end.
type word string

const (
	isDone      word = "done"
	isRefused   word = "refused" // or declined
	isNotSent   word = "not sent"
	isAbsent    word = "absent"
	isHeld      word = "escalated"
	isTwice     word = "charged twice"
	isVoided    word = "voided" // of a payment
	saysNothing word = ""
)

// record is a merchant's record of a write on disk, as JSON.
type record struct {
	Step   step               `json:"step"`
	Intent quickstream.Intent `json:"intent"`
	State  resolve.Case       `json:"state,omitzero"`
	Word   word               `json:"word"`
}

type step string

// The steps of a write. A planned write was not sent; a write that is being sent may have
// been.
const (
	begun     step = ""
	planned   step = "planned"
	sending   step = "sending"
	resolving step = "resolving"
	over      step = "over"
)

// process is a process of the merchant, which dies at one of its points: before or after
// something is stored, or around an attempt.
type process struct {
	ctx     context.Context
	cancel  context.CancelFunc
	dies    int // at which point; 0 for never
	points  int
	dead    bool
	killing time.Duration // after the first byte, in the middle of the exchange; 0 for never
}

// point is where the process may die.
func (p *process) point() {
	if p.points++; p.points == p.dies {
		p.die()
	}
	if p.dead {
		runtime.Goexit()
	}
}

func (p *process) die() {
	p.dead = true
	p.cancel()
}

// wire makes the attempts of a write points.
type wire struct {
	http.RoundTripper
	process func() *process
}

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	p := w.process()
	if r.Method == http.MethodGet || p == nil {
		return w.RoundTripper.RoundTrip(r)
	}
	p.point()
	if p.killing > 0 {
		timer := time.AfterFunc(p.killing, p.cancel)
		defer timer.Stop()
	}
	resp, err := w.RoundTripper.RoundTrip(r)
	if p.killing > 0 && p.ctx.Err() != nil {
		p.dead = true
	}
	p.point()
	return resp, err
}

// merchant does what the documentation says, and records what it believes.
type merchant struct {
	client *quickstream.Client
	policy resolve.Policy
	way    way
	claims *claims
	census *census
	now    *process
	// box and settings are for its clients.
	box      *sandbox.Sandbox
	settings []quickstream.ClientOption

	disk []byte
	said []word // every word that was stored, in order
	sent error  // what the call returned in a living process
	call bool
	resp quickstream.Response
}

// last is what the merchant believes in the end.
func (m *merchant) last() word {
	if len(m.said) == 0 {
		return saysNothing
	}
	return m.said[len(m.said)-1]
}

// claims is the row of the intent, which every process of the merchant reads.
type claims struct {
	mu    sync.Mutex
	taken bool
}

var errClaimed = errors.New("another process has claimed it")

// live runs a process until it is done or dies, and returns it.
func (m *merchant) live(t *testing.T, dies int, killing time.Duration) *process {
	p := &process{dies: dies, killing: killing}
	p.ctx, p.cancel = context.WithCancel(t.Context())
	defer p.cancel()
	m.now = p
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.work(t, p)
	}()
	<-done
	return p
}

func (m *merchant) load(t *testing.T) (r record) {
	if m.disk != nil {
		require.NoError(t, json.Unmarshal(m.disk, &r))
	}
	return r
}

// save is a durable step.
func (m *merchant) save(t *testing.T, p *process, r record) {
	p.point()
	if last := m.load(t); r.Step == resolving && last.Step == resolving {
		m.census.moved(last.State, r.State)
	}
	disk, err := json.Marshal(r)
	require.NoError(t, err)
	if m.disk = disk; r.Word != saysNothing {
		m.said = append(m.said, r.Word)
	}
	p.point()
}

// work continues from the record on disk.
func (m *merchant) work(t *testing.T, p *process) {
	r := m.load(t)
	if r.Step == begun && m.way.plan != nil {
		p.point()
		intent, err := m.way.plan(p.ctx, m.client)
		require.NoError(t, err)
		r.Step, r.Intent = planned, intent
		m.save(t, p, r)
	}
	if r.Step == begun || r.Step == planned {
		r = m.send(t, p, r)
		m.save(t, p, r)
	}
	if r.Step == sending { // by a process that has died
		r.Step, r.State = resolving, resolve.Begin(r.Intent, time.Now())
		m.save(t, p, r)
	}
	if r.Step == resolving {
		m.pursue(t, p, r)
	}
}

// send makes the call, and returns its result.
func (m *merchant) send(t *testing.T, p *process, r record) record {
	ctx, cancel := p.ctx, context.CancelFunc(func() {})
	if m.way.patience > 0 {
		ctx, cancel = context.WithTimeout(ctx, m.way.patience)
	}
	defer cancel()
	opts := append([]quickstream.CallOption{quickstream.WithResponseInto(&m.resp)}, m.way.options...)
	var tx *quickstream.Transaction
	var err error
	if r.Step == planned {
		tx, err = m.client.Transactions.Submit(ctx, r.Intent, func(context.Context) error {
			m.claims.mu.Lock()
			defer m.claims.mu.Unlock()
			if m.claims.taken {
				return errClaimed
			}
			p.point()
			m.claims.taken = true
			r.Step = sending
			m.save(t, p, r)
			return nil
		}, opts...)
	} else {
		tx, err = m.way.pay(ctx, m.client, append(opts, quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) error {
			r.Step, r.Intent = sending, intent
			m.save(t, p, r)
			return nil
		})))
	}
	p.point() // it died while it waited
	m.sent, m.call = err, true
	return m.judge(r, tx, err)
}

// judge decides what the end of a call means.
func (m *merchant) judge(r record, tx *quickstream.Transaction, err error) record {
	switch result := resolve.After(tx, err, time.Now()); result.Status {
	case resolve.ResultOpen:
		r.Step, r.State = resolving, *result.Case
		r.State.NextLook = time.Now().Add(m.way.sleep).Round(0)
	case resolve.ResultEnded:
		r.Step, r.Word = over, m.way.wordFor(result.Outcome)
	case resolve.ResultRefused:
		r.Step, r.Word = over, isRefused
		if errors.Is(err, quickstream.ErrNotSent) {
			r.Word = isNotSent
		}
	}
	return r
}

// watched makes the look-ups points, and records their results.
type watched struct {
	*quickstream.TransactionsService
	p      *process
	census *census
	way    *way
	box    *sandbox.Sandbox
}

func (w watched) Resume(ctx context.Context, intent quickstream.Intent, opts ...quickstream.CallOption) (*quickstream.Transaction, error) {
	w.p.point()
	if w.way.lookTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.way.lookTime)
		defer cancel()
	}
	tx, err := w.TransactionsService.Resume(ctx, intent, opts...)
	w.p.point()
	var cause error
	if open, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok {
		cause = open.Cause
	}
	w.census.met("look-up", reasonOf(cause))
	if err == nil && !slices.ContainsFunc(w.box.Ledger(), func(e sandbox.Entry) bool { return e.ReceiptNumber == tx.ReceiptNumber && w.way.settles(e) }) {
		w.census.fails(*w.way, "was found, and it is not so", tx.ReceiptNumber, w.box)
	}
	return tx, err
}

// pursue resolves to the end.
func (m *merchant) pursue(t *testing.T, p *process, r record) {
	look := watched{m.client.Transactions, p, m.census, &m.way, m.box}
	for !r.State.NextLook.IsZero() && (m.way.watch || !r.State.Status.Final()) {
		wait(time.Until(r.State.NextLook))
		seen := m.policy.LookUp(p.ctx, look, r.State)
		if p.ctx.Err() != nil {
			require.True(t, p.dead, "%v", p.ctx.Err())
			return
		}
		if r.State = m.policy.Next(r.State, seen, time.Now()); r.State.Status.Final() {
			r.Word = m.way.wordOf(r.State)
		}
		m.save(t, p, r)
	}
	r.Step = over
	m.save(t, p, r)
}
