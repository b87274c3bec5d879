package webhooks

import (
	"context"
	"errors"
)

var (
	// ErrInProgress means that another delivery of the notification is being handled and has not
	// succeeded yet.
	ErrInProgress = errors.New("webhooks: the notification is being handled already")
	// ErrConflict means that another notification with this ID had other content. Both are stored
	// and handled. Ask the API which is right; a person should find out why there are two. A
	// [Store] and a [Func] return it after everything was done; the handler acknowledges and
	// logs it.
	ErrConflict = errors.New("webhooks: a notification with this id had other content")
)

// A Store remembers which notifications were handled. [MemoryStore] serves one process. Implement
// Store on a database to share it between machines and to survive a crash. It must be safe for
// concurrent use.
//
// It has to remember each notification for eight days or more, longer than [StoreTolerance]: after
// that the signature is refused. A notification that is forgotten earlier can be replayed and
// handled twice. If the [signature.Scheme] does not sign the time, it has to remember for ever, and a
// [MemoryStore] is not enough.
type Store interface {
	// Once calls handle and returns its error, unless handle has succeeded before for the same ID
	// and Digest: then it returns nil. Both are remembered only after handle has returned nil.
	//
	// If the ID is known with another Digest, it calls handle and then returns [ErrConflict]. While
	// another call for the same ID and Digest is running, it waits, or returns [ErrInProgress]; it
	// must not return nil before that call has succeeded.
	//
	// On a database, do it in one transaction: insert ID and digest under a unique key of both,
	// which makes a concurrent insert wait; return if they exist; call handle with a context that
	// carries the transaction; commit, and return the error of the commit too. Do not call the API
	// inside it: see [NewInbox].
	Once(ctx context.Context, n *Notification, handle Func) error
}
