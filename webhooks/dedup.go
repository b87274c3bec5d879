package webhooks

import (
	"context"
	"errors"
)

var (
	// ErrInProgress means that the notification is being handled by another
	// delivery, which has not succeeded yet.
	ErrInProgress = errors.New("webhooks: the notification is being handled already")
	// ErrConflict means that a notification with the same ID and other content
	// has been handled, or is being handled. It was not delivered: which of the
	// two is right is for a human to find out.
	ErrConflict = errors.New("webhooks: a notification with this id had other content")
)

// A Store remembers which notifications have been handled. [MemoryStore] is one
// for a single process; implement it on a database to have one that many machines
// share and that survives them. It has to be safe for concurrent use.
type Store interface {
	// Once calls handle, unless a call for a notification with the same ID has
	// succeeded before, and returns its error. The ID is remembered when handle
	// has returned nil, and only then.
	//
	// It returns nil without calling handle for a notification that has been
	// handled, and [ErrConflict] where the one that was handled had another
	// Digest. While another call for the same ID is running it waits for that, or
	// returns [ErrInProgress]; it must not return nil before that has succeeded.
	//
	// On a database, all this is one transaction: insert the ID and the digest
	// under a unique key, which makes a concurrent insert of the same ID wait;
	// when the ID is there already, compare the digests; call handle with a
	// context that carries the transaction, so that its effect is part of it;
	// commit, and return the error of that as well.
	Once(ctx context.Context, n *Notification, handle Func) error
}

// Deduplicate returns a function that calls handle once for each notification,
// as far as the store remembers. Put [ConfirmWith] inside it, so that a duplicate
// does not cost a call of the API.
func Deduplicate(store Store, handle Func) Func {
	return func(ctx context.Context, n *Notification) error { return store.Once(ctx, n, handle) }
}
