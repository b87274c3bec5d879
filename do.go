package quickstream

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// Request describes a call for Do.
type Request struct {
	// Method is GET, POST, PUT, PATCH or DELETE.
	Method string
	// Route is the path below the environment's address, with a name in braces for
	// each identifier in it, such as "/customers/{customerId}/notes". Errors, logs
	// and observers show it.
	Route string
	// Path holds the identifiers, in the order of their names in Route. They are
	// escaped, and nothing shows them.
	Path  []string
	Query url.Values
	// Body is sent as JSON; nil for none. A Secret in it cannot be sent, and what
	// else it holds is shown where a [Request] is printed.
	Body any
	// Publishable sends the publishable key in place of the secret one.
	Publishable bool
}

// Do makes a call that this package has no method for, in the way of its methods:
// with their keys, options, errors, logs and observers.
//
// A GET is repeated like theirs. Any other method is not sent again after it may
// have arrived, also with an idempotency key, and ends in an [UnknownOutcomeError]
// when its answer is lost: look at what it was to change before making it again.
//
// A write that this package has a method for is refused with a [ValidationError],
// because the method knows what makes it safe. So is a Route that does not lead
// to a place below the environment's address. [WithoutRule] changes neither.
//
// The JSON of a success replaces the value that into points to, which an error
// leaves as it was. It is decoded as encoding/json does, except that an object
// which names a member twice cannot be decoded. An answer without content (204)
// leaves a zero value. With a nil into the body of a success is not looked at.
func (c *Client) Do(ctx context.Context, request Request, into any, opts ...CallOption) error {
	call := c.beginRequest(request, into, opts)
	var decoded reflect.Value
	if err := call.do(ctx, func(status int, body []byte) error {
		if into == nil {
			return nil
		}
		decoded = reflect.New(reflect.TypeOf(into).Elem())
		if status == http.StatusNoContent {
			return nil
		}
		return decodeAny(body, decoded.Interface())
	}); err != nil {
		return err
	}
	if into != nil {
		reflect.ValueOf(into).Elem().Set(decoded.Elem())
	}
	return nil
}

// beginRequest returns the call for a request that may be made.
func (c *Client) beginRequest(r Request, into any, opts []CallOption) *call {
	op := operation{
		name: "Do", method: r.Method, route: r.Route, class: transport.Change,
		findOut: "read what the request was to change; do not make it again before that is known",
	}
	switch {
	case r.Method == http.MethodGet:
		op.class = transport.Read
	case r.Method == http.MethodPost:
		op.class = transport.Post
	}
	if r.Publishable {
		op.key = publishableKey
	}
	refused := &call{client: c, op: operation{name: op.name}} // without a route, which may hold values
	if refused.check(func(f *findings) { r.check(f, into) }); refused.ended != nil {
		return refused
	}
	started := c.beginCall(op, opts, r.Path)
	started.target.RawQuery, started.body = r.Query.Encode(), r.Body
	started.check(func(f *findings) {
		f.disabled = nil // no option switches this rule off
		place := strings.TrimPrefix(started.target.Path, c.base.Path)
		f.require(!isModelledWrite(r.Method, place), "request.modelled", "(route)", "must not be that of a write which this package has a method for")
	})
	return started
}

// routeForm keeps out of routes what an identifier looks like, and what a server may
// read as another path, such as "transactions.json".
var routeForm = regexp.MustCompile(`^(/([A-Za-z][\w-]*|\{[A-Za-z]\w*\}))+$`)

func (r Request) check(f *findings, into any) {
	methods := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	f.require(slices.Contains(methods, r.Method), "request.method", "(method)", "must be GET, POST, PUT, PATCH or DELETE")
	f.require(routeForm.MatchString(r.Route), "request.route", "(route)",
		"must be a path such as /customers/{customerId}/notes, of words that begin with a letter and names in braces")
	f.require(strings.Count(r.Route, "{") == len(r.Path), "request.path", "(path)", "must have an identifier for each name in the route")
	f.require(r.Body == nil || r.Method != http.MethodGet, "request.body", "(body)", "must be nil for a GET")
	target := reflect.ValueOf(into)
	f.require(into == nil || target.Kind() == reflect.Pointer && !target.IsNil(), "request.into", "(into)", "must be a pointer to a value, or nil")
}

// decodeAny reads a body into a value of a type that is not this package's. Its
// errors show nothing of the body, which those of other decoders may.
func decodeAny(body []byte, into any) error {
	if err := wire.Unambiguous(body); err != nil {
		return err
	}
	err := json.Unmarshal(body, into)
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return errors.New(safeName(kind.Field, 4) + " does not fit a " + kind.Type.String())
	} else if err != nil {
		return errors.New("the answer does not fit a " + reflect.TypeOf(into).Elem().String())
	}
	return nil
}
