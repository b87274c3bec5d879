package durable

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/quickstream-go/quickstream"
)

// Comparison is how the comparisons with the service stand: see [Engine.Compare].
type Comparison struct {
	// Day is the settlement date that was compared last to its end, At when, Transactions how many the
	// service had on it, and Differences how many OnDifference was notified of. Day is zero if there was none.
	Day          quickstream.Date `json:"day,omitzero"`
	At           time.Time        `json:"at,omitzero"`
	Transactions int              `json:"transactions"`
	Differences  int              `json:"differences"`
	// FailingSince is since when each comparison has failed; zero if the last one did not. Problem says why.
	FailingSince time.Time `json:"failingSince,omitzero"`
	Problem      string    `json:"problem,omitempty"`
}

// comparisonName is the name under which the last comparison stands.
const comparisonName = "comparison"

// tally counts what a comparison has seen.
type tally struct{ transactions, differences int }

// counted runs a comparison and stores what came of it.
func (e *engine) counted(ctx context.Context, date quickstream.Date, compare func(context.Context, quickstream.Date, *tally) error) error {
	var n tally
	failed := compare(ctx, date, &n)
	if ctx.Err() != nil { // it was cut off, and says nothing
		return failed
	}
	return errors.Join(failed, within(ctx, e.db, func(tx tx) error {
		last, err := readComparison(ctx, tx)
		if err != nil {
			return err
		}
		now := e.clock().UTC()
		switch {
		case failed == nil:
			last = Comparison{Day: date, At: now, Transactions: n.transactions, Differences: n.differences}
		case last.FailingSince.IsZero():
			last.FailingSince = now
			fallthrough
		default:
			last.Problem = problemOf(failed)
		}
		text, err := json.Marshal(last)
		if err != nil {
			return err
		}
		return setMeta(ctx, tx, comparisonName, string(text))
	}))
}

func readComparison(ctx context.Context, tx tx) (c Comparison, err error) {
	text, err := meta(ctx, tx, comparisonName)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &c)
	}
	return c, err
}
