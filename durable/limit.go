package durable

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream"
)

// limitName is the name under which the limit of the installation stands.
const limitName = "limit"

const (
	// engineLife is how long an engine counts after it has said last that it works.
	engineLife = 30 * time.Second
	// turnPatience is how long a job waits for its turn, and how old a customer's payment becomes meanwhile: what is
	// older is the backlog, and comes when its lease ends.
	turnPatience = 5 * time.Second
	// safeRest is how long the limit stays at least as it is below Safe. Safe itself does from firstRest to longestRest.
	safeRest    = time.Second
	firstRest   = 15 * time.Second
	longestRest = 4 * time.Minute
	// borneFor is for how long at least it is known how much the service has borne: longer than a call.
	borneFor = 2 * time.Minute
	// alwaysBorne is what any service bears.
	alwaysBorne = 4
	// backlogTurn says that each fifth turn is the backlog's, if customers wait too.
	backlogTurn = 5
)

// limit is how many requests about writes the engines of an installation have under way, after the service
// was overloaded: payments, follow-ups, look-ups and notifications. Each lost or foreign answer halves it at
// once. A round of answers lets it grow by one, once a second at most. If more was under way than the service has
// borne lately, it grows so only up to what it has borne. Above it tries one more after a rest, which
// doubles each time that this was too much: a service that hangs above its capacity is rarely brought there.
//
// Each engine has an equal share, and at least two requests, so that one that hangs does not stop all. So no more is
// under way than the limit, or two for each engine, and what was under way when the limit fell or an engine began.
// Others learn of it within Options.SweepEvery. Nothing is stored for a request. An engine that does not say for half
// a minute that it works counts no more: what it has under way is beside the limit.
type limit struct {
	// Most is the limit; zero means that there is none, as in ordinary work.
	Most int `json:"most,omitempty"`
	// Safe is what the limit grows to without rests of the length Rest.
	Safe int           `json:"safe,omitempty"`
	Rest time.Duration `json:"rest,omitempty"`
	// Changed is when Most was changed last, and Tried when Safe was.
	Changed time.Time `json:"changed,omitzero"`
	Tried   time.Time `json:"tried,omitzero"`
	// Engines are until when each engine counts.
	Engines map[string]time.Time `json:"engines,omitempty"`
}

// below reports whether a limit is lower than another.
func below(most, than int) bool { return most > 0 && (than == 0 || most < than) }

// halved is the limit after a lost answer. safe is what the service has borne if that was less than what was
// under way, and 0 if it was not: then it was no matter of capacity.
func (l limit) halved(ceiling, safe int, now time.Time) limit {
	if l.Most == 0 {
		l.Most, l.Safe = ceiling, ceiling
	}
	if safe > 0 {
		l.Safe, l.Rest, l.Tried = max(alwaysBorne, safe), min(max(firstRest, 2*l.Rest), longestRest), now
	}
	l.Most, l.Changed = max(1, l.Most/2), now
	return l
}

// grown is the limit after a round of answers.
func (l limit) grown(ceiling int, now time.Time) limit {
	switch {
	case l.Most < l.Safe && now.Sub(l.Changed).Abs() >= safeRest:
		l.Most, l.Changed = l.Most+1, now
	case l.Most >= l.Safe && now.Sub(l.Tried).Abs() >= l.Rest:
		l.Most, l.Changed, l.Tried = l.Most+1, now, now
		l.Safe = l.Most
	}
	if l.Most >= ceiling {
		return limit{Engines: l.Engines}
	}
	return l
}

// seen is the limit with the engines that work now.
func (l limit) seen(id string, now time.Time) limit {
	l.Engines = maps.Clone(l.Engines)
	maps.DeleteFunc(l.Engines, func(_ string, until time.Time) bool {
		left := until.Sub(now)
		return left <= 0 || left > 2*engineLife // a wrong clock has written it
	})
	if l.Engines == nil {
		l.Engines = map[string]time.Time{}
	}
	if l.Engines[id].Sub(now) < engineLife/2 {
		l.Engines[id] = now.Add(engineLife)
	}
	return l
}

// line is where a job waits: the newest customer is let in first, and the oldest of the backlog.
type line int

const (
	customers line = iota
	backlog
)

// gate keeps an engine's share of the limit.
type gate struct {
	id      string
	workers int // of both queues: more requests than these are not under way without a limit

	mu       sync.Mutex
	limit    limit  // as it was stored last, less what was lost since
	stored   int    // its Most then
	under    [2]int // of each line
	lines    [2][]chan struct{}
	turns    int
	halvings int
	lost     int       // answers since the limit was stored
	safe     int       // by one of them: see limit.halved
	answers  int       // since the limit was changed
	borne    [2]int    // the most that was under way when one was answered, since and before
	since    time.Time // of the first
}

// pass is one request under way.
type pass struct {
	*gate
	in       line
	halvings int // before it began
}

// mayBegin reports whether one of a line may begin. One turn is kept for customers, lest look-ups that hang take all.
func (g *gate) mayBegin(in line) bool {
	share := max(2, g.limit.Most/max(1, len(g.limit.Engines)))
	return g.limit.Most == 0 || g.underWay() < share && (in == customers || g.under[backlog] < share-1)
}

func (g *gate) underWay() int { return g.under[customers] + g.under[backlog] }

