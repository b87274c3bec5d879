package sandbox

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/form"
	"github.com/quickstream-go/quickstream/sandbox/internal/memnet"
)

// DialError is why a request cannot be sent.
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

// ResetAfterCommit carries out the operation and resets the connection in place of the
// answer.
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
		if !x.box.wait(d, x.r.Context().Done()) {
			x.drop(false) // it is carried out all the same
			return
		}
		select {
		case raised := <-carriedOut:
			x.send(x.answerTo(raised))
		case <-x.box.closing:
			x.drop(false)
		}
	}}
}

// DelayAfterCommit carries out the operation and answers after d.
func DelayAfterCommit(d time.Duration) FaultKind {
	return FaultKind{name: "DelayAfterCommit", play: func(x *exchange) {
		a := x.commit()
		if !x.box.wait(d, x.r.Context().Done()) {
			x.drop(false)
			return
		}
		x.send(a)
	}}
}

// CommitLate resets the connection and carries out the operation after d. Until then
// look-ups find nothing and the idempotency key is in use. A single-use token is valid for 10
// minutes: after that the payment is refused and nothing is charged.
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

// TruncatedBody sends the full Content-Length, the first n bytes of the body, and closes the
// connection.
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

// BodyKind is the body of an answer of [Status], [StatusAfterCommit] or [Garbage]. Only
// StatusAfterCommit takes [Unchanged].
type BodyKind string

// The kinds of body.
const (
	ServiceError     BodyKind = "ServiceError"     // the service's own error body
	HTML             BodyKind = "HTML"             // a gateway's page
	Empty            BodyKind = "Empty"            // nothing
	BrokenJSON       BodyKind = "BrokenJSON"       // JSON that ends in the middle
	GatewayError     BodyKind = "GatewayError"     // a gateway's JSON, with a traceCode and none of the service's texts
	ErrorList        BodyKind = "ErrorList"        // JSON with a list of errors and nothing else
	Echo             BodyKind = "Echo"             // the service's error body; its texts, links and headers repeat the request
	EchoHTML         BodyKind = "EchoHTML"         // a gateway's page; it and its headers repeat the request
	EchoLinks        BodyKind = "EchoLinks"        // the body as it should be; its links and headers repeat the request
	Unchanged        BodyKind = "Unchanged"        // the body as it should be
	DuplicateMembers BodyKind = "DuplicateMembers" // the body as it should be, each member twice: first null, then right
)

// Status answers with a status. The operation is not carried out. A client believes that a
// write was refused only if the body is [ServiceError]. A 503 with [ServiceError] is the
// documented "not processed", and uses up the idempotency key: see
// [Assumptions.UnavailableSpendsKey].
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
	return FaultKind{name: "StatusAfterCommit", play: func(x *exchange) {
		a := x.commit()
		if a.status = code; body != Unchanged {
			a = x.misreport(code, body)
		}
		x.send(a)
	}}
}

// SentTwice is a gateway that sends the request twice and passes on the second answer. If the
// service keeps idempotency keys, that is the first answer again. Otherwise it refuses the
// second request, in its own words and with a status such as 422 for a single-use token that
// was used.
func SentTwice(refusal int) FaultKind {
	return FaultKind{name: "SentTwice", play: func(x *exchange) {
		x.commit()
		if _, keyed := x.replayID(); x.method == http.MethodPost && !keyed {
			x.send(x.misreport(refusal, ServiceError))
			return
		}
		second := *x.call
		second.opened, second.findings, second.unreadable = nil, nil, nil
		again := &exchange{call: &second, w: x.w, r: x.r, entry: x.entry, decided: x.decided}
		again.send(again.commit())
	}}
}

// Garbage carries out the operation and answers with its status and another body. The
// names of its kinds with [EchoLinks] and [DuplicateMembers] are those of the body.
func Garbage(body BodyKind) FaultKind {
	if body == EchoLinks || body == DuplicateMembers {
		return FaultKind{name: string(body), play: func(x *exchange) { x.send(x.disfigure(x.commit(), body)) }}
	}
	return FaultKind{name: "Garbage", play: func(x *exchange) { x.send(x.misreport(x.commit().status, body)) }}
}

// disfigure changes the body of an answer.
func (x *exchange) disfigure(a answer, body BodyKind) answer {
	if body == DuplicateMembers {
		a.raw = form.Doubled(a.raw)
		return a
	}
	all := x.sent()
	a.raw = form.WithLinks(a.raw, x.echoedLinks(all))
	return x.echoedHeaders(a, all)
}

// instead returns the answer to a request that was not carried out.
func (x *exchange) instead(code int, body BodyKind) answer {
	a := x.misreport(code, body)
	if code == http.StatusServiceUnavailable && body == ServiceError {
		x.box.mu.Lock()
		defer x.box.mu.Unlock()
		x.box.replays.spend(x.call, a)
	}
	return a
}

