package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// faultRequest is a fault as JSON. What a kind does not need is ignored.
type faultRequest struct {
	Operation   string           `json:"operation"` // such as "POST /transactions"
	Nth         int              `json:"nth"`
	Times       int              `json:"times"`
	Probability float64          `json:"probability"`
	Kind        string           `json:"kind"` // such as "ResetAfterCommit"
	Delay       string           `json:"delay"`
	Bytes       int              `json:"bytes"`
	Status      int              `json:"status"`
	Body        sandbox.BodyKind `json:"body"`
	RetryAfter  string           `json:"retryAfter"`
	Location    string           `json:"location"`
}

// faultKinds leave out those that keep a request from being sent: a port cannot undo its own accept.
func (in faultRequest) faultKinds(delay time.Duration) map[string]sandbox.FaultKind {
	return map[string]sandbox.FaultKind{
		"ResetBeforeCommit": sandbox.ResetBeforeCommit(),
		"ResetAfterCommit":  sandbox.ResetAfterCommit(),
		"HangBeforeCommit":  sandbox.HangBeforeCommit(),
		"HangAfterCommit":   sandbox.HangAfterCommit(),
		"DelayBeforeCommit": sandbox.DelayBeforeCommit(delay),
		"DelayAfterCommit":  sandbox.DelayAfterCommit(delay),
		"CommitLate":        sandbox.CommitLate(delay),
		"SlowBody":          sandbox.SlowBody(in.Bytes),
		"TruncatedBody":     sandbox.TruncatedBody(in.Bytes),
		"RateLimited":       sandbox.RateLimited(in.RetryAfter),
		"Garbage":           sandbox.Garbage(in.Body),
		"Redirect":          sandbox.Redirect(in.Status, in.Location),
		"Status":            sandbox.Status(in.Status, in.Body),
		"StatusAfterCommit": sandbox.StatusAfterCommit(in.Status, in.Body),
	}
}

func faultKindNames() string {
	return strings.Join(slices.Sorted(maps.Keys(faultRequest{}.faultKinds(0))), ", ")
}

func bodyKinds() []sandbox.BodyKind {
	return []sandbox.BodyKind{
		sandbox.ServiceError, sandbox.HTML, sandbox.Empty, sandbox.BrokenJSON, sandbox.GatewayError, sandbox.ErrorList, sandbox.DuplicateMembers,
	}
}

func (c *control) injectFault(r *http.Request) (any, error) {
	var in faultRequest
	if err := body(r, &in); err != nil {
		return nil, err
	}
	delay, err := duration(cmp.Or(in.Delay, "0s"))
	if err != nil {
		return nil, err
	}
	in.Body = cmp.Or(in.Body, sandbox.ServiceError)
	kind, known := in.faultKinds(delay)[in.Kind]
	switch {
	case !known:
		return nil, fmt.Errorf("no kind of fault %q", in.Kind)
	case !slices.Contains(bodyKinds(), in.Body):
		return nil, fmt.Errorf("no kind of body %q", in.Body)
	case slices.Contains([]string{"Redirect", "Status", "StatusAfterCommit"}, in.Kind) && (in.Status < 100 || in.Status > 999):
		return nil, errors.New("this kind of fault needs a status")
	}
	err = c.box.Inject(sandbox.Fault{Operation: in.Operation, Nth: in.Nth, Times: in.Times, Probability: in.Probability, Kind: kind})
	return c.box.FaultCounts(), err
}
