package database

import (
	"context"
	"errors"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// River is a [Queue] whose transactions have the type TTx.
type River[TTx any] struct {
	*river.Client[TTx]
	Leave func(tx Tx) TTx
}

// Insert implements [Queue].
func (q River[TTx]) Insert(ctx context.Context, tx Tx, jobs []river.InsertManyParams) error {
	_, err := q.InsertManyTx(ctx, q.Leave(tx), jobs)
	return err
}

// Pause stops the fetching of a queue in all processes.
func (q River[TTx]) Pause(ctx context.Context, tx Tx, name string) error {
	return ignoreMissing(q.QueuePauseTx(ctx, q.Leave(tx), name, nil))
}

// Resume starts the fetching of a queue again.
func (q River[TTx]) Resume(ctx context.Context, tx Tx, name string) error {
	return ignoreMissing(q.QueueResumeTx(ctx, q.Leave(tx), name, nil))
}

// ignoreMissing ignores that a queue is missing, because no engine has worked on it yet.
func ignoreMissing(err error) error {
	if errors.Is(err, rivertype.ErrNotFound) {
		return nil
	}
	return err
}
