// Package conform asks a test facility of the service the questions that its public contract leaves
// open, and writes the answers into a file that sets the world of a sandbox.
//
// [Run] makes at most 300 requests, at most one a second, with public test numbers and amounts of a
// few dollars, and undoes everything that it makes. It writes each thing into the journal before it sends the
// request, so that the next run can undo what an interrupted one has left.
//
// The answer to a question is a value of the assumption, a description of another behaviour, or the
// reason why it stays open: never the nearest value.
package conform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/loopback"
)

// Config is what a run needs. Environment, SecretKey, Journal and Progress are required.
type Config struct {
	// Environment is TestAU, TestNZ or an address on this machine. Run asks no other.
	Environment quickstream.Environment
	SecretKey   string
	// Business is the supplierBusinessCode; empty takes the first of the facility.
	Business string
	// Journal is the path of the file that lists what was made.
	Journal string
	// Clean asks nothing, and undoes what earlier runs have left.
	Clean bool
	// Wait is how long the run may take, for questions that need time; less than 8 minutes counts as 8.
	Wait time.Duration
	// Webhooks receives the notifications of a subscription of the facility.
	Webhooks *Receiver
	// HTTPClient connects; its transport is used. Progress is called after each request.
	HTTPClient *http.Client
	Progress   func(requests int)
}

// address returns the address of an environment. It is an error if that may not be asked.
func address(env quickstream.Environment) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSuffix(string(env), "/"))
	test := env == quickstream.TestAU || env == quickstream.TestNZ
	local := err == nil && loopback.IsHost(u.Hostname()) && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil && u.RawQuery == ""
	if !test && !local {
		return nil, errors.New("conform: only TestAU, TestNZ and addresses on this machine are asked")
	}
	return u, nil
}

// shortest is how long a run takes if it waits for nothing.
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
	a := s.get("/", nil)
	if s.business == "" && a.accepted() {
		for _, item := range s.get("/businesses", nil).body.get("data").items() {
			s.business = cmp.Or(s.business, item.get("supplierBusinessCode").text())
		}
	}
	switch {
	case s.err != nil:
	case !a.accepted():
		s.err = fmt.Errorf("conform: the service does not accept the secret key: status %d", a.status)
	case s.business == "":
		s.err = errors.New("conform: no business was found; name one with -business")
	}
}
