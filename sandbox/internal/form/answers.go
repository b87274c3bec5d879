package form

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// JSONType and HTMLType are the media types of answers.
const (
	JSONType = "application/json;charset=UTF-8"
	HTMLType = "text/html; charset=utf-8"
)

// Link is the wire form of a link.
type Link struct {
	Rel           string `json:"rel"`
	Href          string `json:"href"`
	RequestMethod string `json:"requestMethod"`
}

// Error is the service's error body, as public client code reads it.
type Error struct {
	Links            []Link          `json:"links"`
	Errors           []FieldError    `json:"errors"`
	Status           json.RawMessage `json:"status"`
	RequestMethod    string          `json:"requestMethod"`
	RequestURL       string          `json:"requestUrl"`
	CustomerMessage  string          `json:"customerMessage"`
	DeveloperMessage string          `json:"developerMessage"`
	TraceCode        string          `json:"traceCode"`
}

// FieldError is what is wrong with one member of a request.
type FieldError struct {
	FieldName  string   `json:"fieldName"`
	FieldValue *string  `json:"fieldValue"`
	Messages   []string `json:"messages"`
}

// required are the members of a transaction in the answers that leave out the optional ones.
//
//nolint:gochecknoglobals // an immutable table
var required = []string{
	"receiptNumber", "transactionType", "authorisationType", "cancellationType", "originalReceiptNumber", "status", "responseCode", "summaryCode",
	"customerReferenceNumber", "paymentReferenceNumber", "principalAmount",
}

// Written returns the status and the body of a successful write; no body is nil.
func (f Format) Written(operation string, status int, body any) (int, []byte) {
	raw, err := json.Marshal(body)
	if err != nil { // no body of the sandbox can fail
		return http.StatusInternalServerError, nil
	}
	tree := parseTree(raw)
	if m, isObject := tree.(members); isObject {
		switch {
		case operation == "POST /transactions" || operation == "POST /transactions/{receiptNumber}/void":
			tree = f.transactionAnswer(m)
		case f.OtherAnswers == "200" && status == http.StatusCreated:
			status = http.StatusOK
		case operation == "POST /customers/{customerId}/accounts" || operation == "PUT /customers/{customerId}":
			status, tree = f.otherAnswer(status, m)
		}
	}
	if tree == nil {
		return status, nil
	}
	return status, appendTree(nil, f.value("", tree))
}

func (f Format) transactionAnswer(m members) members {
	keep := required
	switch f.TransactionAnswers {
	case "receipt":
		keep = required[:1]
	case "required":
	default:
		return m
	}
	return slices.DeleteFunc(m, func(one member) bool { return !slices.Contains(keep, one.name) })
}

// otherAnswer is the answer of a write that holds nothing that cannot be read again.
func (f Format) otherAnswer(status int, m members) (int, any) {
	switch f.OtherAnswers {
	case "empty":
		return status, nil
	case "204":
		return http.StatusNoContent, nil
	case "nested":
		return status, members{{"data", m}}
	default:
		return status, m
	}
}

// Status is the status in an error body.
func (f Format) Status(status int) json.RawMessage {
	number := strconv.Itoa(status)
	if f.ErrorStatusAsString {
		number = strconv.Quote(number)
	}
	return json.RawMessage(number)
}

// Error writes an error body and returns its media type; both are empty when there is
// no body.
func (f Format) Error(status int, e Error) (mediaType string, raw []byte) {
	if e.Errors == nil && !f.NullErrorList {
		e.Errors = []FieldError{}
	}
	texts := []string{}
	byField := make(map[string][]string)
	for _, one := range e.Errors {
		byField[one.FieldName] = one.Messages
		texts = append(texts, one.FieldName+" "+strings.Join(one.Messages, "; "))
	}
	if len(texts) == 0 {
		texts = append(texts, e.DeveloperMessage)
	}
	var body any = e
	switch f.ErrorForm {
	case "list":
		body = e.Errors
		if len(e.Errors) == 0 {
			body = []FieldError{{Messages: texts}}
		}
	case "texts":
		body = texts
	case "map":
		body = struct {
			Error
			Errors map[string][]string `json:"errors"`
		}{e, byField}
	case "data":
		body = sisterError(status, e, texts)
	case "html":
		return HTMLType, Page(status)
	case "empty":
		return "", nil
	}
	return JSONType, f.JSON(body)
}

// sisterError is the error body of a sister product, as public client code reads it.
func sisterError(status int, e Error, texts []string) any {
	if status >= http.StatusInternalServerError {
		return struct {
			ErrorNumber string `json:"errorNumber"`
			TraceCode   string `json:"traceCode"`
		}{e.TraceCode, e.TraceCode}
	}
	type one struct {
		FieldName  string  `json:"fieldName"`
		Message    string  `json:"message"`
		FieldValue *string `json:"fieldValue"`
	}
	data := []one{}
	for _, f := range e.Errors {
		data = append(data, one{f.FieldName, strings.Join(f.Messages, "; "), f.FieldValue})
	}
	if len(data) == 0 {
		data = append(data, one{Message: strings.Join(texts, "; ")})
	}
	return struct {
		Data []one `json:"data"`
	}{data}
}

// Page is the HTML of a gateway's error.
func Page(status int) []byte {
	return []byte("<html><head><title>" + strconv.Itoa(status) + "</title></head><body><h1>The request could not be served</h1></body></html>\n")
}

// WithLinks replaces the links of an object. It leaves a document that is no object as
// it is.
func WithLinks(doc []byte, links []Link) []byte {
	if !json.Valid(doc) {
		return doc
	}
	m, isObject := parseTree(doc).(members)
	raw, err := json.Marshal(links)
	if !isObject || err != nil {
		return doc
	}
	m = slices.DeleteFunc(m, func(one member) bool { return one.name == "links" })
	return appendTree(nil, append(m, member{"links", json.RawMessage(raw)}))
}

// Doubled repeats the members of an object: the first of each pair is null, the second
// is right.
func Doubled(doc []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(doc, &all) != nil || len(all) == 0 {
		return doc
	}
	for name := range all {
		all[name] = null
	}
	nulls, err := json.Marshal(all)
	if err != nil {
		return doc
	}
	return append(append(bytes.TrimSuffix(nulls, []byte("}")), ','), doc[1:]...)
}
