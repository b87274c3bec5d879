package sandbox

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/memnet"
)

// Fault is a fault, with the calls that meet it.
type Fault struct {
	// Operation is an operation's id, such as "POST /transactions"; empty for all
	// operations.
	Operation string
	// Match limits the fault to the calls for which it returns true. It must not call the
	// sandbox. With [Unreachable] the request has no body yet.
	Match func(Request) bool
	// Nth is the number, from 1, of the matching call at which the fault begins; 0 is the
	// first.
	Nth int
	// Times is the largest number of calls that meet the fault. 0 is one call if Nth is set,
	// and otherwise no limit.
	Times int
	// Probability is the chance that a call meets the fault, from 0 to 1; 0 is always.
	Probability float64
	// Kind is what happens to the call. Required.
	Kind FaultKind
}

// FaultKind is what a fault does to a call. Functions such as [ResetAfterCommit] return one.
type FaultKind struct {
	name string
	dial error           // if set, the request is never sent
	play func(*exchange) // otherwise, plays the call
}

// String returns the name of the kind, as in [Sandbox.FaultCounts].
func (k FaultKind) String() string { return k.name }

type armedFault struct {
	Fault
	seen, fired int
}

type faultList struct {
	armed  []*armedFault
	counts map[string]int
}

// Inject arms faults. If several could meet a call, the first one injected does. Inject returns an error and
// arms nothing if there is no such operation, a kind is missing, or a probability is not between 0 and 1.
func (b *Sandbox) Inject(faults ...Fault) error {
	for _, f := range faults {
		if f.Operation != "" && !b.routes.known(f.Operation) {
			return fmt.Errorf("sandbox: no operation %q", f.Operation)
		}
		if f.Kind.dial == nil && f.Kind.play == nil {
			return fmt.Errorf("sandbox: fault for %q has no kind", f.Operation)
		}
		if f.Probability < 0 || f.Probability > 1 {
			return fmt.Errorf("sandbox: probability %v of %s", f.Probability, f.Kind)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range faults {
		b.faults.armed = append(b.faults.armed, &armedFault{Fault: f})
		b.faults.counts[f.Kind.name] += 0 // counted from 0
	}
	return nil
}

// ClearFaults disarms all faults. It does not end calls that hang, nor reset the counts.
func (b *Sandbox) ClearFaults() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults.armed = nil
}

// WaitingFaults returns the number of armed faults that may still meet a call.
func (b *Sandbox) WaitingFaults() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults.armed {
		if times := f.limit(); times == 0 || f.fired < times {
			n++
		}
	}
	return n
}

// FaultCounts returns how many calls each kind of fault has met, for all kinds that were
// injected.
func (b *Sandbox) FaultCounts() map[string]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.faults.counts)
}

// next returns the fault that a call meets when it is dialled, or when it arrives; nil is none. The
// caller holds mu.
func (l *faultList) next(dialled bool, dice *rand.Rand, e Request) *FaultKind {
	var hit *armedFault
	for _, f := range l.armed {
		if dialled != (f.Kind.dial != nil) || f.Operation != "" && f.Operation != e.Operation || f.Match != nil && !f.Match(e) {
			continue
		}
		f.seen++ // even if another fault wins
		if hit == nil && f.due(dice) {
			hit = f
		}
	}
	if hit == nil {
		return nil
	}
	hit.fired++
	l.counts[hit.Kind.name]++
	return &hit.Kind
}

// limit is the largest number of calls that meet the fault; 0 is no limit.
func (f *armedFault) limit() int {
	if f.Times == 0 && f.Nth > 0 {
		return 1
	}
	return f.Times
}

func (f *armedFault) due(dice *rand.Rand) bool {
	times := f.limit()
	if f.seen < f.Nth || times > 0 && f.fired >= times {
		return false
	}
	return f.Probability == 0 || dice.Float64() < f.Probability
}

func (b *Sandbox) dialFault(r *http.Request) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.faults.armed) == 0 {
		return nil
	}
	if met := b.faults.next(true, b.dice, *b.newCall(r, nil).record()); met != nil {
		return met.dial
	}
	return nil
}

// DialError is the reason why a request cannot be sent.
type DialError string

// The reasons.
const (
	ConnectionRefused    DialError = "ConnectionRefused"    // nothing listens on the port
	UnknownHost          DialError = "UnknownHost"          // the host name does not resolve
	UntrustedCertificate DialError = "UntrustedCertificate" // the service's certificate is not trusted
	ProxyAuthRequired    DialError = "ProxyAuthRequired"    // a proxy answers CONNECT with 407
)

