package sandbox

import (
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
	"github.com/quickstream-go/quickstream/sandbox/internal/form"
)

// answer is the answer to a call. The body is a wire struct, or nil for none.
type answer struct {
	status int
	header http.Header
	body   any
	raw    []byte // the body as it is sent
}

func reply(status int, body any) answer { return answer{status: status, body: body} }

func (a answer) with(name, value string) answer {
	a.header = a.header.Clone()
	if a.header == nil {
		a.header = make(http.Header)
	}
	a.header.Set(name, value)
	return a
}

func (a answer) succeeded() bool { return a.status >= 200 && a.status < 300 }

// formOf takes the assumptions about the form of answers.
func formOf(a *Assumptions) form.Format {
	return form.Format{
		EchoedReferences: a.EchoedReferences, TimeForm: a.TimeForm, DateForm: a.DateForm, TextMembers: a.TextMembers, AmountForm: a.AmountForm,
		OptionalMembers: a.OptionalMembers, InapplicableMembers: a.InapplicableMembers, EmptyLists: a.EmptyLists, MemberOrder: a.MemberOrder,
		UnknownMembers: a.UnknownMembers, AgreementTerms: a.AgreementTerms, Metadata: a.Metadata,
		TransactionAnswers: a.TransactionAnswers, OtherAnswers: a.OtherAnswers, ErrorForm: a.ErrorForm,
		StatusForm: a.StatusForm, AgreementTexts: a.AgreementTexts,
		ErrorStatusAsString: a.ErrorStatusAsString, NullErrorList: a.NullErrorList,
	}
}

// render turns the body into bytes. Afterwards the answer can be stored, sent more than
// once, and sent after the state has changed.
func (c *call) render(a answer) answer {
	body, mediaType := a.body, form.JSONType
	a.body = nil
	switch problem, isError := body.(form.Error); {
	case body == nil:
		return a
	case isError:
		mediaType, a.raw = c.box.form.Error(a.status, problem)
	case c.op == nil || c.isRead():
		a.raw = c.box.form.JSON(body)
	default:
		a.status, a.raw = c.box.form.Written(c.op.id, a.status, body)
	}
	if a.raw == nil {
		return a
	}
	return a.with("Content-Type", mediaType)
}

// amended is the answer to a PATCH of an agreement.
func (c *call) amended(body any) answer {
	switch c.box.form.OtherAnswers {
	case "200":
		return reply(http.StatusOK, body)
	case "empty":
		return answer{status: http.StatusOK}
	default:
		return answer{status: http.StatusNoContent}
	}
}

const unknownEnumValue = "ADDED_LATER"

// addedValue returns a value of an enumeration that was added later, unless the
// assumptions exclude such values.
func (b *Sandbox) addedValue(added, usual string) string {
	if b.assume.UnknownEnumValues {
		return added
	}
	return usual
}

// addsMembers reports whether answers have members that are not in the contract.
func (b *Sandbox) addsMembers() bool { return b.form.UnknownMembers != "none" }

func get(rel, href string) form.Link {
	return form.Link{Rel: rel, Href: href, RequestMethod: http.MethodGet}
}

// links returns a list of links, never nil.
func (c *call) links(list ...form.Link) []form.Link {
	if rel := c.box.addedValue(unknownEnumValue, ""); rel != "" {
		list = append(list, get(rel, c.href()))
	}
	if list == nil {
		list = []form.Link{}
	}
	return list
}

// related returns the links of an object to others, or none.
func (c *call) related(list ...form.Link) []form.Link {
	if !c.box.assume.RelatedLinks {
		list = nil
	}
	return c.links(list...)
}

func (c *call) problem(status int, developerMessage string, errs ...form.FieldError) answer {
	return reply(status, form.Error{
		Links:            c.links(),
		Errors:           errs,
		Status:           c.box.form.Status(status),
		RequestMethod:    c.method,
		RequestURL:       c.origin + safeURL(c.url),
		CustomerMessage:  customerMessage(status),
		DeveloperMessage: developerMessage,
		TraceCode:        randomText(c.box.ids, 16),
	})
}

func customerMessage(status int) string {
	switch {
	case status == http.StatusUnprocessableEntity || status == http.StatusBadRequest:
		return "Please check your details and try again."
	case status == http.StatusNotFound:
		return "We could not find what you asked for."
	case status == http.StatusTooManyRequests:
		return "Too many attempts. Please try again later."
	default:
		return "This service is not available to you at the moment. Please contact us."
	}
}

func (c *call) unauthorised(why string) answer {
	return c.problem(http.StatusUnauthorized, why).with("WWW-Authenticate", `Basic realm="QuickStream"`)
}

func (c *call) notFound(what string) answer {
	return c.problem(http.StatusNotFound, "There is no such "+what+".")
}

// invalid is the 422 that lists all findings of the call, unless its body cannot be read.
func (c *call) invalid() answer {
	if c.unreadable != nil {
		return *c.unreadable
	}
	return c.problem(http.StatusUnprocessableEntity, "One or more fields are not valid.", c.findings...)
}

// optional is nil for the empty text: members without a value are null.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (b *Sandbox) timestamp(t time.Time) string {
	return calendar.Sydney(t.Add(b.assume.ClockSkew)).Format(form.TimeLayout)
}

// skew is how far the service's own clock is ahead: nothing if only its times are.
func (b *Sandbox) skew() time.Duration {
	if b.assume.DateHeaderRight {
		return 0
	}
	return b.assume.ClockSkew
}

// dateHeader is the Date header of an answer.
func (b *Sandbox) dateHeader() string {
	return b.clock.Now().Add(b.skew()).UTC().Format(http.TimeFormat)
}
