package quickstream

import (
	"bytes"
	"net/http"
	"path"
	"regexp"
	"strings"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// What the text of an error says beside the status, so that the reader knows what to
// do. It is made of the route template and of words of our own.

// saying is an error that can be told without its call.
type saying interface {
	error
	says() string
}

// missing says of a 404 what was not found, by the kinds of resource that the route
// names.
func (e *APIError) missing() string {
	if e.Reason != ReasonNotFound || e.stranger != "" || e.Route == "" {
		return ""
	}
	var none []string
	rest := e.Route
	for {
		before, after, found := strings.Cut(rest, "{")
		if !found {
			break
		}
		name, tail, _ := strings.Cut(after, "}")
		none, rest = append(none, "none of the "+path.Base(before)+" has this "+name), tail
	}
	switch what := strings.Join(none, ", or "); {
	case what == "" && e.Method == http.MethodGet:
		return "nothing fits the query, or it cannot be seen yet" + e.orAddress()
	case what == "":
		return "something that the request names was not found" + e.orAddress()
	case rest != "" && e.Method == http.MethodGet:
		return what + ", or it has no " + path.Base(rest)
	default:
		return what + ", or it cannot be seen yet"
	}
}

// orAddress is for an answer without the service's words.
func (e *APIError) orAddress() string {
	if e.CustomerMessage()+e.DeveloperMessage() != "" {
		return ""
	}
	return "; if nothing is ever found, look at the environment's address"
}

// stranger says why something other than the service may have answered, and what to
// look at; "" where nothing tells.
func (c *call) stranger(r *transport.Result) string {
	address := "look at the environment's address"
	versionless := !versionElement.MatchString(path.Base(c.client.base.Path))
	if versionless {
		address += ", which does not end with a version such as /rest/v1"
	}
	switch undecoded := r.Reason == transport.Inconclusive && r.Err != nil; {
	case bytes.HasPrefix(bytes.TrimLeft(r.Body, "\ufeff \t\r\n"), []byte("<")):
		return "it is HTML or XML, and the service answers with JSON; " + address + ", and at proxies on the way"
	case versionless && !r.Problem.Own && (undecoded || r.Reason == transport.NotFound):
		return address
	}
	return ""
}

// plainWord is what a message may show: letters, of which no secret is made, and the
// punctuation of a sentence.
var plainWord = regexp.MustCompile(`^["'(]*[A-Za-z'/-]{1,24}["')]*[.,:;!?]*$`)

// readMessages returns the messages of the service.
func (e *APIError) readMessages() string {
	var lines []string
	add := func(name, message string) {
		words := strings.Fields(message)
		for i, word := range words {
			if !plainWord.MatchString(word) {
				words[i] = "?"
			}
		}
		if len(words) > 0 {
			lines = append(lines, name+strings.Join(words, " "))
		}
	}
	for _, field := range e.Fields() {
		name := ""
		if field.FieldName != "" {
			name = safeName(field.FieldName, 4) + ": "
		}
		for _, message := range field.Messages {
			add(name, message)
		}
	}
	add("", e.DeveloperMessage())
	add("", e.CustomerMessage())
	if len(lines) == 0 {
		return ""
	}
	return "; it says: " + strings.Join(lines, "; ")
}