// Unreachable keeps the request from being sent. It works with [Sandbox.HTTPClient] only: a
// server on a TCP port cannot refuse a connection that it has accepted.
func Unreachable(why DialError) FaultKind {
	kind := FaultKind{name: string(why)}
	switch why {
	case ConnectionRefused:
		kind.dial = memnet.ConnectionRefused()
	case UnknownHost:
		kind.dial = memnet.NoSuchHost(memnet.Host)
	case UntrustedCertificate:
		kind.dial = &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
	case ProxyAuthRequired: // net/http reports the status text as an error without a type
		kind.dial = errors.New(http.StatusText(http.StatusProxyAuthRequired))
	}
	return kind
}

// ResetBeforeCommit resets the connection. The operation is not carried out.
func ResetBeforeCommit() FaultKind {
	return FaultKind{name: "ResetBeforeCommit", play: func(x *exchange) { x.drop(true) }}
}

// ResetAfterCommit carries out the operation and resets the connection instead of
// answering.
func ResetAfterCommit() FaultKind {
	return FaultKind{name: "ResetAfterCommit", play: func(x *exchange) {
		x.commit()
		x.drop(true)
	}}
}

// HangBeforeCommit does nothing until the caller gives up or the sandbox is closed.
func HangBeforeCommit() FaultKind {
	return FaultKind{name: "HangBeforeCommit", play: func(x *exchange) { x.hang() }}
}

// HangAfterCommit carries out the operation and does not answer.
func HangAfterCommit() FaultKind {
	return FaultKind{name: "HangAfterCommit", play: func(x *exchange) {
		x.commit()
		x.hang()
	}}
}

// DelayBeforeCommit carries out the operation after d, even if the caller has given up by
// then. Until then its idempotency key is in use. How a delay passes depends on the [Clock].
func DelayBeforeCommit(d time.Duration) FaultKind {
	return FaultKind{name: "DelayBeforeCommit", play: func(x *exchange) {
		carriedOut := x.commitLater(d)
		if !x.wait(d) {
			x.drop(false) // it is carried out all the same
			return
		}
		select {
		case <-carriedOut:
			x.send(x.afterEvents())
		case <-x.box.closing:
			x.drop(false)
		}
	}}
}

// DelayAfterCommit carries out the operation and answers after d.
func DelayAfterCommit(d time.Duration) FaultKind {
	return FaultKind{name: "DelayAfterCommit", play: func(x *exchange) {
		a := x.commit()
		if !x.wait(d) {
			x.drop(false)
			return
		}
		x.send(a)
	}}
}

// CommitLate resets the connection and carries out the operation after d. Until then look-ups find nothing
// and the idempotency key is in use. If the single-use token has expired by then, nothing is charged.
func CommitLate(d time.Duration) FaultKind {
	return FaultKind{name: "CommitLate", play: func(x *exchange) {
		x.commitLater(d)
		x.drop(true)
	}}
}

// SlowBody sends the body of the answer at a number of bytes per second.
func SlowBody(bytesPerSecond int) FaultKind {
	return FaultKind{name: "SlowBody", play: func(x *exchange) { x.drip(x.commit(), max(bytesPerSecond, 1)) }}
}

// TruncatedBody sends the full Content-Length but only the first n bytes of the body, and closes
// the connection.
func TruncatedBody(n int) FaultKind {
	return FaultKind{name: "TruncatedBody", play: func(x *exchange) {
		a := x.commit()
		x.head(a)
		_, _ = x.w.Write(a.raw[:min(max(n, 0), max(len(a.raw)-1, 0))])
		// net/http closes a connection if the handler has written too few bytes.
	}}
}

// Redirect answers with a redirection. The operation is not carried out.
func Redirect(status int, location string) FaultKind {
	return FaultKind{name: "Redirect", play: func(x *exchange) {
		x.send(answer{status: status}.with("Location", location))
	}}
}

// BodyKind is the body of an answer of [Status], [StatusAfterCommit] or [Garbage].
type BodyKind string

// The kinds of body.
const (
	ServiceError     BodyKind = "ServiceError"     // the service's own error body
	HTML             BodyKind = "HTML"             // a gateway's page
	Empty            BodyKind = "Empty"            // nothing
	BrokenJSON       BodyKind = "BrokenJSON"       // JSON that ends in the middle
	GatewayError     BodyKind = "GatewayError"     // a gateway's JSON, with a traceCode and none of the service's texts
	ErrorList        BodyKind = "ErrorList"        // JSON with a list of errors and nothing else
	Unchanged        BodyKind = "Unchanged"        // the body as it should be
	DuplicateMembers BodyKind = "DuplicateMembers" // the body as it should be, each member twice: first null, then right
)

