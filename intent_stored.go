package quickstream

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// These errors show nothing of what was stored, as those of encoding/json may.
var (
	errIntentStored     = errors.New("quickstream: the stored intent is not one that this package writes")
	errIntentUnreadable = errors.New("the intent's request is not one that this package writes")
	errIntentKey        = errors.New("the intent's idempotency key is not one that this package writes")
)

// UnmarshalJSON reads a stored intent strictly: members by their exact names, and none twice or
// unknown. Of another version it reads what it can, and every use of the intent is refused. Its
// Request is judged when it is used.
func (i *Intent) UnmarshalJSON(data []byte) error {
	type plain Intent
	var read plain
	if wire.NoDuplicates(data) != nil || json.Unmarshal(data, &read) != nil {
		return errIntentStored
	}
	if read.Version == IntentVersion && len(wire.Unknown(data, reflect.TypeFor[plain]())) > 0 {
		return errIntentStored
	}
	*i = Intent(read)
	return nil
}

// storable is a request that intents keep.
type storable[T any] interface {
	// kept returns the request without what may hold secrets, and whether it is complete.
	kept() (kept T, complete bool)
}

// requested reads the stored request. Only what an intent keeps is accepted, so that nothing is sent
// that no rule has judged: written again, it has to be the same, in any order and spacing.
func requested[T storable[T]](i Intent) (T, error) {
	var body T
	if wire.NoDuplicates(i.Request) != nil || json.Unmarshal(i.Request, &body) != nil {
		return *new(T), errIntentUnreadable
	}
	kept, _ := body.kept()
	if again, err := wire.Encode(kept); err != nil || !wire.Same(again, i.Request) {
		return *new(T), errIntentUnreadable
	}
	return body, nil
}
