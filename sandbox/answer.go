package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
	"github.com/quickstream-go/quickstream/sandbox/internal/memnet"
)

// call is one request without its connection, so that it can be carried out after the
// caller has gone.
type call struct {
	box            *Sandbox
	op             *operation
	method         string
	url            *url.URL
	origin         string // scheme and host that the caller used
	header         http.Header
	query          url.Values
	params         map[string]string
	body           []byte
	idempotencyKey string
	now            time.Time // when it is carried out

	opened     []*fields
	made       *transaction // by this call
	findings   []fieldError
	unreadable *answer // to a body that cannot be read
}

// background is a call of the sandbox's own, for what happens without a request. Its
// links lead to the origin of [WithOrigin], or to the in-memory address.
func (b *Sandbox) background() *call {
	return &call{box: b, origin: cmp.Or(b.served.origin, "http://"+memnet.Host), now: b.clock.Now()}
}

func (c *call) isRead() bool { return c.method == http.MethodGet }

// href makes an absolute address on the host that the caller used. Forwarding headers
// are ignored.
func (c *call) href(segments ...string) string {
	var sb strings.Builder
	sb.WriteString(c.origin + basePath)
	for _, s := range segments {
		sb.WriteString("/" + url.PathEscape(s))
	}
	return sb.String()
}

// refuse adds a finding. The value is echoed, as the service does, unless it is or may
// be a secret number.
func (c *call) refuse(name, value, message string) {
	if isSensitive(name) || holdsCardNumber(value) {
		value = ""
	}
	c.findings = append(c.findings, fieldError{name, value, []string{message}})
}

func isSensitive(path string) bool {
	switch path[strings.LastIndexByte(path, '.')+1:] {
	case "cardNumber", "cvn", "cryptogram", "accountNumber", "nzAccountNumber", "payId":
		return true
	}
	return false
}

type object = map[string]any

// answer is the answer to a call. The body is nil for none.
type answer struct {
	status int
	header http.Header
	body   object
	raw    []byte // the body as it is sent
}

func reply(status int, body object) answer { return answer{status: status, body: body} }

func (a answer) with(name, value string) answer {
	a.header = a.header.Clone()
	if a.header == nil {
		a.header = make(http.Header)
	}
	a.header.Set(name, value)
	return a
}

func (a answer) succeeded() bool { return a.status >= 200 && a.status < 300 }

// render turns the body into bytes. Afterwards the answer can be stored, sent more than
// once, and sent after the state has changed.
func (c *call) render(a answer) answer {
	if a.body == nil {
		return a
	}
	mediaType := jsonType
	if _, isError := a.body["errors"]; isError {
		mediaType, a.raw = c.errorInForm(a.body, a.status)
	} else {
		a.raw = c.jsonOf(a.body)
	}
	if a.body = nil; a.raw == nil {
		return a
	}
	return a.with("Content-Type", mediaType)
}

// jsonOf writes a document. None can fail.
func (c *call) jsonOf(body any) []byte {
	if c.box.addsMembers() {
		addMembers(body)
	}
	raw, _ := json.Marshal(body)
	return raw
}

// addMembers adds a member to every object of a document. Maps with the merchant's own names are of
// another type.
func addMembers(part any) {
	switch part := part.(type) {
	case object:
		if part == nil {
			return
		}
		for _, inner := range part {
			addMembers(inner)
		}
		part[addedMember] = map[string][]any{"values": {nil, 1.5, "text"}}
	case []object:
		for _, inner := range part {
			addMembers(inner)
		}
	}
}

// addedValue returns a value of an enumeration that was added later, unless the
// assumptions exclude such values.
func (b *Sandbox) addedValue(added, usual string) string {
	if b.addsMembers() {
		return added
	}
	return usual
}

func (b *Sandbox) addsMembers() bool { return b.assume.UnknownMembers != "none" }

func get(rel, href string) object {
	return object{"rel": rel, "href": href, "requestMethod": http.MethodGet}
}

// links returns a list of links, never nil.
func (c *call) links(list ...object) []object {
	if rel := c.box.addedValue(unknownEnumValue, ""); rel != "" {
		list = append(list, get(rel, c.href()))
	}
	return append([]object{}, list...)
}

