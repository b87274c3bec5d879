package webhooks

import (
	"context"
	"errors"
)

var (
	// ErrInProgress means that the notification is being handled by another
	// delivery, which has not succeeded yet.
	ErrInProgress = errors.New("webhooks: the notification is being handled already")
	// ErrConflict means that a notification with the same ID and other content is
	// known. Both are kept and handled: which of the two is right is for the API to
	// say, and why there are two for a human to find out. A [Store] and a [Func]
	// return it when all has been done; the handler acknowledges and reports it.
	ErrConflict = errors.New("webhooks: a notification with this id had other content")
)

// A Store remembers which notifications have been handled. [MemoryStore] is one
// for a single process; implement it on a database to have one that many machines
// share and that survives them. It has to be safe for concurrent use.
//
// It has to remember each for longer than [StoreTolerance], eight days or more: by
// that time its signature is refused. A notification that is forgotten earlier can
// be recorded by somebody, played again, and handled twice.
type Store interface {
	// Once calls handle, unless a call for a notification with the same ID and
	// Digest has succeeded before, and returns its error. The two are remembered
	// when handle has returned nil, and only then.
	//
	// It returns nil without calling handle for a notification that has been
	// handled. Where one with the same ID and another Digest was, it calls handle,
	// and returns [ErrConflict] after that has succeeded. While another call for the
	// same two is running it waits for that, or returns [ErrInProgress]; it must not
	// return nil before that has succeeded.
	//
	// On a database, all this is one transaction: insert the ID and the digest
	// under a unique key of both, which makes a concurrent insert wait; return when
	// they are there already; call handle with a context that carries the
	// transaction, so that its effect is part of it; commit, and return the error of
	// that as well. What asks the API does not belong in there: see [NewInbox].
	Once(ctx context.Context, n *Notification, handle Func) error
}