// Status answers with a status. The operation is not carried out. A client believes that a
// write was refused only if the body is [ServiceError]. A 503 with [ServiceError] is the
// documented "not processed", and uses up the idempotency key.
func Status(code int, body BodyKind) FaultKind {
	return FaultKind{name: "Status", play: func(x *exchange) { x.send(x.instead(code, body)) }}
}

// RateLimited answers 429 with [ServiceError] and a Retry-After header, or without the header
// if retryAfter is empty. The operation is not carried out.
func RateLimited(retryAfter string) FaultKind {
	return FaultKind{name: "RateLimited", play: func(x *exchange) {
		a := x.instead(http.StatusTooManyRequests, ServiceError)
		if retryAfter != "" {
			a = a.with("Retry-After", retryAfter)
		}
		x.send(a)
	}}
}

// StatusAfterCommit carries out the operation and answers as if it had failed.
func StatusAfterCommit(code int, body BodyKind) FaultKind {
	return FaultKind{name: "StatusAfterCommit", play: func(x *exchange) { x.send(x.misreport(x.commit(), code, body)) }}
}

// SentTwice plays a gateway that sends the request twice and passes on the second answer. If the service
// keeps idempotency keys, that is the first answer again. Otherwise a POST is refused with [ServiceError]
// and the status refusal, such as 422 for a single-use token that was used.
func SentTwice(refusal int) FaultKind {
	return FaultKind{name: "SentTwice", play: func(x *exchange) {
		x.commit()
		if _, keyed := x.replayID(); x.method == http.MethodPost && !keyed {
			x.send(x.misreport(x.result, refusal, ServiceError))
			return
		}
		second := *x.call
		second.opened, second.findings, second.unreadable = nil, nil, nil
		again := &exchange{call: &second, w: x.w, r: x.r, entry: x.entry, decided: x.decided}
		again.send(again.commit())
	}}
}

// Garbage carries out the operation and answers with the right status and another body. With
// [DuplicateMembers] the kind has the name of the body.
func Garbage(body BodyKind) FaultKind {
	kind := FaultKind{name: "Garbage", play: func(x *exchange) {
		right := x.commit()
		x.send(x.misreport(right, right.status, body))
	}}
	if body == DuplicateMembers {
		kind.name = string(body)
	}
	return kind
}

// instead returns the answer to a request that was not carried out.
func (x *exchange) instead(code int, body BodyKind) answer {
	a := x.misreport(answer{}, code, body)
	if code == http.StatusServiceUnavailable && body == ServiceError {
		x.box.mu.Lock()
		defer x.box.mu.Unlock()
		x.box.replays.spend(x.call, a)
	}
	return a
}

// misreport returns an answer with a status and a kind of body in place of the right one.
func (x *exchange) misreport(right answer, code int, body BodyKind) answer {
	raw := func(text string) answer {
		return answer{status: code, raw: []byte(text)}.with("Content-Type", jsonType)
	}
	switch body {
	case HTML:
		return answer{status: code, raw: htmlPage(code)}.with("Content-Type", htmlType)
	case BrokenJSON:
		return raw(`{"links":[],"rec`)
	case GatewayError:
		return raw(`{"message":"no healthy upstream","traceCode":"4D2C"}`)
	case ErrorList:
		return raw(`{"errors":[{"fieldName":null,"fieldValue":null,"messages":["Service unavailable"]}]}`)
	case Empty:
		return answer{status: code}
	case DuplicateMembers:
		return raw(string(doubled(right.raw)))
	case Unchanged:
		right.status = code
		return right
	default:
		x.box.mu.Lock()
		defer x.box.mu.Unlock()
		return x.render(x.problem(code, "The service could not process the request."))
	}
}

func (x *exchange) drip(a answer, perSecond int) {
	x.head(a)
	defer x.box.clock.hold()()
	flush := http.NewResponseController(x.w).Flush
	for rest := a.raw; len(rest) > 0; {
		n := min(perSecond, len(rest))
		if _, err := x.w.Write(rest[:n]); err != nil || flush() != nil {
			return
		}
		rest = rest[n:]
		if len(rest) == 0 {
			x.arrived()
			return
		}
		if !x.wait(time.Second) {
			return
		}
	}
}
