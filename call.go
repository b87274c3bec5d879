package quickstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-querystring/query"

	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// operation is what is fixed about an operation of the service.
type operation struct {
	name   string // method of the client
	method string
	route  string // path with the contract's parameter names
	key    keyKind
	class  transport.Class
	// threeDS, movesMoney and named are what the meaning of some answers depends on:
	// see transport.Call.
	threeDS, movesMoney, named bool
	// findOut says how to learn what became of a write whose answer was lost.
	findOut string
}

// call is one call on its way from a method to the transport.
type call struct {
	client *Client
	op     operation
	config callConfig
	target url.URL
	body   any               // wire struct; nil for none
	upload *transport.Upload // takes the place of body
	accept string            // JSON when empty
	sink   func(status int, header http.Header) io.Writer
	// reference is what an unknown outcome can be looked up by.
	reference string
	// settles is nil where every success settles earlier attempts.
	settles func() error
	// describe returns what is particular about the write's intent; nil where it has
	// none.
	describe func() Intent
	claim    Claim // of Submit
}

// begin applies the options of a call, and sets its path with the values for the
// route's parameters.
func (c *Client) begin(op operation, opts []CallOption, ids ...string) (*call, error) {
	started := &call{client: c, op: op, config: c.config}
	for _, o := range opts {
		if o == nil {
			return nil, started.notSent(errors.New("an option is nil"))
		}
		if err := o.applyCall(&started.config); err != nil {
			return nil, started.notSent(fmt.Errorf("option %w", err))
		}
	}
	if started.config.key != "" && op.method != http.MethodPost {
		return nil, started.notSent(errors.New("option WithIdempotencyKey: it is not a POST and carries no key"))
	}
	return started, started.path(ids...)
}

// get makes a call that reads one object.
func get[T any, P model[T]](ctx context.Context, c *Client, op operation, opts []CallOption, ids ...string) (*T, error) {
	call, err := c.begin(op, opts, ids...)
	if err != nil {
		return nil, err
	}
	return send[T, P](ctx, call)
}

// send makes a call whose answer is one object, which is nil with an error.
func send[T any, P model[T]](ctx context.Context, c *call) (*T, error) {
	object := new(T)
	if err := c.do(ctx, into[T, P](object)); err != nil {
		return nil, err
	}
	return object, nil
}

// path sets the path below the base address, with the values for the route's
// parameters in their order.
func (c *call) path(values ...string) error {
	base := c.client.base
	path, rest, escaped := base.Path, c.op.route, base.RawPath != ""
	for _, value := range values {
		before, after, _ := strings.Cut(rest, "{")
		name, tail, _ := strings.Cut(after, "}")
		if !isPathElement(value) {
			return &ValidationError{Operation: c.op.name, Findings: []Finding{{
				Rule: "path." + name, Path: name,
				Message: "must be an identifier of 1 to 255 printable ASCII characters without blanks and / \\ ? # % ;",
			}}}
		}
		path, rest = path+before+value, tail
		escaped = escaped || url.PathEscape(value) != value
	}
	c.target = *base
	c.target.Path, c.target.RawPath = path+rest, ""
	if escaped {
		c.target.RawPath = c.escapedPath(values)
	}
	return nil
}

// escapedPath returns the path where it differs from the plain one.
func (c *call) escapedPath(values []string) string {
	path := c.client.base.EscapedPath()
	rest := c.op.route
	for _, value := range values {
		before, after, _ := strings.Cut(rest, "{")
		_, tail, _ := strings.Cut(after, "}")
		path, rest = path+before+url.PathEscape(value), tail
	}
	return path + rest
}

// isPathElement reports whether an identifier can stand in a path without
// changing which resource is meant.
func isPathElement(value string) bool {
	return value != "" && value != "." && value != ".." && len(value) <= 255 && isVisible(value) && !strings.ContainsAny(value, `/\?#%;`)
}

// query adds the parameters to the address.
func (c *call) query(params any) error {
	values, err := query.Values(params)
	if err != nil {
		return fmt.Errorf("quickstream: %s: query: %w", c.op.name, err)
	}
	c.target.RawQuery = values.Encode()
	return nil
}

