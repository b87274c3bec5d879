package conform

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Facility is what was observed of a facility of the real service: the content of facility.json, which
// sandbox.ReadFacility reads. It holds no key, no identifier and no personal data.
type Facility struct {
	Format   int       `json:"format"` // of the file: 1
	Host     string    `json:"host"`
	Seen     time.Time `json:"seen"`
	Tool     string    `json:"tool"` // version of the program that wrote it
	Findings []Finding `json:"findings"`
	// SignatureScheme is how notifications are signed; "none fits" if no plausible scheme does; empty if
	// that was not asked.
	SignatureScheme string `json:"signatureScheme,omitempty"`
}

// Finding is what was found about one assumption. Exactly one of Value, Other and Open is set.
type Finding struct {
	Name  string    `json:"name"`            // of the assumption
	Value string    `json:"value,omitempty"` // as the assumption has it
	Other string    `json:"other,omitempty"` // what the facility does, if no value of the assumption is that
	Open  string    `json:"open,omitempty"`  // why nothing is known
	How   string    `json:"how"`             // what was done to find out
	At    time.Time `json:"at"`
}

// Report is what a run has found.
type Report struct {
	Facility
	// Left is what has not been undone yet, by the references that the run gave it. The next run undoes it.
	Left []string
}

// shortest is how long a run takes that waits for nothing.
const shortest = 8 * time.Minute

// Run undoes what an interrupted run has left, asks the questions, undoes what it has made, and returns the
// answers. After an error the report holds what was found before.
func Run(ctx context.Context, cfg Config) (report Report, err error) {
	s, err := newSession(ctx, cfg)
	if err != nil {
		return report, err
	}
	s.until = s.begun.Add(max(cfg.Wait, shortest))
	if s.greet(); s.err == nil && !cfg.Clean {
		s.undo()
		report.Facility = s.ask()
	}
	if errors.Is(s.err, errUsedUp) {
		s.err = nil
	}
	asked := s.err
	s.cleaning, s.err = true, nil
	s.until = time.Now().Add(max(time.Until(s.until), time.Minute))
	report.Left = s.clean()
	return report, errors.Join(asked, s.err)
}

// greet checks the key, and finds the business.
func (s *session) greet() {
	if a := s.get("/", nil); !a.accepted() && s.err == nil {
		s.err = fmt.Errorf("conform: the service does not accept the secret key: status %d", a.status)
	}
	if s.business != "" || s.err != nil {
		return
	}
	for _, item := range s.get("/businesses", nil).body.get("data").items() {
		if s.business = item.get("supplierBusinessCode").text(); s.business != "" {
			return
		}
	}
	if s.err == nil {
		s.err = errors.New("conform: no business was found; name one with -business")
	}
}