// problem is an error in the service's form, as public client code reads it: the status is a text.
func (c *call) problem(status int, developerMessage string, errs ...fieldError) answer {
	list := make([]object, len(errs))
	for i, e := range errs {
		list[i] = object{"fieldName": e.name, "fieldValue": optional(e.value), "messages": e.messages}
	}
	return reply(status, object{
		"links": c.links(), "errors": list, "status": strconv.Itoa(status),
		"requestMethod": c.method, "requestUrl": c.origin + strings.TrimSuffix(c.url.EscapedPath()+"?"+maskedQuery(c.query).Encode(), "?"),
		"customerMessage": "Please check your details and try again.", "developerMessage": developerMessage, "traceCode": randomText(c.box.ids, textAlphabet, 16),
	})
}

type fieldError struct {
	name, value string
	messages    []string
}

// errorInForm writes an error body in the form of ErrorForm; both results are empty when there is no
// body.
func (c *call) errorInForm(body object, status int) (mediaType string, raw []byte) {
	list, _ := body["errors"].([]object)
	switch c.box.assume.ErrorForm {
	case "list":
		if len(list) == 0 {
			list = []object{{"fieldName": "", "fieldValue": nil, "messages": []any{body["developerMessage"]}}}
		}
		return jsonType, c.jsonOf(list)
	case "map":
		byField := make(map[string][]string)
		for _, one := range list {
			name, _ := one["fieldName"].(string)
			byField[name], _ = one["messages"].([]string)
		}
		body["errors"] = byField
	case "html":
		return htmlType, htmlPage(status)
	case "empty":
		return "", nil
	}
	return jsonType, c.jsonOf(body)
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
	return calendar.Sydney(t.Add(b.assume.ClockSkew)).Format(timeLayout)
}

// The media types of answers.
const (
	jsonType = "application/json;charset=UTF-8"
	htmlType = "text/html; charset=utf-8"
)

func htmlPage(status int) []byte {
	return []byte("<html><head><title>" + strconv.Itoa(status) + "</title></head><body><h1>The request could not be served</h1></body></html>\n")
}

// addedMember is a member that is not in the contract, and unknownEnumValue such a value.
const (
	addedMember      = "addedLater"
	unknownEnumValue = "ADDED_LATER"
)

// doubled repeats the members of an object: the first of each pair is null, the second is right.
func doubled(doc []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(doc, &all) != nil || len(all) == 0 {
		return doc
	}
	for name := range all {
		all[name] = json.RawMessage("null")
	}
	nulls, _ := json.Marshal(all)
	return append(append(bytes.TrimSuffix(nulls, []byte("}")), ','), doc[1:]...)
}

// timeLayout is the layout of times in the contract's samples.
const timeLayout = "2006-01-02T15:04:05-0700"

// dateIn writes a date, given as YYYY-MM-DD, in another layout.
func dateIn(date, layout string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil { // the sandbox wrote it
		return date
	}
	return day.Format(layout)
}

// echoed is a reference of a request in answers: see EchoedReferences.
func (b *Sandbox) echoed(reference string) *string {
	switch b.assume.EchoedReferences {
	case "none":
		return nil
	case "upper":
		reference = strings.ToUpper(reference)
	}
	return optional(reference)
}

// shownStatus is the status of a transaction in answers: see StatusForm. The empty text is absent.
func (b *Sandbox) shownStatus(tx *transaction) string {
	status := b.status(tx)
	word, final := map[string]string{"Approved": "Settled", "Declined": "Refused", "Voided": "Reversed"}[strings.TrimSuffix(status, "*")]
	switch {
	case b.assume.StatusForm == "otherCase":
		return strings.ToUpper(status)
	case b.assume.StatusForm == "unlisted" && final:
		return word
	case b.assume.StatusForm == "absent" && final && status != "Voided": // summary code 0 means approved too
		return ""
	default:
		return status
	}
}

// shownMetadata is the metadata of a transaction in answers: see Metadata.
func (b *Sandbox) shownMetadata(tx *transaction) map[string]string {
	original := b.transactions.byID[tx.OriginalReceiptNumber]
	switch {
	case b.assume.Metadata == "dropped":
		return nil
	case b.assume.Metadata == "inherited" && original != nil:
		return b.shownMetadata(original)
	default:
		return tx.Metadata
	}
}

func (b *Sandbox) written(c *call, status int, tx *transaction) answer {
	c.made = tx
	if b.assume.TransactionAnswers == "receipt" {
		return reply(status, object{"receiptNumber": tx.ReceiptNumber})
	}
	return reply(status, b.transactionBody(c, tx))
}
