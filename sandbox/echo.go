package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// EchoLinks carries the operation out, and its answer has links and headers that repeat
// all that was sent, as [Echo] does.
func EchoLinks() FaultKind {
	return FaultKind{name: "EchoLinks", play: func(x *exchange) {
		a := x.commit()
		all := x.sent()
		if tree, isObject := parseJSON(a.raw).(members); isObject {
			tree = slices.DeleteFunc(tree, func(one member) bool { return one.name == "links" })
			raw, _ := json.Marshal(x.echoedLinks(all)) // texts only
			a.raw = appendTree(nil, append(tree, member{"links", json.RawMessage(raw)}))
		}
		x.send(x.echoedHeaders(a, all))
	}}
}

// parseJSON returns nil of an answer that is something else.
func parseJSON(raw []byte) any {
	if !json.Valid(raw) {
		return nil
	}
	return parseTree(raw)
}

// sentText is a text of a request, and where it stood.
type sentText struct{ name, text string }

// The bounds of what is repeated.
const (
	maxSentTexts = 100
	maxSentText  = 256
)

// sent returns the texts of a request: of its path, query, headers and body. Of cards
// only public test numbers are among them.
func (c *call) sent() (all []sentText) {
	add := func(name, text string) {
		if text != "" && len(all) < maxSentTexts {
			all = append(all, sentText{name, text[:min(len(text), maxSentText)]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.params)) {
		add(name, c.params[name])
	}
	for _, values := range []map[string][]string{c.query, c.header} {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			add(name, strings.Join(values[name], ", "))
		}
	}
	user, _ := c.box.userOf(c.header)
	add("user", user)
	body := maskCards(c.body)
	var tree any
	if json.Unmarshal(body, &tree) == nil {
		walkTexts("", tree, add)
	} else {
		add("body", string(body))
	}
	return all
}

func walkTexts(name string, tree any, add func(name, text string)) {
	switch node := tree.(type) {
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(node)) {
			walkTexts(strings.TrimPrefix(name+"."+member, "."), node[member], add)
		}
	case []any:
		for i, element := range node {
			walkTexts(name+"["+strconv.Itoa(i)+"]", element, add)
		}
	case nil:
	default:
		add(name, fmt.Sprint(node))
	}
}

// echo is an answer that repeats what was sent: in its headers, and in a body of the
// service's form or, as a page, in that of a gateway.
func (c *call) echo(code int, asPage bool) answer {
	all := c.sent()
	var texts strings.Builder
	for _, one := range all {
		fmt.Fprintf(&texts, "%s=%s ", one.name, one.text)
	}
	if asPage {
		text := "<html><body>" + html.EscapeString(c.method+" "+c.origin+c.url.RequestURI()+" "+texts.String()) + "</body></html>"
		return c.echoedHeaders(answer{status: code, raw: []byte(text)}.with("Content-Type", "text/html; charset=utf-8"), all)
	}
	body := errorBody{
		Links: c.echoedLinks(all), Status: json.RawMessage(strconv.Itoa(code)), RequestMethod: c.method, RequestURL: c.origin + c.url.RequestURI(),
		CustomerMessage: "Not accepted: " + texts.String(), DeveloperMessage: texts.String() + "were sent to " + c.url.RequestURI(), TraceCode: "4D2C",
	}
	for _, one := range all {
		body.Errors = append(body.Errors, fieldError{cmp.Or(one.name, "body"), &one.text, []string{one.text + " is not accepted", "not " + strconv.Quote(one.text)}})
	}
	raw, _ := json.Marshal(body) // texts only
	return c.echoedHeaders(answer{status: code, raw: raw}.with("Content-Type", jsonType), all)
}

func (c *call) echoedLinks(all []sentText) (links []link) {
	for _, one := range all {
		links = append(links, get("about", c.href()+"?"+url.Values{one.name: {one.text}}.Encode()))
	}
	return links
}

// echoedHeaders adds those that gateways and services repeat things in.
func (c *call) echoedHeaders(a answer, all []sentText) answer {
	a = a.with("Location", c.origin+c.url.RequestURI())
	for _, one := range all {
		a.header.Add("X-Echo", one.name+"="+one.text)
		a.header.Add("Link", "<"+c.href()+"?"+url.Values{one.name: {one.text}}.Encode()+">; rel=about")
		a.header.Add("Set-Cookie", "echo="+url.QueryEscape(one.text))
	}
	return a
}
