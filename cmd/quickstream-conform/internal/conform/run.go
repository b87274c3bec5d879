package conform

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// Report is what a run has found.
type Report struct {
	sandbox.Facility
	Requests int
	// Left is what has not been undone yet, by the references that the run gave it: [Clean] does it.
	Left []string
}

// shortest is how long a run takes that waits for nothing.
const shortest = 6 * time.Minute

// Run asks the questions that have no answer in the journal, undoes what it has made, and returns
// the answers. After an error the report holds what was found before.
func Run(ctx context.Context, cfg Config) (Report, error) {
	s, err := newSession(ctx, cfg)
	if err != nil {
		return Report{}, err
	}
	s.greet()
	if s.err == nil {
		s.until = time.Now().Add(max(cfg.Wait, shortest))
		s.run()
	}
	if s.cleaning = true; errors.Is(s.err, errUsedUp) {
		s.err = nil
		s.rest("the 300 requests of a run are used up")
	}
	s.until = time.Now().Add(max(time.Until(s.until), time.Minute))
	asked := s.err
	report := s.report()
	s.err = nil
	report.Left = s.clean()
	report.Requests = s.asked
	s.keep()
	return report, errors.Join(asked, s.err)
}

// Clean undoes what an interrupted run has made, and asks nothing. It returns what is left, by the
// references that the run gave it. It makes at most 300 requests, whatever the run has made.
func Clean(ctx context.Context, cfg Config) (left []string, err error) {
	s, err := newSession(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s.cleaning = true
	s.greet()
	s.until = time.Now().Add(max(cfg.Wait, time.Minute))
	left = s.clean()
	s.keep()
	return left, s.err
}

// Left names what the journal of an earlier run lists as made and not undone.
func Left(cfg Config) ([]string, error) {
	cfg, base, err := cfg.filled()
	if err != nil {
		return nil, err
	}
	j, err := openJournal(cfg.Journal, base.Host, time.Now())
	if err != nil {
		return nil, err
	}
	return j.remaining(), nil
}

// greet checks the key, and finds the business.
func (s *session) greet() {
	if a := s.get("/", nil); !a.accepted() && s.err == nil {
		s.err = fmt.Errorf("conform: the service does not accept the secret key: status %d", a.status)
	}
	if s.business != "" || s.err != nil {
		return
	}
	for _, item := range s.get("/businesses", nil).body.get("data").items {
		if s.business = item.get("supplierBusinessCode").text; s.business != "" {
			return
		}
	}
	if s.err == nil {
		s.err = errors.New("conform: no business was found; name one with -business")
	}
}

// run asks everything: first what needs only an answer, then what is read later, then what needs
// days.
func (s *session) run() {
	s.ask(immediate()...)
	s.begin("LookupLag")
	s.specimens()
	s.startRetries()
	if s.cfg.Webhooks != nil {
		s.ask(row("Events"))
	}
	s.begin("KeyLifetime", "PayToApprovedAfter", "BankReturnAfter")
	s.planDays()
	s.watch()
	s.rest("")
}

// rest says of what has no answer why; all names a reason that holds for all.
func (s *session) rest(all string) {
	if s.err != nil {
		return
	}
	for _, o := range onsets() {
		if w, begun := s.windows[o.name]; begun && s.Findings[o.name].Name == "" {
			why := fmt.Sprintf("not before %s", brief(max(w.before, 0)))
			if w.looked < len(o.ages) {
				why += "; needs -wait " + brief(o.ages[len(o.ages)-1].Round(time.Hour))
			}
			s.waiting(o.name, o.how, why)
		} else if all != "" {
			s.waiting(o.name, o.how, all)
		}
	}
	for _, p := range table() {
		for _, name := range p.names {
			switch {
			case all != "":
				s.waiting(name, p.how, all)
			case p.later != "":
				s.waiting(name, p.how, p.later)
			}
		}
	}
}

// waiting says why a question has no answer, in the report only: a later run asks it again.
func (s *session) waiting(name, how, why string) {
	if s.Findings[name].Name == "" && !slices.ContainsFunc(s.later, func(f sandbox.FacilityFinding) bool { return f.Name == name }) {
		s.later = append(s.later, sandbox.FacilityFinding{Name: name, Open: why, How: how, At: time.Now().UTC()})
	}
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Path + " " + info.Main.Version
}

// report is what has been found so far, in the order of the assumptions.
func (s *session) report() Report {
	f := sandbox.Facility{
		Format: sandbox.FacilityFormat, Host: s.base.Hostname(), Seen: time.Now().UTC(), Tool: version(), SignatureScheme: s.Scheme,
	}
	for _, a := range sandbox.DefaultAssumptions().List() {
		if finding := s.Findings[a.Name]; finding.Name != "" {
			f.Findings = append(f.Findings, finding)
			continue
		}
		for _, finding := range s.later {
			if finding.Name == a.Name {
				f.Findings = append(f.Findings, finding)
			}
		}
	}
	return Report{Facility: f}
}