// enter waits for a turn, and returns nil if there is none in time.
func (g *gate) enter(ctx context.Context, in line, patience time.Duration) *pass {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mayBegin(in) {
		g.under[in]++
		return &pass{g, in, g.halvings}
	}
	if patience == 0 {
		return nil
	}
	turn, timer := make(chan struct{}), time.NewTimer(patience)
	defer timer.Stop()
	g.lines[in] = append(g.lines[in], turn)
	g.mu.Unlock()
	select {
	case <-turn:
	case <-timer.C:
	case <-ctx.Done():
	}
	g.mu.Lock()
	if i := slices.Index(g.lines[in], turn); i >= 0 {
		g.lines[in] = slices.Delete(g.lines[in], i, i+1)
		return nil
	}
	return &pass{g, in, g.halvings}
}

// admit lets in as many as may begin.
func (g *gate) admit() {
	for {
		first, other := len(g.lines[customers]) > 0 && g.mayBegin(customers), len(g.lines[backlog]) > 0 && g.mayBegin(backlog)
		if first && other {
			g.turns++
		}
		in, next := customers, len(g.lines[customers])-1
		switch {
		case other && (!first || g.turns%backlogTurn == 0):
			in, next = backlog, 0
		case !first:
			return
		}
		g.under[in]++
		close(g.lines[in][next])
		g.lines[in] = slices.Delete(g.lines[in], next, next+1)
	}
}

// leave ends a request.
func (p *pass) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.under[p.in]--
	p.admit()
}

// answered counts an answer, or its loss.
func (p *pass) answered(lost bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !lost {
		p.answers++
		p.borne[0] = max(p.borne[0], p.underWay())
		return
	}
	engines, under, borne, safe := max(1, len(p.limit.Engines)), p.underWay(), max(p.borne[0], p.borne[1]), 0
	if p.halvings == p.gate.halvings && under > borne && under*engines > alwaysBorne {
		safe = max(1, min(borne, under*3/4)*engines)
	}
	p.limit = p.limit.halved(p.workers*engines, safe, time.Time{}) // until it is stored
	p.gate.halvings++
	p.lost, p.safe, p.answers = p.lost+1, max(p.safe, safe), 0
}

// next is the limit that is to be stored instead of the one that is, and stored takes it over.
func (g *gate) next(l limit, now time.Time) (next limit, stored func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	lost, now := g.lost, now.UTC().Truncate(time.Millisecond)
	next = l.seen(g.id, now)
	ceiling := g.workers * len(next.Engines)
	for i := range lost {
		safe := 0
		if i == 0 && !below(l.Most, g.stored) { // otherwise another engine was first
			safe = g.safe
		}
		next = next.halved(ceiling, safe, now)
	}
	grows := false
	if lost == 0 && next.Most > 0 && g.answers >= max(1, next.Most/len(next.Engines)) {
		was := next.Changed
		next = next.grown(ceiling, now)
		grows = !next.Changed.Equal(was)
	}
	if now.Sub(g.since).Abs() >= borneFor {
		g.borne, g.since = [2]int{0, g.borne[0]}, now
	}
	return next, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if grows {
			g.answers = 0
		}
		if below(next.Most, g.limit.Most) { // another engine has lost answers
			g.halvings++
		}
		g.limit, g.stored, g.lost, g.safe = next, next.Most, g.lost-lost, 0
		for range g.lost {
			g.limit = g.limit.halved(ceiling, 0, now)
		}
		g.admit()
	}
}

// keepLimit stores what this engine has seen of the limit, and reads what others have.
func (e *engine) keepLimit(ctx context.Context) error {
	var stored func()
	err := within(ctx, e.db, func(tx tx) error {
		stored = nil
		was, err := meta(ctx, tx, limitName)
		if err != nil {
			return err
		}
		var l limit
		if json.Unmarshal([]byte(was), &l) != nil { // there is none, or one of another version
			l = limit{}
		}
		next, take := e.gate.next(l, e.clock())
		text, err := json.Marshal(next)
		if err != nil {
			return err
		}
		changed := true
		if string(text) != was {
			changed, err = changeMeta(ctx, tx, limitName, string(text), was)
		}
		if changed { // otherwise another engine was first, and it is tried again
			stored = take
		}
		return err
	})
	if err == nil && stored != nil {
		stored()
	}
	return err
}

type (
	queueKey struct{} // the queue of a job
	passKey  struct{} // its pass
)

// errBusy means that as much is under way as the service bears.
var errBusy = errors.New("the service is overloaded, and as much is under way as it bears: try again")

// begins waits for the turn of a job, and returns a context in which answers count. What gets no turn
// is enqueued again when its lease ends: so what came while the service hung is sent in a minute, and not
// at once. An engine that was not started does not know the limit.
func (e *engine) begins(ctx context.Context, age time.Duration) (underWay context.Context, ended func(), ok bool) {
	if !e.started.Load() {
		return ctx, func() {}, true
	}
	in, patience := customers, max(0, turnPatience-age)
	if ctx.Value(queueKey{}) == sweptQueue {
		in, patience = backlog, turnPatience
	}
	p := e.gate.enter(ctx, in, patience)
	if p == nil {
		return ctx, func() {}, false
	}
	return context.WithValue(ctx, passKey{}, p), p.leave, true
}

// answered counts the answer to a request under way. again means that an earlier attempt was not answered.
func answered(ctx context.Context, err error, again bool) {
	p, underWay := ctx.Value(passKey{}).(*pass)
	if !underWay || errors.Is(ctx.Err(), context.Canceled) { // given up here
		return
	}
	p.answered(again || overloads(err))
}

// overloads reports whether an error is a sign that the service is overloaded: no answer, or one that is
// not its own, or by which it asks for a pause.
func overloads(err error) bool {
	network, api := (*quickstream.NetworkError)(nil), (*quickstream.APIError)(nil)
	return errors.Is(err, quickstream.ErrOutcomeUnknown) || errors.As(err, &network) || stops(err) ||
		errors.As(err, &api) && api.StatusCode >= http.StatusInternalServerError
}
