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

// isRead reports whether the call is a look-up and not a write.
func (c *call) isRead() bool { return c.op != nil && c.op.method == http.MethodGet }

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
	for i := range c.findings {
		if f := &c.findings[i]; f.FieldName == name {
			f.Messages = append(f.Messages, message)
			return
		}
	}
	f := fieldError{FieldName: name, Messages: []string{message}}
	if value != "" && !isSensitive(name) && !holdsCardNumber(value) {
		f.FieldValue = &value
	}
	c.findings = append(c.findings, f)
}

func isSensitive(path string) bool {
	switch path[strings.LastIndexByte(path, '.')+1:] {
	case "cardNumber", "cvn", "cryptogram", "accountNumber", "nzAccountNumber", "payId":
		return true
	}
	return false
}

// safeURL is the path and the query of an address, with account numbers blanked out.
func safeURL(u *url.URL) string {
	q := u.Query()
	hidden := false
	for name := range q {
		if isSensitive(name) {
			q.Set(name, "xxx")
			hidden = true
		}
	}
	if !hidden {
		return u.RequestURI()
	}
	return u.EscapedPath() + "?" + q.Encode()
}

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

// render turns the body into bytes. Afterwards the answer can be stored, sent more than
// once, and sent after the state has changed.
func (c *call) render(a answer) answer {
	mediaType := jsonType
	switch body := a.body.(type) {
	case nil:
		return a
	case errorBody:
		mediaType, a.raw = body.inForm(c.box.assume.ErrorForm, a.status)
	default:
		a.raw = jsonOf(body)
	}
	if a.body = nil; a.raw == nil {
		return a
	}
	if c.box.addsMembers() && mediaType == jsonType {
		a.raw = withAdded(a.raw)
	}
	return a.with("Content-Type", mediaType)
}

// addedValue returns a value of an enumeration that was added later, unless the
// assumptions exclude such values.
func (b *Sandbox) addedValue(added, usual string) string {
	if b.addsMembers() {
		return added
	}
	return usual
}

// addsMembers reports whether answers have members that are not in the contract.
func (b *Sandbox) addsMembers() bool { return b.assume.UnknownMembers != "none" }

func get(rel, href string) link {
	return link{Rel: rel, Href: href, RequestMethod: http.MethodGet}
}

// links returns a list of links, never nil.
func (c *call) links(list ...link) []link {
	if rel := c.box.addedValue(unknownEnumValue, ""); rel != "" {
		list = append(list, get(rel, c.href()))
	}
	if list == nil {
		list = []link{}
	}
	return list
}

