package durable

import (
	"context"
	"encoding/json"
	"fmt"
)

// facilityName is the name under which the facility of the installation is stored.
const facilityName = "facility"

// facility is the installation's name, and the address of the service that it belongs to.
type facility struct {
	Installation string `json:"installation"`
	Address      string `json:"address"`
}

// here returns the facility of this program. The client puts its address into every intent.
func (e *engine) here() facility { return facility{e.installation, e.address} }

// belongs refuses a database of another installation, and names a new one. To send, the address must be the same too. It
// writes before it reads: SQLite lets a transaction that has read write only if no other one has written since.
func (e *engine) belongs(ctx context.Context, tx tx, sends bool) error {
	here, err := json.Marshal(e.here())
	if err == nil {
		err = execute(ctx, tx, "INSERT INTO quickstream.meta (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING", facilityName, string(here))
	}
	if err != nil {
		return err
	}
	text, err := meta(ctx, tx, facilityName)
	if err != nil {
		return err
	}
	return e.differs(text, sends)
}

// differs compares this program with the stored facility. A program at another address may accept writes, but not send them.
func (e *engine) differs(text string, sends bool) error {
	var stored facility
	if err := json.Unmarshal([]byte(text), &stored); err != nil {
		return err
	}
	switch here := e.here(); {
	case stored.Installation != here.Installation:
		return fmt.Errorf("%w: installation %q, and this program has %q", ErrFacility, stored.Installation, here.Installation)
	case stored.Address != here.Address && sends:
		return fmt.Errorf("%w: address %q, and this program has %q", ErrFacility, stored.Address, here.Address)
	default:
		return nil
	}
}

// ConfirmFacility says that the installation has moved to the address of this program's client, where its open writes are
// looked up and sent from now on. Stop all programs with the old address first: they would store writes for that one. by and
// note are as in [Decision].
func (e *Engine[TTx]) ConfirmFacility(ctx context.Context, by, note string) error {
	return e.decides(ctx, facilityName, Event{Kind: EventFacilityConfirmed, By: by, Note: note}, func(tx tx, _ *gates) (any, error) {
		return e.here(), e.move(ctx, tx)
	})
}

// move changes the address in the intents of all writes that are not over.
func (e *engine) move(ctx context.Context, tx tx) error {
	var open []*row
	err := e.each(ctx, tx, func(r *row) {
		if r.unreadable == nil {
			open = append(open, r)
		}
	}, "(next_at IS NOT NULL OR "+pursued()+") ORDER BY id"+e.dialect.ForUpdate)
	for _, r := range open {
		if err == nil {
			moved := *r
			moved.intent.Environment, moved.lookups.Intent.Environment = e.address, e.address
			err = e.save(ctx, tx, r, &moved)
		}
	}
	return err
}
