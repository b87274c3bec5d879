package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
)

// facilityName is the name under which the facility of the installation stands.
const facilityName = "facility"

// facility is what an installation belongs to: the address of the service and the merchant's
// businesses there.
type facility struct {
	Installation string   `json:"installation"`
	Address      string   `json:"address,omitempty"`
	Businesses   []string `json:"businesses,omitempty"` // sorted
}

var (
	// errFacility stops claims.
	errFacility = errors.New("the database belongs to another installation or facility: nothing is sent")
	// errNotConfirmed means that the service was not asked yet.
	errNotConfirmed = errors.New("the businesses could not be read yet, so nothing is sent")
)

// FacilityError means that the database belongs to another installation, or to a facility at another
// address or with other businesses, such as a copy of production that a test system uses. Nothing is
// sent. If the change is meant, call [Engine.ConfirmFacility].
type FacilityError struct {
	// Differs is installation, address or businesses.
	Differs string
	// Stored and Found are what the database and this program say.
	Stored, Found string
}

// Error says what differs.
func (e *FacilityError) Error() string {
	return fmt.Sprintf("durable: %v: %s %q, and this program has %q", errFacility, e.Differs, e.Stored, e.Found)
}

// Unwrap returns the reason why nothing is sent.
func (e *FacilityError) Unwrap() error { return errFacility }

func readFacility(ctx context.Context, tx tx) (f facility, err error) {
	text, err := meta(ctx, tx, facilityName)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &f)
	}
	return f, err
}

func storeFacility(ctx context.Context, tx tx, f facility) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return setMeta(ctx, tx, facilityName, string(text))
}

// isInstallation refuses a database of another installation, and names one that is new. It writes
// before it reads: SQLite lets a transaction that has read write only if no other one has written.
func (e *engine) isInstallation(ctx context.Context, tx tx) error {
	named, err := json.Marshal(facility{Installation: e.installation})
	if err != nil {
		return err
	}
	if err := execute(ctx, tx, "INSERT INTO quickstream.meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", facilityName, string(named)); err != nil {
		return err
	}
	stored, err := readFacility(ctx, tx)
	if err == nil && stored.Installation != e.installation {
		err = &FacilityError{"installation", stored.Installation, e.installation}
	}
	return err
}

// isFacility refuses a claim unless the service is that of the installation. The service was asked
// by confirm before.
func (e *engine) isFacility(ctx context.Context, tx tx) error {
	changed, err := e.compareFacility(ctx, tx)
	if err == nil && changed {
		err = storeFacility(ctx, tx, *e.confirmed.Load())
	}
	return err
}

// compareFacility compares the facility of this program with that of the installation. changed means
// that it is to be stored: before the first claim, and when there is a new business.
func (e *engine) compareFacility(ctx context.Context, tx tx) (changed bool, err error) {
	here := e.confirmed.Load()
	if here == nil {
		return false, errNotConfirmed
	}
	stored, err := readFacility(ctx, tx)
	shared := func(business string) bool { return slices.Contains(here.Businesses, business) }
	switch {
	case err != nil:
		return false, err
	case stored.Installation != e.installation:
		return false, &FacilityError{"installation", stored.Installation, e.installation}
	case stored.Address == "":
		return true, nil
	case stored.Address != here.Address:
		return false, &FacilityError{"address", stored.Address, here.Address}
	case !slices.ContainsFunc(here.Businesses, func(business string) bool { return !slices.Contains(stored.Businesses, business) }):
		return false, nil
	case len(stored.Businesses) > 0 && !slices.ContainsFunc(stored.Businesses, shared):
		return false, &FacilityError{"businesses", fmt.Sprint(stored.Businesses), fmt.Sprint(here.Businesses)}
	default:
		return true, nil
	}
}

// confirmPause is how long the service is not asked again after it could not be read.
const confirmPause = 5 * time.Second

// confirm reads the businesses of the service, once in a process. A key that may pay need not be
// allowed to read them: then the address alone is compared.
func (e *engine) confirm(ctx context.Context) error {
	e.confirming.Lock()
	defer e.confirming.Unlock()
	if e.confirmed.Load() != nil {
		return nil
	}
	if e.clock().Before(e.confirmNext) { // each write asks
		return errNotConfirmed
	}
	e.confirmNext = e.clock().Add(confirmPause)
	here := facility{Installation: e.installation, Address: fmt.Sprint(e.client)}
	answer, keepTime := e.serviceTime()
	defer keepTime()
	for business, err := range e.client.Businesses.List(answer).All(ctx) {
		switch {
		case err == nil:
			here.Businesses = append(here.Businesses, business.SupplierBusinessCode)
		case isNone(err) || errors.Is(err, quickstream.ErrForbidden) && ownWords(err):
			here.Businesses = nil
		default:
			return fmt.Errorf("%w: %w", errNotConfirmed, err)
		}
	}
	slices.Sort(here.Businesses)
	e.confirmed.Store(&here)
	return nil
}

// ConfirmFacility says that the installation has moved to the address and the businesses of this
// program's client. by and note are as in [Decision].
func (e *Engine[TTx]) ConfirmFacility(ctx context.Context, by, note string) error {
	if err := checkPerson(by, note); err != nil {
		return err
	}
	if err := e.confirm(ctx); err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	err := within(ctx, e.db, func(tx tx) error {
		if err := e.record(ctx, tx, &row{Record: Record{ID: ""}}, Event{Kind: EventFacilityConfirmed, By: by, Note: note}); err != nil {
			return err
		}
		return storeFacility(ctx, tx, *e.confirmed.Load())
	})
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	return nil
}