func (c *call) problem(status int, developerMessage string, errs ...fieldError) answer {
	return reply(status, errorBody{
		Links:            c.links(),
		Errors:           errs,
		Status:           strconv.Itoa(status),
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
	return calendar.Sydney(t.Add(b.assume.ClockSkew)).Format(timeLayout)
}

// dateHeader is the Date header of an answer.
func (b *Sandbox) dateHeader() string {
	return b.clock.Now().Add(b.assume.ClockSkew).UTC().Format(http.TimeFormat)
}

// The media types of answers.
const (
	jsonType = "application/json;charset=UTF-8"
	htmlType = "text/html; charset=utf-8"
)

// link is the wire form of a link.
type link struct {
	Rel           string `json:"rel"`
	Href          string `json:"href"`
	RequestMethod string `json:"requestMethod"`
}

// errorBody is the service's error body, as public client code reads it: the status is a text.
type errorBody struct {
	Links            []link       `json:"links"`
	Errors           []fieldError `json:"errors"`
	Status           string       `json:"status"`
	RequestMethod    string       `json:"requestMethod"`
	RequestURL       string       `json:"requestUrl"`
	CustomerMessage  string       `json:"customerMessage"`
	DeveloperMessage string       `json:"developerMessage"`
	TraceCode        string       `json:"traceCode"`
}

// fieldError is what is wrong with one member of a request.
type fieldError struct {
	FieldName  string   `json:"fieldName"`
	FieldValue *string  `json:"fieldValue"`
	Messages   []string `json:"messages"`
}

// inForm writes an error body in the form of ErrorForm; both results are empty when there is no
// body.
func (e errorBody) inForm(form string, status int) (mediaType string, raw []byte) {
	if e.Errors == nil {
		e.Errors = []fieldError{}
	}
	var body any = e
	switch form {
	case "list":
		if body = e.Errors; len(e.Errors) == 0 {
			body = []fieldError{{Messages: []string{e.DeveloperMessage}}}
		}
	case "map":
		byField := make(map[string][]string)
		for _, one := range e.Errors {
			byField[one.FieldName] = one.Messages
		}
		body = struct {
			errorBody
			Errors map[string][]string `json:"errors"`
		}{e, byField}
	case "html":
		return htmlType, htmlPage(status)
	case "empty":
		return "", nil
	}
	return jsonType, jsonOf(body)
}

// jsonOf writes a wire struct. None can fail.
func jsonOf(body any) []byte {
	raw, _ := json.Marshal(body)
	return raw
}

// htmlPage is the HTML of a gateway's error.
func htmlPage(status int) []byte {
	return []byte("<html><head><title>" + strconv.Itoa(status) + "</title></head><body><h1>The request could not be served</h1></body></html>\n")
}

// addedMember is a member that is not in the contract, and unknownEnumValue such a value.
const (
	addedMember      = "addedLater"
	unknownEnumValue = "ADDED_LATER"
)

// withAdded adds a member to every object of a document, but for maps with the merchant's own
// names.
func withAdded(doc []byte) []byte {
	out := make([]byte, 0, 2*len(doc))
	var ofMerchant []bool // by depth
	name := ""
	for at := 0; at < len(doc); at++ {
		switch doc[at] {
		case '"':
			end := at + 1
			for ; doc[end] != '"'; end++ {
				if doc[end] == '\\' {
					end++
				}
			}
			if end+1 < len(doc) && doc[end+1] == ':' {
				name = string(doc[at+1 : end])
			}
			out = append(out, doc[at:end]...)
			at = end
		case '{':
			ofMerchant = append(ofMerchant, name == "metadata" || name == "errors")
		case '}':
			if last := len(ofMerchant) - 1; !ofMerchant[last] {
				if out[len(out)-1] != '{' {
					out = append(out, ',')
				}
				out = append(out, `"`+addedMember+`":{"values":[null,1.5,"text"]}`...)
			}
			ofMerchant = ofMerchant[:len(ofMerchant)-1]
		case '[', ',':
			name = ""
		}
		out = append(out, doc[at])
	}
	return out
}

// doubled repeats the members of an object: the first of each pair is null, the second is right.
func doubled(doc []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(doc, &all) != nil || len(all) == 0 {
		return doc
	}
	for name := range all {
		all[name] = json.RawMessage("null")
	}
	return append(append(bytes.TrimSuffix(jsonOf(all), []byte("}")), ','), doc[1:]...)
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
	original := b.transactions.byReceipt[tx.originalReceipt]
	switch {
	case b.assume.Metadata == "dropped":
		return nil
	case b.assume.Metadata == "inherited" && original != nil:
		return b.shownMetadata(original)
	default:
		return tx.metadata
	}
}

// receiptBody is the answer to a transaction with TransactionAnswers=receipt.
type receiptBody struct {
	ReceiptNumber string `json:"receiptNumber"`
}

// written answers a write of a transaction.
func (b *Sandbox) written(c *call, status int, tx *transaction) answer {
	c.made = tx
	if b.assume.TransactionAnswers == "receipt" {
		return reply(status, receiptBody{tx.receipt})
	}
	return reply(status, b.transactionBody(c, tx))
}

func (b *Sandbox) created(c *call, tx *transaction) answer {
	return b.written(c, http.StatusCreated, tx)
}
