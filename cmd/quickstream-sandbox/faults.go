package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// faultRequest is a fault as JSON. Members that a kind does not need are ignored.
type faultRequest struct {
	Operation   string           `json:"operation"` // such as "POST /transactions"
	Nth         int              `json:"nth"`
	Times       int              `json:"times"`
	Probability float64          `json:"probability"`
	Kind        string           `json:"kind"` // such as "ResetAfterCommit"
	Delay       duration         `json:"delay"`
	Bytes       int              `json:"bytes"`
	Status      int              `json:"status"`
	Body        sandbox.BodyKind `json:"body"`
	RetryAfter  string           `json:"retryAfter"`
}

// faultKinds are the kinds of fault by name. None keeps a request from being sent: a server cannot refuse a connection that it has accepted.
func faultKinds() map[string]func(faultRequest) sandbox.FaultKind {
	return map[string]func(faultRequest) sandbox.FaultKind{
		"ResetBeforeCommit": func(faultRequest) sandbox.FaultKind { return sandbox.ResetBeforeCommit() },
		"ResetAfterCommit":  func(faultRequest) sandbox.FaultKind { return sandbox.ResetAfterCommit() },
		"HangAfterCommit":   func(faultRequest) sandbox.FaultKind { return sandbox.HangAfterCommit() },
		"DelayAfterCommit":  func(in faultRequest) sandbox.FaultKind { return sandbox.DelayAfterCommit(time.Duration(in.Delay)) },
		"Status":            func(in faultRequest) sandbox.FaultKind { return sandbox.Status(in.Status, in.Body) },
		"StatusAfterCommit": func(in faultRequest) sandbox.FaultKind { return sandbox.StatusAfterCommit(in.Status, in.Body) },
		"RateLimited":       func(in faultRequest) sandbox.FaultKind { return sandbox.RateLimited(in.RetryAfter) },
		"TruncatedBody":     func(in faultRequest) sandbox.FaultKind { return sandbox.TruncatedBody(in.Bytes) },
		"Garbage":           func(in faultRequest) sandbox.FaultKind { return sandbox.Garbage(in.Body) },
	}
}

func (c *control) injectFault(r *http.Request) (any, error) {
	var in faultRequest
	if err := body(r, &in); err != nil {
		return nil, err
	}
	err := c.inject(in)
	return c.box.FaultCounts(), err
}

func (c *control) inject(in faultRequest) error {
	in.Body = cmp.Or(in.Body, sandbox.ServiceError)
	kind, bodies := faultKinds()[in.Kind], []sandbox.BodyKind{
		sandbox.ServiceError, sandbox.HTML, sandbox.Empty, sandbox.BrokenJSON, sandbox.GatewayError, sandbox.ErrorList, sandbox.DuplicateMembers,
	}
	switch {
	case kind == nil:
		return fmt.Errorf("no kind of fault %q", in.Kind)
	case !slices.Contains(bodies, in.Body):
		return fmt.Errorf("no kind of body %q", in.Body)
	case (in.Kind == "Status" || in.Kind == "StatusAfterCommit") && (in.Status < 100 || in.Status > 999):
		return errors.New("this kind of fault needs a status")
	}
	return c.box.Inject(sandbox.Fault{Operation: in.Operation, Nth: in.Nth, Times: in.Times, Probability: in.Probability, Kind: kind(in)})
}

// switchOn makes the next payment meet a kind of fault, and no other fault.
func (p *pages) switchOn(kind string) error {
	in := faultRequest{Operation: paymentOperation, Nth: 1, Kind: kind, Status: http.StatusServiceUnavailable, Bytes: 60, RetryAfter: "1"}
	if kind == "StatusAfterCommit" {
		in.Status, in.Body = http.StatusBadGateway, sandbox.HTML
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.box.ClearFaults()
	p.on, p.struck = kind, p.box.FaultCounts()[kind]
	return p.inject(in)
}

// faultOn returns the kind of fault that is switched on, or "". The next payment ends it.
func (p *pages) faultOn() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.box.WaitingFaults() == 0 || p.box.FaultCounts()[p.on] > p.struck {
		return ""
	}
	return p.on
}