// misreport returns an answer that does not depend on what was done.
func (x *exchange) misreport(code int, body BodyKind) answer {
	switch body {
	case HTML:
		return answer{status: code, raw: form.Page(code)}.with("Content-Type", form.HTMLType)
	case BrokenJSON:
		return answer{status: code, raw: []byte(`{"links":[],"rec`)}.with("Content-Type", form.JSONType)
	case GatewayError:
		return answer{status: code, raw: []byte(`{"message":"no healthy upstream","traceCode":"4D2C"}`)}.with("Content-Type", form.JSONType)
	case ErrorList:
		return answer{status: code, raw: []byte(`{"errors":[{"fieldName":null,"fieldValue":null,"messages":["Service unavailable"]}]}`)}.with("Content-Type", form.JSONType)
	case Empty:
		return answer{status: code}
	case Echo, EchoHTML:
		return x.echo(code, body == EchoHTML)
	case EchoLinks, DuplicateMembers:
		return x.disfigure(x.misreport(code, ServiceError), body)
	default:
		x.box.mu.Lock()
		defer x.box.mu.Unlock()
		return x.render(x.problem(code, "The service could not process the request."))
	}
}

// drip writes a number of bytes each second.
func (x *exchange) drip(a answer, perSecond int) {
	x.head(a)
	defer x.box.clock.hold()()
	flush := http.NewResponseController(x.w).Flush
	for rest := a.raw; len(rest) > 0; {
		n := min(perSecond, len(rest))
		if _, err := x.w.Write(rest[:n]); err != nil || flush() != nil {
			return
		}
		if rest = rest[n:]; len(rest) > 0 && !x.box.wait(time.Second, x.r.Context().Done()) {
			return
		}
	}
}

// sentText is a text of a request, with its position.
type sentText struct{ name, text string }

// The limits of what is repeated.
const (
	maxSentTexts = 100
	maxSentText  = 256
)

// sent returns the texts of a request: of its path, query, headers and body. Card numbers are
// public test numbers only.
func (c *call) sent() (all []sentText) {
	add := func(name, text string) {
		if text != "" && len(all) < maxSentTexts {
			all = append(all, sentText{name, text[:min(len(text), maxSentText)]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.params)) {
		add(name, c.params[name])
	}
	for _, values := range []map[string][]string{c.query, c.header} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			add(name, strings.Join(values[name], ", "))
		}
	}
	user, _ := c.box.userOf(c.header)
	add("user", user)
	body := maskCards(c.body)
	var tree any
	if json.Unmarshal(body, &tree) == nil {
		walkTexts("", tree, add)
	} else {
		add("body", string(body))
	}
	return all
}

func walkTexts(name string, tree any, add func(name, text string)) {
	switch node := tree.(type) {
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(node)) {
			walkTexts(strings.TrimPrefix(name+"."+member, "."), node[member], add)
		}
	case []any:
		for i, element := range node {
			walkTexts(name+"["+strconv.Itoa(i)+"]", element, add)
		}
	case nil:
	default:
		add(name, fmt.Sprint(node))
	}
}

// echo returns an answer that repeats the request, in its headers and in a body: the
// service's error body or a gateway's page.
func (c *call) echo(code int, asPage bool) answer {
	all := c.sent()
	var texts strings.Builder
	for _, one := range all {
		fmt.Fprintf(&texts, "%s=%s ", one.name, one.text)
	}
	if asPage {
		text := "<html><body>" + html.EscapeString(c.method+" "+c.origin+c.url.RequestURI()+" "+texts.String()) + "</body></html>"
		return c.echoedHeaders(answer{status: code, raw: []byte(text)}.with("Content-Type", form.HTMLType), all)
	}
	body := form.Error{
		Links: c.echoedLinks(all), Status: json.RawMessage(strconv.Itoa(code)), RequestMethod: c.method, RequestURL: c.origin + c.url.RequestURI(),
		CustomerMessage: "Not accepted: " + texts.String(), DeveloperMessage: texts.String() + "were sent to " + c.url.RequestURI(), TraceCode: "4D2C",
	}
	for _, one := range all {
		body.Errors = append(body.Errors, form.FieldError{
			FieldName: cmp.Or(one.name, "body"), FieldValue: &one.text, Messages: []string{one.text + " is not accepted", "not " + strconv.Quote(one.text)},
		})
	}
	raw, _ := json.Marshal(body) // texts only
	return c.echoedHeaders(answer{status: code, raw: raw}.with("Content-Type", form.JSONType), all)
}

func (c *call) echoedLinks(all []sentText) (links []form.Link) {
	for _, one := range all {
		links = append(links, get("about", c.href()+"?"+url.Values{one.name: {one.text}}.Encode()))
	}
	return links
}

// echoedHeaders adds the request to the headers in which gateways and services repeat it.
func (c *call) echoedHeaders(a answer, all []sentText) answer {
	a = a.with("Location", c.origin+c.url.RequestURI())
	for _, one := range all {
		a.header.Add("X-Echo", one.name+"="+one.text)
		a.header.Add("Link", "<"+c.href()+"?"+url.Values{one.name: {one.text}}.Encode()+">; rel=about")
		a.header.Add("Set-Cookie", "echo="+url.QueryEscape(one.text))
	}
	return a
}
