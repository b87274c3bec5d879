package main

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// faultRequest is a fault as JSON. What a kind does not need is ignored.
type faultRequest struct {
	Operation   string  `json:"operation"` // such as "POST /transactions"
	Nth         int     `json:"nth"`
	Times       int     `json:"times"`
	Probability float64 `json:"probability"`
	Kind        string  `json:"kind"` // such as "ResetAfterCommit"
	Delay       string  `json:"delay"`
	Bytes       int     `json:"bytes"`
	Status      int     `json:"status"`
	Body        string  `json:"body"` // ServiceError, HTML, Empty, BrokenJSON, GatewayError, ErrorList or DuplicateMembers
	RetryAfter  string  `json:"retryAfter"`
	Location    string  `json:"location"`
}

// faultKindNames are those that faultKind reads.
const faultKindNames = "ResetBeforeCommit, ResetAfterCommit, HangBeforeCommit, HangAfterCommit, DelayBeforeCommit, DelayAfterCommit, " +
	"CommitLate, SlowBody, TruncatedBody, RateLimited, Garbage, Redirect, Status, StatusAfterCommit"

func (c *control) faults(*http.Request) (any, error) { return c.box.FaultCounts(), nil }

func (c *control) clearFaults(*http.Request) (any, error) {
	c.box.ClearFaults()
	return c.box.FaultCounts(), nil
}

func (c *control) injectFault(r *http.Request) (any, error) {
	var in faultRequest
	if err := body(r, &in); err != nil {
		return nil, err
	}
	kind, err := in.faultKind()
	if err != nil {
		return nil, err
	}
	err = c.box.Inject(sandbox.Fault{Operation: in.Operation, Nth: in.Nth, Times: in.Times, Probability: in.Probability, Kind: kind})
	return c.box.FaultCounts(), err
}

// faultKind leaves out the kinds that keep a request from being sent: a port
// cannot undo its own accept.
func (in faultRequest) faultKind() (kind sandbox.FaultKind, err error) {
	var delay time.Duration
	if in.Delay != "" {
		if delay, err = duration(in.Delay); err != nil {
			return kind, err
		}
	}
	content, err := in.bodyKind()
	if err != nil {
		return kind, err
	}
	switch in.Kind {
	case "ResetBeforeCommit":
		return sandbox.ResetBeforeCommit(), nil
	case "ResetAfterCommit":
		return sandbox.ResetAfterCommit(), nil
	case "HangBeforeCommit":
		return sandbox.HangBeforeCommit(), nil
	case "HangAfterCommit":
		return sandbox.HangAfterCommit(), nil
	case "DelayBeforeCommit":
		return sandbox.DelayBeforeCommit(delay), nil
	case "DelayAfterCommit":
		return sandbox.DelayAfterCommit(delay), nil
	case "CommitLate":
		return sandbox.CommitLate(delay), nil
	case "SlowBody":
		return sandbox.SlowBody(in.Bytes), nil
	case "TruncatedBody":
		return sandbox.TruncatedBody(in.Bytes), nil
	case "RateLimited":
		return sandbox.RateLimited(in.RetryAfter), nil
	case "Garbage":
		return sandbox.Garbage(content), nil
	}
	if in.Status < 100 || in.Status > 999 {
		return kind, fmt.Errorf("no kind of fault %q, or one that needs a status", in.Kind)
	}
	switch in.Kind {
	case "Redirect":
		return sandbox.Redirect(in.Status, in.Location), nil
	case "Status":
		return sandbox.Status(in.Status, content), nil
	case "StatusAfterCommit":
		return sandbox.StatusAfterCommit(in.Status, content), nil
	default:
		return kind, fmt.Errorf("no kind of fault %q", in.Kind)
	}
}

//nolint:gochecknoglobals // an immutable table
var bodyKinds = []sandbox.BodyKind{
	sandbox.ServiceError, sandbox.HTML, sandbox.Empty, sandbox.BrokenJSON, sandbox.GatewayError, sandbox.ErrorList,
	sandbox.DuplicateMembers,
}

func (in faultRequest) bodyKind() (sandbox.BodyKind, error) {
	kind := sandbox.BodyKind(cmp.Or(in.Body, string(sandbox.ServiceError)))
	if !slices.Contains(bodyKinds, kind) {
		return "", fmt.Errorf("no kind of body %q", in.Body)
	}
	return kind, nil
}
