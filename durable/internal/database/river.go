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
	// Inserted, if it is not nil, is called with the queue of each job before the transaction commits.
	Inserted func(queue string)
}

// Insert implements [Queue].
func (q River[TTx]) Insert(ctx context.Context, tx Tx, jobs []river.InsertManyParams) error {
	if _, err := q.InsertManyTx(ctx, q.Leave(tx), jobs); err != nil || q.Inserted == nil {
		return err
	}
	for _, job := range jobs {
		q.Inserted(job.InsertOpts.Queue)
	}
	return nil
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
