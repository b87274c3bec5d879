package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/durable/internal/enginetest/overloaded"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/resolve"
)

// The run of a service that hangs: ten customers come in a second, and it bears eight requests at once.
const (
	hangsFrom = 20
	hangsFor  = 60
	ends      = 240
	limit     = 20 // of one engine with the default of workers
)

// second is what a second of the run has shown.
type second struct{ sent, unknown, waiting, wait float64 }

// overload has a service hang for a minute, draws what came of it, and prints the figures.
func overload(ctx context.Context, file string) error {
	dir, err := os.MkdirTemp("", "durable")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	s := subject[*sql.Tx]{sqlite.DB(db)}
	if err := durable.MigrateUp(ctx, s.Database); err != nil {
		return err
	}
	service := &overloaded.Service{Capacity: 8, Takes: 150 * time.Millisecond}
	client, err := quickstream.NewClient(quickstream.CustomURL("https://service.invalid/rest/v1"), quickstream.Keys{Secret: quickstream.NewSecretKey("secret")},
		quickstream.WithHTTPClient(&http.Client{Transport: service}))
	if err != nil {
		return err
	}
	off, ended := resolve.ServiceRetriesOff(), &outcomes{at: map[string]time.Time{}}
	engine, err := durable.New(ctx, s.Database, client, durable.Options[*sql.Tx]{
		Installation: "bench", ServiceRetries: &off, OnOutcome: ended.told,
	})
	if err != nil {
		return err
	}
	if err := engine.Start(ctx); err != nil {
		return err
	}
	defer func() { _ = engine.Stop(ctx) }()

	run, came := make([]second, ends), [ends]map[string]time.Time{}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := range run {
		service.Hang(i >= hangsFrom && i < hangsFrom+hangsFor)
		before := len(service.Begun())
		if came[i], err = s.sellTen(ctx, engine, tick.C); err != nil {
			return err
		}
		health, err := engine.Health(ctx)
		if err != nil {
			return err
		}
		run[i].sent, run[i].unknown, run[i].waiting = float64(len(service.Begun())-before), float64(health.Unknown), float64(health.Writes[durable.StateQueued])
	}
	for i := range run {
		run[i].wait = ended.wait(came[i]).Seconds()
	}
	unknown, err := s.value(ctx, "SELECT count(DISTINCT write_id) FROM quickstream.event WHERE state = 'resolving'")
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(file, []byte(plot(run)), 0o600), figures(run, unknown))
}

// sellTen stores ten payments, one at each tick, and returns when each came.
func (s subject[TTx]) sellTen(ctx context.Context, engine *durable.Engine[TTx], tick <-chan time.Time) (map[string]time.Time, error) {
	came := map[string]time.Time{}
	for range 10 {
		<-tick
		w := newWrite()
		came[w.ID] = time.Now()
		err := s.commit(ctx, func(tx database.Tx) error {
			_, _, err := engine.Pay(ctx, s.Leave(tx), w, payment(rand.Text()))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return came, nil
}

// outcomes are when OnOutcome was notified of each payment.
type outcomes struct {
	mu sync.Mutex
	at map[string]time.Time
}

func (o *outcomes) told(_ context.Context, _ *sql.Tx, change durable.OutcomeChange) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.at[change.Write.Common().ID] = time.Now()
	return nil
}

// wait is how long half of some payments have waited at most.
func (o *outcomes) wait(came map[string]time.Time) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	var waits []time.Duration
	for id, at := range came {
		end, known := o.at[id]
		if !known {
			end = time.Now()
		}
		waits = append(waits, end.Sub(at))
	}
	slices.Sort(waits)
	return quantile(waits, 0.5)
}

// figures prints what counts of the run.
func figures(run []second, unknown int64) error {
	drained, wait, sent := ends, 0.0, 0.0
	for i := hangsFrom + hangsFor; i < ends; i++ {
		if drained == ends && run[i].waiting < 10 {
			drained = i
		}
		if i >= hangsFrom+hangsFor+5 {
			wait = max(wait, run[i].wait)
		}
		sent = max(sent, run[i].sent)
	}
	drained -= hangsFrom + hangsFor
	return errors.Join(
		row("P20", "SQLite", "unknown outcomes by a minute's hang", fmt.Sprint(unknown), fmt.Sprint("<= ", limit), unknown <= limit),
		row("P20", "SQLite", "wait of those who come 5 s after it, the longest median", fmt.Sprintf("%.1f s", wait), "<= 5 s", wait <= 5),
		row("P20", "SQLite", "until its queue is drained", fmt.Sprint(drained, " s"), "<= 120 s", drained <= 120),
		row("P20", "SQLite", "most sent in a second after it, of 10 that come", fmt.Sprint(sent), "<= 50", sent <= 50),
	)
}

// plot draws what each second has shown.
func plot(run []second) string {
	const width, height, left = 3, 110, 60
	var b strings.Builder
	panels := []struct {
		title string
		of    func(second) float64
	}{
		{"payments sent a second, of 10 that come", func(s second) float64 { return s.sent }},
		{"payments that wait", func(s second) float64 { return s.waiting }},
		{"payments whose outcome is unknown, with those under way", func(s second) float64 { return s.unknown }},
		{"wait of those who come in this second, median in seconds", func(s second) float64 { return s.wait }},
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`, left+width*ends+20, len(panels)*(height+40)+30)
	fmt.Fprint(&b, `<rect width="100%" height="100%" fill="white"/>`)
	fmt.Fprintf(&b, `<rect x="%d" width="%d" height="100%%" fill="#fbe3d6"/>`, left+width*hangsFrom, width*hangsFor)
	for n, panel := range panels {
		top, most := n*(height+40)+30, 1.0
		for _, s := range run {
			most = max(most, panel.of(s))
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text><text x="%d" y="%d" text-anchor="end">%.0f</text><text x="%d" y="%d" text-anchor="end">0</text>`,
			left, top-8, panel.title, left-6, top+10, most, left-6, top+height)
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#999"/><polyline fill="none" stroke="#1f6feb" stroke-width="1.5" points="`, left, top, width*ends, height)
		for i, s := range run {
			fmt.Fprintf(&b, "%d,%.1f ", left+width*i, float64(top+height)-panel.of(s)/most*height)
		}
		fmt.Fprint(&b, `"/>`)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">the service hangs for %d s, shaded; %d s in all</text></svg>`, left, len(panels)*(height+40)+15, hangsFor, ends)
	return b.String()
}
