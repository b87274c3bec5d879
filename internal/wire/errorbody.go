package wire

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// What is read of an error body, and kept of its texts.
const (
	maxErrorJSON   = 256 << 10
	maxFieldErrors = 10 // and as many messages of each
	maxMessage     = 1024
	maxName        = 100
)

// ErrorBody is what the client keeps of the service's error body. The shape is
// not part of the published contract; it is known from public client code, so
// every member is optional and every type is tolerated. Its texts are those that
// [Shown] returns.
type ErrorBody struct {
	CustomerMessage  string
	DeveloperMessage string
	TraceCode        string
	Fields           []FieldError // the first of them
	// Own tells that the body is the service's: an object that decodes strictly and
	// has a message, or a list of errors of which one names a field. A gateway in front
	// of the service answers in other shapes, and what a gateway says proves nothing
	// about a payment.
	Own bool
}

// FieldError is what an error body says about one field, whose name may be missing. The
// rejected value itself is never kept: it may be a card number.
type FieldError struct {
	FieldName string
	Messages  []string
}

// isErrorJSON reports whether an error body is JSON, and no larger than one has to be.
func isErrorJSON(data []byte) bool {
	return len(data) <= maxErrorJSON && HasAtMost(data, maxErrorValues)
}

// ParseErrorBody reads an error body, leniently but for Own.
func ParseErrorBody(data []byte) ErrorBody {
	var members map[string]json.RawMessage
	switch {
	case !isErrorJSON(data):
		return ErrorBody{}
	case json.Unmarshal(data, &members) != nil:
		var list []json.RawMessage
		if json.Unmarshal(data, &list) != nil {
			return ErrorBody{}
		}
		return ErrorBody{Fields: fieldErrors(data)}
	}
	var strict struct {
		CustomerMessage  string `json:"customerMessage" wire:"decides"`
		DeveloperMessage string `json:"developerMessage" wire:"decides"`
		Errors           Span   `json:"errors" wire:"decides"`
	}
	body := ErrorBody{
		CustomerMessage:  text(members["customerMessage"], maxMessage),
		DeveloperMessage: text(members["developerMessage"], maxMessage),
		TraceCode:        text(members["traceCode"], maxName),
		Fields:           fieldErrors(members["errors"]),
	}
	body.Own = Decode(data, &strict) == nil &&
		(strings.TrimSpace(body.CustomerMessage+body.DeveloperMessage) != "" || namesField(strict.Errors))
	return body
}

// namesField reports whether errors are a list with an object whose field has a name.
func namesField(errs []byte) bool {
	var items Spans
	return Decode(errs, &items) == nil && slices.ContainsFunc(items, func(item Span) bool {
		var strict struct {
			FieldName Span `json:"fieldName" wire:"decides"`
		}
		var name string
		return Decode(item, &strict) == nil && json.Unmarshal(strict.FieldName, &name) == nil &&
			strings.TrimSpace(name) != "" && !strings.ContainsRune(name, utf8.RuneError)
	})
}

// Conceal drops the names in which a secret comes back: an error prints them.
func (b *ErrorBody) Conceal(secret string) {
	if strings.Contains(b.TraceCode, secret) {
		b.TraceCode = ""
	}
	for i, field := range b.Fields {
		if strings.Contains(field.FieldName, secret) {
			b.Fields[i].FieldName = ""
		}
	}
}

// fieldErrors reads a list of errors, which are objects or texts, or a single one, or an
// object of messages by field.
func fieldErrors(data json.RawMessage) (found []FieldError) {
	add := func(name string, messages []string) {
		if (name != "" || len(messages) > 0) && len(found) < maxFieldErrors {
			found = append(found, FieldError{name, messages})
		}
	}
	byField := map[string]json.RawMessage{}
	if json.Unmarshal(data, &byField) == nil && byField["fieldName"] == nil && byField["messages"] == nil {
		for _, name := range slices.Sorted(maps.Keys(byField)) {
			add(Shown(name, maxName), texts(byField[name]))
		}
		return found
	}
	for _, item := range list(data) {
		var one struct {
			FieldName json.RawMessage `json:"fieldName"`
			Messages  json.RawMessage `json:"messages"`
		}
		if json.Unmarshal(item, &one) == nil {
			add(text(one.FieldName, maxName), texts(one.Messages))
		} else {
			add("", texts(item))
		}
	}
	return found
}

// list returns the items of a list, and anything else as the only one.
func list(data json.RawMessage) (items []json.RawMessage) {
	if json.Unmarshal(data, &items) != nil {
		return []json.RawMessage{data}
	}
	return items
}

// texts reads a text, or a list of which the texts count.
func texts(data json.RawMessage) (found []string) {
	for _, item := range list(data) {
		if message := text(item, maxMessage); message != "" && len(found) < maxFieldErrors {
			found = append(found, message)
		}
	}
	return found
}

func text(data json.RawMessage, longest int) string {
	var s string
	if json.Unmarshal(data, &s) != nil {
		return ""
	}
	return Shown(s, longest)
}

// sentName ends the names of what repeats what was sent.
const sentName = `(?i:value|cvn|cvv|card.?number|account.?number|pay.?id|cryptogram|api.?key|authorization|password)`

// longestText bounds the texts of a body that is kept.
const longestText = 16 << 10

var (
	sentMember = regexp.MustCompile(sentName + `$`)
	// sentText and echo find it where there is no JSON to walk through.
	sentText  = regexp.MustCompile(sentName)
	echo      = regexp.MustCompile(`\S+@\S+|\d{6,}|(?i:basic)\s+\S+`)
	queryPart = regexp.MustCompile(`\?\S+`)
	userPart  = regexp.MustCompile(`//[^/\s]*@`)
)

// Scrub returns an error body without what the caller sent: refused values and members
// with the names of secrets are removed, numbers that may be a card's are masked, and
// query and user are cut from echoed addresses, at any depth. A body that is not JSON is
// returned up to the first such name, because nothing tells where a value ends, and
// without numbers and addresses. Of long texts the beginning is kept.
func Scrub(data []byte) []byte {
	if !isErrorJSON(data) {
		text := cut(string(data), longestText)
		if at := sentText.FindStringIndex(text); at != nil {
			text = text[:at[0]]
		}
		return []byte(echo.ReplaceAllLiteralString(scrubText(text), masked))
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var tree any
	if dec.Decode(&tree) != nil {
		return nil
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
		clean := make(map[string]any, len(node))
		for name, value := range node {
			if !sentMember.MatchString(name) {
				clean[Shown(name, maxName)] = scrub(value)
			}
		}
		return clean
	case []any:
		for i := range node {
			node[i] = scrub(node[i])
		}
	case json.Number:
		if text := node.String(); len(text) < 20 && Shown(text, maxName) != text {
			return masked
		}
	case string:
		return scrubText(node)
	}
	return tree
}

func scrubText(text string) string {
	text = cut(text, longestText)
	return Shown(userPart.ReplaceAllString(queryPart.ReplaceAllString(text, ""), "//"), longestText)
}
