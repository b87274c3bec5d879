package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Member is one documented member of a body.
type Member struct {
	// Path is written "creditCard.cvn", "links[].rel", and "metadata.*" where
	// any member may stand.
	Path string
	// Types are the JSON types allowed, "null" among them.
	Types []string
	// Required means that the member is present whenever its parent is.
	Required bool
	// Values are the documented values of a list of values, also of one that may grow.
	Values []string
	// MaxLength is the most characters of a text; 0 is no limit.
	MaxLength int
}

// Variant is one of the forms a body can take; a body with a single form has one variant.
type Variant struct {
	Name    string // name of the schema, such as "RefundRequest"
	Members []Member
}

// RequestVariants returns the forms of the request body, or of a webhook's body;
// none if there is no body.
func (o *Operation) RequestVariants() []Variant {
	var out []Variant
	for _, c := range o.body {
		for _, v := range c.variants {
			out = append(out, v.Variant)
		}
	}
	return out
}

// ResponseMembers returns the members of the JSON body sent with a status.
func (o *Operation) ResponseMembers(status int) []Member {
	r, ok := o.response(status)
	if !ok || r.content[jsonType] == nil {
		return nil
	}
	return r.content[jsonType].variants[0].Members
}

// ResponseTypes returns the media types that are documented for a status.
func (o *Operation) ResponseTypes(status int) []string {
	r, _ := o.response(status)
	return slices.Sorted(maps.Keys(r.content))
}

// Statuses returns the documented statuses in order; the default is not among them.
func (o *Operation) Statuses() []int {
	var out []int
	for key := range o.responses {
		if status, err := strconv.Atoi(key); err == nil {
			out = append(out, status)
		}
	}
	slices.Sort(out)
	return out
}

// RequestVariant returns the form that a JSON request body claims to be: the one
// whose fixed members it has, or the only one there is.
func (o *Operation) RequestVariant(body []byte) (Variant, bool) {
	c := o.body[jsonType]
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if c == nil || err != nil || objectOf(value) == nil {
		return Variant{}, false
	}
	v := c.claimed(objectOf(value))
	if v == nil {
		return Variant{}, false
	}
	return v.Variant, true
}

// Undocumented returns the paths of a JSON body's members that are not among
// the documented ones, in the form [Member] uses, and "path=value" for a text that
// is not in its member's list of values. Response schemas let unknown members and
// values pass, so a misspelt one shows up only here.
func Undocumented(documented []Member, body []byte) ([]string, error) {
	_, unknown, err := compare(documented, body)
	return unknown, err
}

// Documented returns the paths of the documented members that a JSON body has
// with a value other than null.
func Documented(documented []Member, body []byte) ([]string, error) {
	known, _, err := compare(documented, body)
	return known, err
}

func compare(documented []Member, body []byte) (known, unknown []string, err error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	c := comparison{documented: map[string]*Member{}, known: map[string]bool{}, unknown: map[string]bool{}}
	for i := range documented {
		c.documented[documented[i].Path] = &documented[i]
	}
	c.walk("", value)
	return slices.Sorted(maps.Keys(c.known)), slices.Sorted(maps.Keys(c.unknown)), nil
}

// comparison sorts the members of a body by whether they are documented.
type comparison struct {
	documented     map[string]*Member
	known, unknown map[string]bool
}

func (c comparison) walk(prefix string, value any) {
	switch v := value.(type) {
	case map[string]any:
		if prefix != "" {
			prefix += "."
		}
		for name, child := range v {
			switch path := prefix + name; {
			case c.documented[path] != nil:
				c.see(path, child)
				c.walk(path, child)
			case c.documented[prefix+"*"] != nil:
				c.see(prefix+"*", child)
			default:
				c.unknown[path] = true
			}
		}
	case []any:
		for _, child := range v {
			if c.documented[prefix+"[]"] != nil {
				c.see(prefix+"[]", child)
			}
			c.walk(prefix+"[]", child)
		}
	}
}

func (c comparison) see(path string, value any) {
	if value != nil {
		c.known[path] = true
	}
	if word, ok := value.(string); ok && c.documented[path].Values != nil && !slices.Contains(c.documented[path].Values, word) {
		c.unknown[path+"="+word] = true
	}
}

// variants follows a choice between named schemas down to its leaves. A oneOf
// that only counts members, such as "exactly one account source", is a rule
// and not a choice of forms.
func (l *loader) variants(p pointer, n map[string]any) []variant {
	choices, _ := n["oneOf"].([]any)
	if len(choices) == 0 || objectOf(choices[0])["$ref"] == nil {
		v := variant{schema: l.compile(p), consts: map[string]string{}}
		v.Name = p.name()
		v.Members = l.members("", p, n)
		for name := range objectOf(n["properties"]) {
			_, property := l.node(p.child("properties", name))
			if want, ok := property["const"].(string); ok {
				v.consts[name] = want
			}
		}
		return []variant{v}
	}
	var out []variant
	for i := range choices {
		leaf, leafNode := l.node(p.child("oneOf", strconv.Itoa(i)))
		out = append(out, l.variants(leaf, leafNode)...)
	}
	return out
}

// members lists what may stand inside an object, depth first and in name order.
func (l *loader) members(prefix string, p pointer, n map[string]any) []Member {
	var out []Member
	properties := objectOf(n["properties"])
	required := textsOf(n["required"])
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		child, property := l.node(p.child("properties", name))
		m := Member{
			Path:     prefix + name,
			Types:    textsOf(property["type"]),
			Required: slices.Contains(required, name),
		}
		switch {
		case property["const"] != nil:
			m.Values = []string{fmt.Sprint(property["const"])}
		case property["enum"] != nil:
			m.Values = textsOf(property["enum"])
		case property["x-open-enum"] != nil:
			m.Values = textsOf(property["x-open-enum"])
		}
		if limit, found := property["maxLength"].(json.Number); found {
			m.MaxLength, _ = strconv.Atoi(limit.String())
		}
		out = append(out, m)
		out = append(out, l.inner(m.Path, child, property)...)
	}
	if extra := n["additionalProperties"]; extra == true || objectOf(extra) != nil {
		out = append(out, Member{Path: prefix + "*", Types: textsOf(objectOf(extra)["type"])})
	}
	return out
}

// inner lists the members below a member: of an object, or of an array's elements.
func (l *loader) inner(path string, p pointer, n map[string]any) []Member {
	if n["items"] == nil {
		return l.members(path+".", p, n)
	}
	element, item := l.node(p.child("items"))
	if strings.Contains(strings.Join(textsOf(item["type"]), " "), "object") {
		return l.members(path+"[].", element, item)
	}
	return []Member{{Path: path + "[]", Types: textsOf(item["type"])}}
}