// at returns a copy of a read that asks for another address.
func (c *call) at(target *url.URL) *call {
	moved := *c
	moved.target = *target
	return &moved
}

// do sends the call and turns what came of it into an error or nil. decode is
// given the body of a success; its error makes the answer count as undecodable.
func (c *call) do(ctx context.Context, decode func(status int, body []byte) error) error {
	body, err := c.encode()
	if err != nil {
		return err
	}
	accept := c.accept
	if accept == "" {
		accept = "application/json"
	}
	var before func(context.Context, string) error
	if c.describe != nil && (len(c.config.beforeSend) > 0 || c.claim != nil) {
		before = c.handOut
	}
	r := c.client.transport().Do(ctx, transport.Call{
		Operation: c.op.name, Method: c.op.method, Route: c.op.route, Class: c.op.class,
		ThreeDS: c.op.threeDS, MovesMoney: c.op.movesMoney, Named: c.op.named,
		URL: &c.target, Body: body, Upload: c.upload, Header: c.config.header, Accept: accept,
		Key: c.config.key, Limits: &c.config.limits, Authorise: c.client.authorise[c.op.key],
		Before: before, Sink: c.sink, Decode: decode, Settles: c.settles,
	})
	if into := c.config.response; into != nil {
		*into = Response{StatusCode: r.Status, Header: r.Header, Attempts: r.Attempts, IdempotencyKey: r.Key}
	}
	return c.outcome(r)
}

func (c *call) encode() ([]byte, error) {
	if c.body == nil {
		if len(c.config.extra) > 0 {
			return nil, c.notSent(errors.New("option WithExtraField: it has no body of JSON"))
		}
		return nil, nil
	}
	body, err := wire.Marshal(c.body)
	if err != nil {
		return nil, c.notSent(err)
	}
	for _, field := range c.config.extra {
		if body, err = wire.SetMember(body, field.path, field.value); err != nil {
			return nil, c.notSent(fmt.Errorf("option %w", err))
		}
	}
	return body, nil
}

// notSent says that a call ended before anything was sent, and why.
func (c *call) notSent(err error) error {
	return fmt.Errorf("quickstream: %s: %w: %w", c.op.name, ErrNotSent, err)
}

func (c *call) info() CallInfo { return CallInfo{c.op.name, c.op.method, c.op.route} }

// outcome maps what the transport found to the error tree.
func (c *call) outcome(r *transport.Result) error {
	switch r.Verdict {
	case transport.Success:
		return nil
	case transport.Local:
		return c.notSent(r.Err)
	case transport.Unknown:
		lost := &UnknownOutcomeError{
			CallInfo: c.info(), IdempotencyKey: r.Key, Reference: c.reference, ReceiptNumber: receiptIn(r),
			FirstSent: r.FirstSent, Attempts: r.Attempts, FindOut: c.op.findOut, Cause: c.cause(r),
		}
		if c.describe != nil {
			intent := c.intent(r.Key, r.FirstSent)
			intent.Attempts, intent.ReceiptNumber = lost.Attempts, lost.ReceiptNumber
			lost.Intent = &intent
		}
		return lost
	default:
		return c.cause(r)
	}
}

// cause is what the last attempt came to.
func (c *call) cause(r *transport.Result) error {
	switch {
	case r.Reason == transport.Succeeded: // which does not settle an earlier attempt
		return r.Err
	case r.Reason == transport.Inconclusive && r.Err != nil:
		return &DecodeError{CallInfo: c.info(), StatusCode: r.Status, Attempts: r.Attempts, err: r.Err, body: func() []byte { return r.Body }}
	case r.Reason == transport.NeverSent, r.Reason == transport.Lost, r.Reason == transport.ContextEnded:
		sent := r.Unanswered || r.Reason != transport.NeverSent
		return &NetworkError{CallInfo: c.info(), Kind: NetworkKind(r.Kind), Attempts: r.Attempts, err: r.Err, sent: sent}
	default:
		return newAPIError(c.info(), r)
	}
}

func (c *call) decodeError(err error) *DecodeError {
	return &DecodeError{CallInfo: c.info(), StatusCode: http.StatusOK, Attempts: 1, err: err}
}
