package quickstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/google/go-querystring/query"

	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// call is one call of an operation: its request and, for a write, the data to look it up.
type call struct {
	client *Client
	op     operation
	config callConfig // key, headers, extra fields, limits
	request
	write
	// ended is the first error that ends the call before sending. do returns it, so that observers
	// see the call too.
	ended error
	// attempts counts the attempts begun, also after a panic.
	attempts int
	result   *transport.Result // of do
}

type request struct {
	target url.URL
	body   any               // wire struct; nil for none
	upload *transport.Upload // takes the place of body
	report *download         // receives the answer; nil if it is decoded
	later  bool              // a page of a list after the first
}

type write struct {
	reference string  // to look up an unknown outcome
	intent    *Intent // nil for a write that has none
	stored    any     // the part of the body that the intent keeps; nil if its Request is set
	// planned is the intent that Submit sends; nil for other calls.
	planned *Intent
	claim   Claim
	claimed bool
	// answer is the decoded transaction, whose outcome settles the call; nil for other requests.
	answer *Transaction
}

// begin applies the options of a call, and sets its path with the route's parameters.
func (c *Client) begin(name Operation, opts []CallOption, ids ...string) *call {
	return c.beginCall(name.row(), opts, ids)
}

// beginCall begins a call of an operation that may not be in the table.
func (c *Client) beginCall(op operation, opts []CallOption, ids []string) *call {
	started := &call{client: c, op: op, config: c.config}
	for _, o := range opts {
		if name, ok := o.(madeBy); ok {
			started.op.name = Operation(name)
		} else if o == nil {
			started.refuse(errors.New("an option is nil"))
		} else if err := o.applyCall(&started.config); err != nil {
			started.refuse(fmt.Errorf("option %w", err))
		}
	}
	if started.config.key != "" && op.method != http.MethodPost {
		started.refuse(errors.New("option WithIdempotencyKey: it is not a POST and carries no key"))
	}
	started.path(ids)
	return started
}

// madeBy gives calls the name of the method that makes them.
type madeBy Operation

func (madeBy) applyCall(*callConfig) error { return nil }

func (m madeBy) with(opts []CallOption) []CallOption { return append([]CallOption{m}, opts...) }

func get[T any, P model[T]](ctx context.Context, c *Client, name Operation, opts []CallOption, id string) (*T, error) {
	return sendChecked(ctx, c.begin(name, opts, id), identifiedBy[T, P](id))
}

// sendChecked makes a call whose answer has to fit the request.
func sendChecked[T any, P model[T]](ctx context.Context, c *call, fits func(P) error) (*T, error) {
	object := new(T)
	if err := c.do(ctx, decoding(c, P(object), fits)); err != nil {
		return nil, err
	}
	return object, nil
}

// send makes a call whose answer is an object, nil with an error.
func send[T any, P model[T]](ctx context.Context, c *call) (*T, error) {
	return sendChecked(ctx, c, func(P) error { return nil })
}

// path sets the target: the route with the identifiers in place of its names in braces.
func (c *call) path(identifiers []string) {
	base := c.client.base
	path, rest := base.Path, strings.TrimSuffix(c.op.route, "/") // the root has no slash of its own
	for _, identifier := range identifiers {
		before, after, _ := strings.Cut(rest, "{")
		name, tail, _ := strings.Cut(after, "}")
		if !wire.IsIdentifier(identifier) {
			c.check(func(f *findings) {
				f.disabled = nil // no option switches this rule off
				f.require(false, "path."+name, name, "must be an identifier of 1 to 255 printable ASCII characters, not all blanks and without / \\ ? # % ;")
			})
			return
		}
		path, rest = path+before+identifier, tail
	}
	c.target = *base
	c.target.Path = path + rest
}

func (c *call) query(params any) {
	values, given := params.(url.Values)
	if !given {
		var err error
		values, err = query.Values(params)
		c.refuse(err)
	}
	c.target.RawQuery = values.Encode()
}

// do prepares the call, sends it unless it has ended, and concludes. An error of decode makes the
// answer undecodable, unless it is a [transport.Unsettled].
func (c *call) do(ctx context.Context, decode func(status int, body []byte) error) error {
	begun, concluded := time.Now(), false
	observer := c.client.observer
	ctx, err := observer.start(ctx, c.info())
	if err != nil {
		observer.End = nil // its Start panicked
	}
	c.attempts = 0
	defer func() {
		if !concluded { // the caller's code panicked, and the panic goes on
			_ = observer.end(ctx, c.info(), c.panicked(begun))
		}
	}()
	body := c.prepare()
	c.refuse(err)
	if c.ended == nil {
		c.result = c.send(ctx, body, decode)
	} else {
		c.result = &transport.Result{End: transport.NotSent}
	}
	if into, r := c.config.response, c.result; into != nil {
		*into = Response{StatusCode: r.Status, Header: r.Header, Attempts: r.Attempts, IdempotencyKey: r.Key}
	}
	err = c.conclude()
	concluded = true
	failed := observer.end(ctx, c.info(), endOf(err, c.result, begun))
	if failed != nil && c.result.End != transport.NotSent {
		c.result.Lose(c.op.class, failed)
		return c.conclude()
	}
	return err
}

