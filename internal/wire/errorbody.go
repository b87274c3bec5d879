package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
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
	// Own tells that the body is the service's: an object that decodes strictly and
	// has a message. A gateway in front of the service answers in other shapes, and
	// what a gateway says proves nothing about a payment.
	Own bool
}

// FieldError is what an error body says about one field, whose name may be missing. The
// rejected value itself is never kept: it may be a card number.
type FieldError struct {
	FieldName string
	Messages  []string
}

// ParseErrorBody reads an error body, leniently but for Own.
func ParseErrorBody(data []byte) ErrorBody {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		var list []json.RawMessage
		if json.Unmarshal(data, &list) != nil {
			return ErrorBody{}
		}
		return ErrorBody{Fields: fieldErrors(data)}
	}
	body := ErrorBody{
		CustomerMessage:  text(members["customerMessage"]),
		DeveloperMessage: text(members["developerMessage"]),
		TraceCode:        text(members["traceCode"]),
		Fields:           fieldErrors(members["errors"]),
	}
	var strict struct {
		CustomerMessage  string `json:"customerMessage" wire:"decides"`
		DeveloperMessage string `json:"developerMessage" wire:"decides"`
	}
	body.Own = Decode(data, &strict) == nil && body.CustomerMessage+body.DeveloperMessage != ""
	return body
}

// fieldErrors reads a list of errors, which are objects or texts, or a single one, or an
// object of messages by field.
func fieldErrors(data json.RawMessage) (found []FieldError) {
	add := func(name string, messages []string) {
		if name != "" || len(messages) > 0 {
			found = append(found, FieldError{name, messages})
		}
	}
	items, byField := []json.RawMessage{data}, map[string]json.RawMessage{}
	if json.Unmarshal(data, &byField) == nil && byField["fieldName"] == nil && byField["messages"] == nil {
		for _, name := range slices.Sorted(maps.Keys(byField)) {
			add(name, texts(byField[name]))
		}
		return found
	}
	_ = json.Unmarshal(data, &items)
	for _, item := range items {
		var one struct {
			FieldName json.RawMessage `json:"fieldName"`
			Messages  json.RawMessage `json:"messages"`
		}
		if json.Unmarshal(item, &one) == nil {
			add(text(one.FieldName), texts(one.Messages))
		} else {
			add("", texts(item))
		}
	}
	return found
}

// texts reads a text, or a list of which the texts count.
func texts(data json.RawMessage) (found []string) {
	items := []json.RawMessage{data}
	_ = json.Unmarshal(data, &items)
	for _, item := range items {
		if message := text(item); message != "" {
			found = append(found, message)
		}
	}
	return found
}

func text(data json.RawMessage) string {
	var s string
	if json.Unmarshal(data, &s) != nil {
		return ""
	}
	return s
}

// refusedValue is the member of an error body that repeats what was sent.
const refusedValue = "fieldValue"

var (
	// refusedText finds it where there is no JSON to walk through.
	refusedText = regexp.MustCompile(`(?i)` + refusedValue)
	queryPart   = regexp.MustCompile(`\?\S+`)
	userPart    = regexp.MustCompile(`//[^/\s]*@`)
)

// Scrub returns an error body without what the caller sent: refused values are
// removed, and query and user are cut from echoed addresses, at any depth. A body
// that is not JSON is returned up to the first refused value, because nothing
// tells where one ends.
func Scrub(data []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var tree any
	if !json.Valid(data) || dec.Decode(&tree) != nil {
		if at := refusedText.FindIndex(data); at != nil {
			return data[:at[0]]
		}
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
			if strings.EqualFold(name, refusedValue) {
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
		return userPart.ReplaceAllString(queryPart.ReplaceAllString(node, ""), "//")
	}
	return tree
}
