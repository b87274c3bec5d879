package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// errorBody is the service's error body, as public client code reads it.
type errorBody struct {
	Links            []link          `json:"links"`
	Errors           []fieldError    `json:"errors"`
	Status           json.RawMessage `json:"status"`
	RequestMethod    string          `json:"requestMethod"`
	RequestURL       string          `json:"requestUrl"`
	CustomerMessage  string          `json:"customerMessage"`
	DeveloperMessage string          `json:"developerMessage"`
	TraceCode        string          `json:"traceCode"`
}

type fieldError struct {
	FieldName  string   `json:"fieldName"`
	FieldValue *string  `json:"fieldValue"`
	Messages   []string `json:"messages"`
}

func (c *call) problem(status int, developerMessage string, errs ...fieldError) answer {
	number := strconv.Itoa(status)
	if c.box.assume.ErrorStatusAsString {
		number = strconv.Quote(number)
	}
	if errs == nil && !c.box.assume.NullErrorList {
		errs = []fieldError{}
	}
	return reply(status, errorBody{
		Links:            c.links(),
		Errors:           errs,
		Status:           json.RawMessage(number),
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

// invalid is the 422 that lists all findings of the call.
func (c *call) invalid() answer {
	return c.problem(http.StatusUnprocessableEntity, "One or more fields are not valid.", c.findings...)
}

// refuse adds a finding. The value is echoed, as the service does, unless it is
// or may be a number that nobody should see.
func (c *call) refuse(name, value, message string) {
	for i := range c.findings {
		if f := &c.findings[i]; f.FieldName == name {
			f.Messages = append(f.Messages, message)
			return
		}
	}
	f := fieldError{FieldName: name, Messages: []string{message}}
	if value != "" && !sensitiveField(name) && !holdsCardNumber(value) {
		f.FieldValue = &value
	}
	c.findings = append(c.findings, f)
}

func sensitiveField(path string) bool {
	switch path[strings.LastIndexByte(path, '.')+1:] {
	case "cardNumber", "cvn", "cryptogram", "accountNumber", "nzAccountNumber", "payId":
		return true
	}
	return false
}

// safeURL is path and query with account numbers blanked out.
func safeURL(u *url.URL) string {
	q := u.Query()
	hidden := false
	for name := range q {
		if sensitiveField(name) {
			q.Set(name, "xxx")
			hidden = true
		}
	}
	if !hidden {
		return u.RequestURI()
	}
	return u.EscapedPath() + "?" + q.Encode()
}
