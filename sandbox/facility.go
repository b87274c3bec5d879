package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Facility is what was observed of a facility of the real service: the content of facility.json,
// which quickstream-conform writes. It holds no key, no identifier and no personal data.
//
// It sets the world of a sandbox. It is never a reason to change a client: one observation must
// not widen a window or drop a check.
type Facility struct {
	Format int       `json:"format"` // FacilityFormat
	Host   string    `json:"host"`
	Seen   time.Time `json:"seen"`
	// Tool is the version of the program that wrote it.
	Tool     string            `json:"tool"`
	Findings []FacilityFinding `json:"findings"`
	// SignatureScheme is how notifications are signed, as quickstream-conform names it; "none
	// fits" if no plausible scheme does; empty if that was not asked.
	SignatureScheme string `json:"signatureScheme,omitempty"`
}

// FacilityFormat is the format of the file that this version reads.
const FacilityFormat = 1

// FacilityFinding is what was found about one assumption. Exactly one of Value, Other and Open is
// set, and only a Value sets the assumption of a sandbox.
type FacilityFinding struct {
	// Name is the name of the assumption, a field of [Assumptions].
	Name string `json:"name"`
	// Value is the value that the facility has, as [Assumptions.Set] takes it. A duration was seen
	// once, and may be longer at another time.
	Value string `json:"value,omitempty"`
	// Other describes what the facility does, if no value of the assumption is that.
	Other string `json:"other,omitempty"`
	// Open is why nothing is known: a flag or more time is needed, or something else hides it.
	Open string `json:"open,omitempty"`
	// How is what was done to find out, and At is when.
	How string    `json:"how"`
	At  time.Time `json:"at"`
}

// ReadFacility reads a facility.json. A value that the sandbox cannot have is an error.
func ReadFacility(r io.Reader) (Facility, error) {
	var f Facility
	if err := json.NewDecoder(r).Decode(&f); err != nil {
		return Facility{}, fmt.Errorf("sandbox: facility: %w", err)
	}
	if f.Format != FacilityFormat {
		return Facility{}, errors.New("sandbox: facility: another format; use the version that wrote it")
	}
	tried := DefaultAssumptions()
	return f, f.apply(&tried)
}

func (f Facility) apply(a *Assumptions) error {
	for _, finding := range f.Findings {
		if finding.Value == "" {
			continue
		}
		if err := a.Set(finding.Name, finding.Value); err != nil {
			return fmt.Errorf("facility: %w", err)
		}
	}
	return nil
}

// Value returns the value that was found for an assumption, and false if it was not.
func (f Facility) Value(name string) (value string, found bool) {
	for _, finding := range f.Findings {
		if finding.Name == name && finding.Value != "" {
			return finding.Value, true
		}
	}
	return "", false
}

// WithFacility sets the assumptions to what was observed. Those that stay open, and forms
// that the sandbox does not have, keep their defaults.
func WithFacility(f Facility) Option {
	return WithAssumptions(func(a *Assumptions) { _ = f.apply(a) }) // ReadFacility has tried it
}
