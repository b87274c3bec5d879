package sandbox

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

const unknownEnumValue = "ADDED_LATER"

const jsonType = "application/json;charset=UTF-8"

// render turns the body into bytes, in the form of the sandbox's world; afterwards
// the answer can be stored, sent more than once, and sent after the state has moved
// on.
func (c *call) render(a answer) answer {
	if a.body == nil {
		return a
	}
	body := a.body
	a.body = nil
	if problem, isError := body.(errorBody); isError {
		return c.renderError(a, problem)
	}
	raw, err := json.Marshal(body)
	if err != nil { // the bodies are our own structs of plain values
		return answer{status: http.StatusInternalServerError}
	}
	tree := parseTree(raw)
	if c.op != nil && c.op.method != http.MethodGet {
		a, tree = c.writeAnswer(a, tree)
	}
	if tree == nil {
		return a
	}
	a.raw = appendTree(nil, former{&c.box.assume}.value("", tree))
	return a.with("Content-Type", jsonType)
}

// required are the members of a transaction without which it would say nothing.
//
//nolint:gochecknoglobals // an immutable table
var required = []string{
	"receiptNumber", "transactionType", "authorisationType", "cancellationType", "originalReceiptNumber", "status", "responseCode", "summaryCode",
	"customerReferenceNumber", "paymentReferenceNumber", "principalAmount",
}

// writeAnswer is what the success of a write carries; a nil tree is no body.
func (c *call) writeAnswer(a answer, tree any) (answer, any) {
	m, isObject := tree.(members)
	switch id := c.op.id; {
	case !isObject:
	case id == "POST /transactions" || id == "POST /transactions/{receiptNumber}/void":
		return a, transactionAnswer(m, c.box.assume.TransactionAnswers)
	case c.box.assume.OtherAnswers == "200" && a.status == http.StatusCreated:
		a.status = http.StatusOK
	case id == "POST /customers/{customerId}/accounts" || id == "PUT /customers/{customerId}":
		return otherAnswer(a, m, c.box.assume.OtherAnswers)
	}
	return a, tree
}

func transactionAnswer(m members, form string) members {
	keep := required
	switch form {
	case "receipt":
		keep = required[:1]
	case "required":
	default:
		return m
	}
	return slices.DeleteFunc(m, func(one member) bool { return !slices.Contains(keep, one.name) })
}

// otherAnswer is for writes whose answer holds nothing that cannot be read again.
func otherAnswer(a answer, m members, form string) (answer, any) {
	switch form {
	case "empty":
		return a, nil
	case "204":
		a.status = http.StatusNoContent
		return a, nil
	case "nested":
		return a, members{{"data", m}}
	default:
		return a, m
	}
}

// renderError writes an error body in the form of the sandbox's world.
func (c *call) renderError(a answer, e errorBody) answer {
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
	switch c.box.assume.ErrorForm {
	case "list":
		body = e.Errors
		if len(e.Errors) == 0 {
			body = []fieldError{{Messages: texts}}
		}
	case "texts":
		body = texts
	case "map":
		body = struct {
			errorBody
			Errors map[string][]string `json:"errors"`
		}{e, byField}
	case "html":
		a.raw = page(a.status)
		return a.with("Content-Type", "text/html; charset=utf-8")
	case "empty":
		return a
	}
	raw, err := json.Marshal(body)
	if err != nil { // our own plain values
		return a
	}
	a.raw = appendTree(nil, former{&c.box.assume}.value("", parseTree(raw)))
	return a.with("Content-Type", jsonType)
}

// doubled repeats the members of an object: the first of each pair is null, the
// second is right.
func doubled(doc []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(doc, &all) != nil || len(all) == 0 {
		return doc
	}
	for name := range all {
		all[name] = json.RawMessage("null")
	}
	nulls, err := json.Marshal(all)
	if err != nil {
		return doc
	}
	return append(append(bytes.TrimSuffix(nulls, []byte("}")), ','), doc[1:]...)
}
