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

// faultRequest is a fault as JSON. What a kind does not need is ignored.
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

// fault is a kind of fault. Those with a name are on the page, which says what a program sees of the next payment.
// None keeps a request from being sent: a port cannot undo its own accept.
type fault struct {
	Kind, Name, Sees string
	page             faultRequest // what the page asks for
	of               func(in faultRequest) sandbox.FaultKind
}

func faults() []fault {
	simple := func(kind sandbox.FaultKind) func(faultRequest) sandbox.FaultKind {
		return func(faultRequest) sandbox.FaultKind { return kind }
	}
	return []fault{
		{Kind: "ResetAfterCommit", Name: "lost answer", Sees: "The payment is made, and the connection ends without an answer. A program that sends it again under another key charges twice: it has to look up the order.", of: simple(sandbox.ResetAfterCommit())},
		{Kind: "ResetBeforeCommit", Name: "lost request", Sees: "The connection ends before the payment is made. A program sees the same as of a lost answer, and nothing was charged.", of: simple(sandbox.ResetBeforeCommit())},
		{Kind: "HangAfterCommit", Name: "no answer", Sees: "The payment is made, and no answer comes until the program's own time limit.", of: simple(sandbox.HangAfterCommit())},
		{
			Kind: "StatusAfterCommit", Name: "gateway error", Sees: "The payment is made, and a gateway answers 502 with a page in HTML. That is no refusal.",
			page: faultRequest{Status: http.StatusBadGateway, Body: sandbox.HTML},
			of: func(in faultRequest) sandbox.FaultKind {
				return sandbox.StatusAfterCommit(in.Status, in.Body)
			},
		},
		{
			Kind: "Status", Name: "not processed", Sees: "The service answers 503 in its own error body: nothing was charged, and the next attempt needs another idempotency key.",
			page: faultRequest{Status: http.StatusServiceUnavailable, Body: sandbox.ServiceError},
			of:   func(in faultRequest) sandbox.FaultKind { return sandbox.Status(in.Status, in.Body) },
		},
		{
			Kind: "RateLimited", Name: "too many requests", Sees: "The service answers 429, and says to wait a second. Nothing was charged.", page: faultRequest{RetryAfter: "1"},
			of: func(in faultRequest) sandbox.FaultKind { return sandbox.RateLimited(in.RetryAfter) },
		},
		{
			Kind: "TruncatedBody", Name: "broken answer", Sees: "The payment is made, and the answer ends in the middle.", page: faultRequest{Bytes: 60},
			of: func(in faultRequest) sandbox.FaultKind { return sandbox.TruncatedBody(in.Bytes) },
		},
		{Kind: "DelayAfterCommit", of: func(in faultRequest) sandbox.FaultKind { return sandbox.DelayAfterCommit(time.Duration(in.Delay)) }},
		{Kind: "Garbage", of: func(in faultRequest) sandbox.FaultKind { return sandbox.Garbage(in.Body) }},
	}
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
	in.Body = cmp.Or(in.Body, sandbox.ServiceError)
	list := faults()
	i := slices.IndexFunc(list, func(f fault) bool { return f.Kind == in.Kind })
	switch {
	case i < 0:
		return nil, fmt.Errorf("no kind of fault %q", in.Kind)
	case !slices.Contains(bodyKinds(), in.Body):
		return nil, fmt.Errorf("no kind of body %q", in.Body)
	case list[i].page.Status != 0 && (in.Status < 100 || in.Status > 999):
		return nil, errors.New("this kind of fault needs a status")
	}
	err := c.box.Inject(sandbox.Fault{Operation: in.Operation, Nth: in.Nth, Times: in.Times, Probability: in.Probability, Kind: list[i].of(in)})
	return c.box.FaultCounts(), err
}

// breakNext has the next payment meet a fault of the page.
func (c *control) breakNext(name string) error {
	for _, f := range pageFaults() {
		if f.Name == name {
			return c.box.Inject(sandbox.Fault{Operation: paymentOperation, Nth: 1, Kind: f.of(f.page)})
		}
	}
	return fmt.Errorf("there is no fault %q", name)
}

func pageFaults() []fault {
	return slices.DeleteFunc(faults(), func(f fault) bool { return f.Name == "" })
}
