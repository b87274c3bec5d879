package durable

import (
	"context"
	"encoding/json"
	"fmt"
)

// facilityName is the name under which the facility of the installation stands.
const facilityName = "facility"

// facility is what an installation belongs to: its name, and the address of the service.
type facility struct {
	Installation string `json:"installation"`
	Address      string `json:"address"`
}

// here is what this program belongs to. The client names its address in every intent.
func (e *engine) here() facility { return facility{e.installation, e.address} }

// belongs refuses a database of another installation, and names one that is new. To send it must be at the same address
// too. It writes before it reads: SQLite lets a transaction that has read write only if no other one has written.
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

// differs compares this program with what is stored. A program at another address may accept writes, and not send them.
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

// ConfirmFacility says that the installation has moved to the address of this program's client. by and note
// are as in [Decision].
func (e *Engine[TTx]) ConfirmFacility(ctx context.Context, by, note string) error {
	return e.decides(ctx, facilityName, Event{Kind: EventFacilityConfirmed, By: by, Note: note}, func(tx, *gates) (any, error) {
		return e.here(), nil
	})
}