// prepare completes the intent and returns the body.
func (c *call) prepare() []byte {
	if c.ended != nil {
		return nil
	}
	if c.intent != nil { // now, because the caller may change the parameters while they are sent
		c.intent.Version, c.intent.Operation, c.intent.Environment = IntentVersion, c.op.name, c.client.base.Host
		c.intent.ExtraFields = c.config.extraNames()
		if c.stored != nil {
			c.intent.Request = requestOf(c.stored)
		}
	}
	if c.body == nil {
		if len(c.config.extra) > 0 {
			c.refuse(errors.New("option WithExtraField: it has no body of JSON"))
		}
		return nil
	}
	body, err := wire.Encode(c.body)
	c.refuse(err)
	if c.ended != nil {
		return nil
	}
	return c.withExtra(body)
}

func (c *call) send(ctx context.Context, body []byte, decode func(status int, body []byte) error) *transport.Result {
	sent := transport.Call{
		Operation: string(c.op.name), Method: c.op.method, Route: c.op.route, Class: c.op.class,
		ThreeDS: c.op.threeDS, Reference: c.reference,
		URL: &c.target, Body: body, Upload: c.upload, Header: c.config.header(), Accept: "application/json",
		Key: c.config.key, Limits: &c.config.limits, Authorise: c.client.authorise[c.op.key],
		Decode: decode, Also: c.op.also, Refusal: c.config.refusal, Begun: &c.attempts,
	}
	if c.report != nil {
		sent.Accept, sent.Sink = c.report.accept, c.report.sink
	}
	if c.intent != nil {
		sent.Before = c.callHooks
		if c.claim != nil || len(c.config.beforeSend) > 0 {
			sent.Life = ClaimLifetime
		}
	}
	return c.client.transport().Do(ctx, sent)
}

func (c *call) conclude() error {
	if c.ended != nil {
		return c.ended
	}
	err := c.errorOf(c.result)
	switch {
	case c.report != nil:
		return c.report.conclude(c, err)
	case c.later:
		return laterPage(err)
	case err == nil && c.answer != nil:
		c.answer.intent = c.sent(c.result)
		if c.op.name != OperationVoid {
			c.answer.intent.ReceiptNumber, c.answer.intent.Answered = c.answer.ReceiptNumber, true
		}
		return c.settles(c.answer)
	}
	return err
}

// panicked describes the end of a call after a panic of the caller's code: not sent before the
// first attempt, a lost answer afterwards.
func (c *call) panicked(begun time.Time) EndInfo {
	err := errors.New("the caller's code panicked")
	r := &transport.Result{End: transport.NotSent, Err: err, Attempts: c.attempts}
	if c.attempts > 0 {
		r.Lose(c.op.class, err)
	}
	err = c.errorOf(r)
	if lost, ok := errors.AsType[*UnknownOutcomeError](err); ok && c.attempts > 0 {
		lost.Intent = nil // the key was lost with the result
	}
	return endOf(err, r, begun)
}

// refuse ends the call before sending, unless it has ended. A nil error does nothing.
func (c *call) refuse(err error) {
	if err != nil && c.ended == nil {
		c.ended = c.notSent(err)
	}
}

func (c *call) notSent(err error) error {
	unsent := ErrNotSent
	if c.op.method == http.MethodGet {
		unsent = readNotSent{}
	}
	return c.unclaimed(fmt.Errorf("quickstream: %s: %w: %w", c.op.name, unsent, err))
}

// readNotSent is ErrNotSent of a read, which says nothing about what would have been read.
type readNotSent struct{}

func (readNotSent) Error() string { return ErrNotSent.Error() }

func (readNotSent) Is(target error) bool {
	return target == ErrNotSent || target == wire.ErrReadNotSent
}

// unclaimed returns the error of a call that sent nothing. Until the claim of a Submit has
// succeeded, an earlier call may have sent the intent, so the outcome is unknown.
func (c *call) unclaimed(err error) error {
	if c.planned == nil || c.claimed {
		return err
	}
	open := c.planned.open(c.info(), err, nil)
	open.FindOut = c.op.findOut
	return open
}

func (c *call) info() CallInfo { return CallInfo{c.op.name, c.op.method, c.op.route} }

func (c *call) errorOf(r *transport.Result) error {
	switch r.End {
	case transport.Success:
		return nil
	case transport.NotSent:
		return c.notSent(r.Err)
	case transport.Unknown:
		lost := c.lost(r)
		if lost.Cause = c.cause(r); c.intent != nil {
			lost.Intent = c.sent(r)
		}
		if c.answer != nil && !r.Unanswered && c.op.name != OperationVoid { // the answer was read, and is about another transaction
			lost.ReceiptNumber = c.answer.ReceiptNumber
			lost.Intent.ReceiptNumber = lost.ReceiptNumber
		}
		return lost
	default:
		return c.unclaimed(c.cause(r))
	}
}

