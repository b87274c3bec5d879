package quickstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	// Route is the path below the environment's address, with a name in braces for each identifier,
	// such as "/customers/{customerId}/notes". Errors, logs and observers show it.
	Route string
	// Path holds the identifiers in the order of Route. They are escaped and never shown.
	Path  []string
	Query url.Values
	// Body is sent as JSON; nil for none. It must not contain a Secret. Printing a [Request] shows
	// it.
	Body any
	// Publishable sends the publishable key in place of the secret one.
	Publishable bool
}

// Do calls an operation that has no method, with the keys, options, errors, logs and observers of
// methods. A write that has a method, and a Route that leaves the environment's address, are a
// [ValidationError], which [WithoutRule] does not switch off.
//
// A GET is repeated as usual. Any other request that may have arrived is never sent again, and a
// lost answer is an [UnknownOutcomeError]: read the object that it changes before you repeat it.
//
// The JSON of a success replaces the value that into points to, unless into is nil; a 204 sets it
// to zero. A duplicate member and text that is not UTF-8 are errors. If into is an [io.Writer],
// such as a file for a report, the body of a GET is written to it as it arrives, and an answer of
// 202 matches [ErrReportNotReady]. After an error discard the bytes written.
func (c *Client) Do(ctx context.Context, request Request, into any, opts ...CallOption) error {
	call := c.beginRequest(request, into, opts)
	if to, ok := into.(io.Writer); ok {
		_, err := call.fetch(ctx, &download{to: to, anyForm: true})
		return err
	}
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

func (c *Client) beginRequest(r Request, into any, opts []CallOption) *call {
	op := operation{
		name: "Do", method: r.Method, route: r.Route, class: transport.Change, also: http.StatusAccepted,
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
	refused := &call{client: c, op: operation{name: op.name}} // without the route, which may hold values
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

// routeForm excludes identifiers, and parts that a server may take for another path, such as
// "transactions.json".
var routeForm = regexp.MustCompile(`^(/([A-Za-z][\w-]*|\{[A-Za-z]\w*\}))+$`)

func (r Request) check(f *findings, into any) {
	methods := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	f.require(slices.Contains(methods, r.Method), "request.method", "(method)", "must be GET, POST, PUT, PATCH or DELETE")
	f.require(routeForm.MatchString(r.Route), "request.route", "(route)",
		"must be a path such as /customers/{customerId}/notes, of words that begin with a letter and names in braces")
	f.require(strings.Count(r.Route, "{") == len(r.Path), "request.path", "(path)", "must have an identifier for each name in the route")
	f.require(r.Body == nil || r.Method != http.MethodGet, "request.body", "(body)", "must be nil for a GET")
	target := reflect.ValueOf(into)
	pointer := target.Kind() == reflect.Pointer
	_, writer := into.(io.Writer)
	f.require(into == nil || pointer && !target.IsNil() || writer && !pointer, "request.into", "(into)", "must be a pointer to a value, an io.Writer or nil")
	f.require(!writer || r.Method == http.MethodGet, "request.into", "(into)", "must be no io.Writer unless it is a GET")
}

// decodeAny decodes into a caller's type. Its errors, unlike other decoders', show nothing of the
// body.
func decodeAny(body []byte, into any) error {
	if err := wire.Unambiguous(body); err != nil {
		return err
	}
	err := json.Unmarshal(body, into)
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return errors.New("a member of the answer does not fit a " + kind.Type.String())
	} else if err != nil {
		return errors.New("the answer does not fit a " + reflect.TypeOf(into).Elem().String())
	}
	return nil
}

// extraField is a member of WithExtraField.
type extraField struct {
	path    []string
	value   json.RawMessage
	anyName bool // of OtherAccount: it may have a name that the parameters have
}

// WithExtraField adds a member that the parameters lack to the request. Name is its path, such as
// "creditCard.newMember". A member that this package sends is refused, also in another letter case.
//
// An intent stores the name of the member, but not its value: give the option to Submit as well.
func WithExtraField(name string, value any) CallOption {
	return callOption(func(c *callConfig) error {
		path := strings.Split(name, ".")
		for _, part := range path {
			if part == "" {
				return errors.New("WithExtraField: the name is empty or has an empty part")
			}
		}
		encoded, err := wire.Encode(value)
		if err = cmp.Or(wire.CheckText(name), err); err != nil {
			return fmt.Errorf("WithExtraField: %w", err)
		}
		c.extra = append(c.extra[:len(c.extra):len(c.extra)], extraField{path: path, value: encoded})
		return nil
	})
}

// extraNames returns the names of the members of WithExtraField.
func (c *callConfig) extraNames() (names []string) {
	for _, field := range c.extra {
		names = append(names, strings.Join(field.path, "."))
	}
	slices.Sort(names)
	return names
}

// withExtra returns the body with the members of WithExtraField.
func (c *call) withExtra(body []byte) []byte {
	for _, field := range c.config.extra {
		model := reflect.TypeOf(c.body)
		if field.anyName {
			model = nil
		}
		longer, err := wire.SetMember(body, field.path, field.value, model)
		if err != nil {
			c.refuse(fmt.Errorf("option WithExtraField: %w", err))
			return body
		}
		body = longer
	}
	return body
}
