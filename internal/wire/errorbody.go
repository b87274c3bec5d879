package wire

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
)

// ErrorBody is what the client keeps of the service's error body. The shape is
// not part of the published contract; it is known from public client code, so
// every member is optional and every type is tolerated.
type ErrorBody struct {
	CustomerMessage  string
	DeveloperMessage string
	TraceCode        string
	Fields           []FieldError
}

// FieldError is one element of an error body's list. The rejected value itself
// is never kept: it may be a card number.
type FieldError struct {
	FieldName string
	Messages  []string
}

// ParseErrorBody reads an error body. The flag tells whether the body is the
// service's own: a gateway in front of it answers in other shapes, and what a
// gateway says proves nothing about a payment.
func ParseErrorBody(data []byte) (ErrorBody, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return ErrorBody{}, false
	}
	body := ErrorBody{
		CustomerMessage:  text(members["customerMessage"]),
		DeveloperMessage: text(members["developerMessage"]),
		TraceCode:        text(members["traceCode"]),
	}
	var items []struct {
		FieldName json.RawMessage `json:"fieldName"`
		Messages  json.RawMessage `json:"messages"`
	}
	if json.Unmarshal(members["errors"], &items) == nil {
		for _, item := range items {
			field := FieldError{FieldName: text(item.FieldName)}
			if json.Unmarshal(item.Messages, &field.Messages) != nil {
				if single := text(item.Messages); single != "" {
					field.Messages = []string{single}
				}
			}
			body.Fields = append(body.Fields, field)
		}
	}
	own := body.CustomerMessage != "" || body.DeveloperMessage != "" || body.TraceCode != "" || text(members["requestUrl"]) != ""
	return body, own
}

func text(data json.RawMessage) string {
	var s string
	if json.Unmarshal(data, &s) != nil {
		return ""
	}
	return s
}

// Scrub returns an error body without what the caller sent: rejected values are
// removed and the query is cut from echoed addresses, at any depth. A body that
// is not JSON is returned as it is.
func Scrub(data []byte) []byte {
	if !json.Valid(data) {
		return data
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var tree any
	if dec.Decode(&tree) != nil {
		return data
	}
	clean, err := Marshal(scrub(tree))
	if err != nil {
		return nil
	}
	return clean
}

func scrub(tree any) any {
	switch node := tree.(type) {
	case map[string]any:
		for name, value := range node {
			if strings.EqualFold(name, "fieldValue") {
				delete(node, name)
				continue
			}
			node[name] = scrub(value)
		}
	case []any:
		for i := range node {
			node[i] = scrub(node[i])
		}
	case string:
		if u, err := url.Parse(node); err == nil && u.Scheme != "" && (u.RawQuery != "" || u.User != nil) {
			u.RawQuery, u.User = "", nil
			return u.String()
		}
	}
	return tree
}