func (c *call) lost(r *transport.Result) *UnknownOutcomeError {
	return &UnknownOutcomeError{
		CallInfo: c.info(), IdempotencyKey: r.Key, Reference: c.reference,
		FirstSent: r.FirstSent, Attempts: r.Attempts, FindOut: c.op.findOut,
	}
}

// sent returns the intent as it was sent. With the caller's own key the number of attempts is unknown.
func (c *call) sent(r *transport.Result) *Intent {
	intent := *c.intent
	intent.IdempotencyKey, intent.Attempts, intent.Resent = r.Key, r.Attempts, r.Unanswered
	if intent.OwnKey {
		intent.Attempts = 0
	}
	return &intent
}

// cause is the error of the last attempt.
func (c *call) cause(r *transport.Result) error {
	switch {
	case r.Reason == transport.Succeeded: // but it does not settle an earlier attempt
		return r.Err
	case r.Reason == transport.Inconclusive && r.Err != nil:
		body := c.rawBody(r)
		return &DecodeError{CallInfo: c.info(), StatusCode: r.Status, Attempts: r.Attempts, err: r.Err, foreign: c.foreignHint(r), body: func() []byte { return body }}
	case r.Reason == transport.NeverSent, r.Reason == transport.Lost, r.Reason == transport.ContextEnded:
		sent := r.Unanswered || r.Reason != transport.NeverSent
		return &NetworkError{CallInfo: c.info(), Kind: NetworkKind(r.Kind), Attempts: r.Attempts, err: r.Err, sent: sent}
	default:
		return c.apiError(r)
	}
}

// rawBody returns the body for RawBody: nil if keys are issued, unchanged for a success in JSON,
// and scrubbed otherwise.
func (c *call) rawBody(r *transport.Result) []byte {
	switch {
	case strings.Contains(strings.ToLower(c.target.Path), "/api-keys"):
		return nil
	case r.Status > 299 || !json.Valid(r.Body):
		return wire.Scrub(r.Body)
	}
	return r.Body
}

func (c *call) decodeError(err error) *DecodeError {
	return &DecodeError{CallInfo: c.info(), StatusCode: http.StatusOK, Attempts: 1, err: err}
}

// envelope keeps the body that a response was decoded from, so that unknown members are not lost.
// It is a function, so that printing shows the model only.
type envelope struct {
	source func() (body []byte, model reflect.Type)
}

func (e *envelope) keep(source func() (body []byte, model reflect.Type)) { e.source = source }

// Raw returns the JSON that it was decoded from, or nil.
func (e envelope) Raw() json.RawMessage {
	if e.source == nil {
		return nil
	}
	body, _ := e.source()
	return body
}

// Extra returns the members of that JSON that have no Go field.
func (e envelope) Extra() map[string]json.RawMessage {
	if e.source == nil {
		return map[string]json.RawMessage{}
	}
	return wire.Unknown(e.source())
}

var (
	errNotObject    = errors.New("the answer is not a JSON object")
	errNoIdentifier = errors.New("the answer lacks the identifier of what it describes")
	errNotAsked     = errors.New("the answer is about something else than was asked for")
)

// model is a pointer to a response with an identifier, without which an answer proves nothing.
type model[T any] interface {
	*T
	identifier() string
	keep(source func() (body []byte, model reflect.Type))
}

// read decodes an answer that has an identifier, and keeps it.
func read[T any, P model[T]](body []byte, object P) error {
	if err := decodeOwned(body, object); err != nil {
		return err
	}
	if object.identifier() == "" {
		return errNoIdentifier
	}
	return nil
}

// decoding returns a function that decodes an answer and checks with fits that it is about the right
// object.
func decoding[T any, P model[T]](c *call, object P, fits func(P) error) func(status int, body []byte) error {
	return func(_ int, body []byte) error {
		if err := read(body, object); err != nil {
			return err
		}
		c.config.explain(object)
		return fits(object)
	}
}

func identifiedBy[T any, P model[T]](id string) func(P) error {
	return func(object P) error {
		if !sameText(object.identifier(), id) {
			return errNotAsked
		}
		return nil
	}
}

// decode reads an object, and keeps a copy of the body.
func decode[T any, P model[T]](body []byte, object P) error {
	return decodeOwned(bytes.Clone(body), object)
}

// decodeOwned reads an object, and keeps the body, which must not change any more.
func decodeOwned[T any, P model[T]](body []byte, object P) error {
	*object = *new(T)
	if !wire.IsObject(body) {
		return errNotObject
	}
	stored, err := wire.DecodeOwned(body, (*T)(object))
	if err != nil {
		*object = *new(T) // half an answer could read as an approval
		return err
	}
	object.keep(func() ([]byte, reflect.Type) { return []byte(stored), reflect.TypeFor[T]() })
	return nil
}

// encode writes a model and the received members that have no field.
func encode[T any](plain T, e envelope) ([]byte, error) {
	known, err := wire.Marshal(plain)
	if err != nil || e.source == nil {
		return known, err
	}
	return wire.AddUnknown(known, e.Raw(), reflect.TypeFor[T]())
}
