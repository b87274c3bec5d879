package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits for an error body and its texts.
const (
	maxErrorJSON   = 256 << 10
	maxFieldErrors = 10 // also messages of each
	maxMessage     = 1024
	maxName        = 100
)

// ErrorBody is the part of the service's error body that the client keeps. Its shape is not in the
// published contract but known from public client code, so every member is optional and every type
// is tolerated. Texts are as [Shown] returns them.
type ErrorBody struct {
	CustomerMessage  string
	DeveloperMessage string
	TraceCode        string
	Fields           []FieldError // the first maxFieldErrors
	// FromService means that the body is the service's: an object that decodes strictly, and has a message
	// or a list with an error that names a field. Gateways answer in other shapes, and their answers prove
	// nothing about a payment. A body with a transaction of its own is not the service's error body.
	FromService bool
	// errors is the member of that name, if the object decodes strictly and has no transaction.
	errors Span
}

// ErrReadNotSent matches the error of a read that was not sent. It is for this repository.
var ErrReadNotSent = errors.New("nothing was read")

// ErrFromService matches an error whose answer has a body that is FromService. It is for this
// repository.
var ErrFromService = errors.New("in the service's error body")

// FieldError is the error of one field, whose name may be missing. The rejected value is never
// kept: it may be a card number.
type FieldError struct {
	FieldName string
	Messages  []string
}

// isErrorJSON reports whether an error body is JSON within the limits.
func isErrorJSON(data []byte) bool {
	return len(data) <= maxErrorJSON && HasAtMost(data, maxErrorValues)
}

// ParseErrorBody reads an error body: leniently, except for FromService.
func ParseErrorBody(data []byte) ErrorBody {
	if !isErrorJSON(data) {
		return ErrorBody{}
	}
	informs := ValidUTF8(data)
	var members map[string]json.RawMessage
	if json.Unmarshal(informs, &members) != nil {
		var list []json.RawMessage
		if json.Unmarshal(informs, &list) != nil {
			return ErrorBody{}
		}
		return ErrorBody{Fields: fieldErrors(informs)}
	}
	var strict struct {
		CustomerMessage  string `json:"customerMessage" wire:"decides"`
		DeveloperMessage string `json:"developerMessage" wire:"decides"`
		Errors           Span   `json:"errors" wire:"decides"`
		ReceiptNumber    string `json:"receiptNumber" wire:"decides"`
		SummaryCode      string `json:"summaryCode" wire:"decides"`
	}
	body := ErrorBody{
		CustomerMessage:  text(members["customerMessage"], maxMessage),
		DeveloperMessage: text(members["developerMessage"], maxMessage),
		TraceCode:        text(members["traceCode"], maxName),
		Fields:           fieldErrors(members["errors"]),
	}
	if Decode(data, &strict) != nil || strict.ReceiptNumber+strict.SummaryCode != "" {
		return body
	}
	body.errors = strict.Errors
	body.FromService = strings.TrimSpace(body.CustomerMessage+body.DeveloperMessage) != "" || namesField(strict.Errors)
	return body
}

// Lists reports whether the body lists errors with a text that is not empty: in a list, or by the
// name of a member of the request. By the contract a 422 lists the errors; their form is not
// published.
func (b ErrorBody) Lists(request []byte) bool {
	var items []json.RawMessage
	if json.Unmarshal(b.errors, &items) == nil {
		return slices.ContainsFunc(items, func(item json.RawMessage) bool { return strings.TrimSpace(text(item, maxMessage)) != "" })
	}
	var byName map[string]json.RawMessage
	var sent any
	if json.Unmarshal(b.errors, &byName) != nil || json.Unmarshal(request, &sent) != nil {
		return false
	}
	for name, messages := range byName {
		first, _, _ := strings.Cut(name, ".")
		if hasMember(sent, first) && slices.ContainsFunc(texts(messages), func(text string) bool { return strings.TrimSpace(text) != "" }) {
			return true
		}
	}
	return false
}

// hasMember reports whether an object of the request has a member of this name. The names in
// metadata are the merchant's.
func hasMember(tree any, name string) bool {
	object, _ := tree.(map[string]any)
	if _, has := object[name]; has {
		return true
	}
	for member, value := range object {
		if member != "metadata" && hasMember(value, name) {
			return true
		}
	}
	return false
}

// namesField reports whether errs is a list with an object that has a field name.
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

// fieldErrors reads a list of errors (objects or texts), a single one, or an object of messages by
// field.
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
			Message   json.RawMessage `json:"message"`
		}
		if json.Unmarshal(item, &one) == nil {
			add(text(one.FieldName, maxName), append(texts(one.Messages), texts(one.Message)...))
		} else {
			add("", texts(item))
		}
	}
	return found
}

// list returns the items of a list, or anything else as the only item.
func list(data json.RawMessage) (items []json.RawMessage) {
	if json.Unmarshal(data, &items) != nil {
		return []json.RawMessage{data}
	}
	return items
}

// texts reads a text, or the texts of a list.
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

// sentName matches the end of names whose members repeat values of the request.
const sentName = `(?i:value|cvn|cvv|card.?number|account.?number|pay.?id|cryptogram|api.?key|authorization|password)`

// longestText bounds the texts of a kept body.
const longestText = 16 << 10

var (
	sentMember = regexp.MustCompile(sentName + `$`)
	// sentText and echo are for bodies that are not JSON.
	sentText  = regexp.MustCompile(sentName)
	echo      = regexp.MustCompile(`\S+@\S+|\d{6,}|(?i:basic)\s+\S+`)
	queryPart = regexp.MustCompile(`\?\S+`)
	userPart  = regexp.MustCompile(`//[^/\s]*@`)
)

// Scrub returns an error body without values of the request, at any depth: it removes rejected
// values and members named like secrets, masks numbers that may be a card's, and cuts query and
// user from addresses. A body that is not JSON is cut at the first such name, because the end of
// its value is unknown, and loses numbers and addresses. Long texts are cut.
func Scrub(data []byte) []byte {
	if !isErrorJSON(data) {
		text := cut(string(data), longestText)
		if at := sentText.FindStringIndex(text); at != nil {
			text = text[:at[0]]
		}
		return []byte(echo.ReplaceAllLiteralString(scrubText(text), masked))
	}
	dec := json.NewDecoder(bytes.NewReader(ValidUTF8(data)))
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

var (
	statusCode = regexp.MustCompile(`\b[1-5]\d\d\b`)
	verb       = regexp.MustCompile(`^(?i:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$`)
)

// IsAbout reports whether an error body is about a request and its status: it names no other
// status, requestMethod or requestUrl. A text that has none of these forms is ignored. Only the end
// of the address's path counts, because host and prefix may be a proxy's.
func IsAbout(data []byte, status int, method, path string) bool {
	var said struct {
		Status string `json:"status" wire:"decides"`
		Method string `json:"requestMethod" wire:"decides"`
		URL    string `json:"requestUrl" wire:"decides"`
	}
	if Decode(data, &said) != nil {
		return false
	}
	if code := statusCode.FindString(said.Status); code != "" && code != strconv.Itoa(status) {
		return false
	}
	if named := strings.TrimSpace(said.Method); verb.MatchString(named) && !strings.EqualFold(named, method) {
		return false
	}
	address := said.URL
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		address = address[:end]
	}
	if plain, err := url.PathUnescape(address); err == nil {
		address = plain
	}
	if !strings.Contains(address, "/") {
		return true
	}
	address = strings.TrimRight(address, "/ ")
	return len(address) >= len(path) && strings.EqualFold(address[len(address)-len(path):], path)
}
