package contract

import (
	"bytes"
	"cmp"
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
	// Required tells that the member must be there whenever its parent is.
	Required bool
	// Values are the documented values of a list of values.
	Values []string
	// Open tells that values other than Values are valid too.
	Open bool
	// Source is "public" when the member is not from the contract proper, else empty.
	Source string
}

// Variant is one of the forms a body can take; a body with a single form has one variant.
type Variant struct {
	Name    string // name of the schema, such as "RefundRequest"
	Members []Member
}

// RequestVariants returns the forms of the request body, or of a webhook's body;
// none if there is no body.
func (o *Operation) RequestVariants() []Variant {
	for _, c := range o.body {
		return c.public()
	}
	return nil
}

// ResponseMembers returns the members of the JSON body sent with a status.
func (o *Operation) ResponseMembers(status int) []Member {
	r, ok := o.response(status)
	if !ok || r.content[jsonType] == nil {
		return nil
	}
	return r.content[jsonType].variants[0].Members
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

// Undocumented returns the paths of a JSON body's members that are not among
// the documented ones, in the form [Member] uses. Response schemas let unknown
// members pass, so a misspelt optional member shows up only here.
func Undocumented(documented []Member, body []byte) ([]string, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(documented))
	for _, m := range documented {
		known[m.Path] = true
	}
	unknown := map[string]bool{}
	collectUnknown(known, unknown, "", value)
	return slices.Sorted(maps.Keys(unknown)), nil
}

func collectUnknown(known, unknown map[string]bool, prefix string, value any) {
	switch v := value.(type) {
	case map[string]any:
		if prefix != "" {
			prefix += "."
		}
		for name, child := range v {
			switch path := prefix + name; {
			case known[path]:
				collectUnknown(known, unknown, path, child)
			case !known[prefix+"*"]:
				unknown[path] = true
			}
		}
	case []any:
		for _, child := range v {
			collectUnknown(known, unknown, prefix+"[]", child)
		}
	}
}

func (c *content) public() []Variant {
	out := make([]Variant, len(c.variants))
	for i := range c.variants {
		out[i] = c.variants[i].Variant
	}
	return out
}

// variants follows a choice between named schemas down to its leaves. A oneOf
// that only counts members, such as "exactly one account source", is a rule
// and not a choice of forms.
func (l *loader) variants(p pointer, n map[string]any) []variant {
	choices, _ := n["oneOf"].([]any)
	if len(choices) == 0 || object(choices[0])["$ref"] == nil {
		v := variant{schema: l.compile(p), consts: map[string]string{}}
		v.Name = p.name()
		v.Members = l.members("", p, n, text(n["x-source"]))
		for name := range object(n["properties"]) {
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
func (l *loader) members(prefix string, p pointer, n map[string]any, source string) []Member {
	var out []Member
	properties := object(n["properties"])
	required := texts(n["required"])
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		own := object(properties[name]) // before following $ref: it may carry its own x-source
		child, property := l.node(p.child("properties", name))
		m := Member{
			Path:     prefix + name,
			Types:    texts(property["type"]),
			Required: slices.Contains(required, name),
			Source:   cmp.Or(text(own["x-source"]), text(property["x-source"]), source),
		}
		switch {
		case property["const"] != nil:
			m.Values = []string{fmt.Sprint(property["const"])}
		case property["enum"] != nil:
			m.Values = texts(property["enum"])
		case property["x-open-enum"] != nil:
			m.Values, m.Open = texts(property["x-open-enum"]), true
		}
		out = append(out, m)
		out = append(out, l.inner(m.Path, child, property, m.Source)...)
	}
	if extra := n["additionalProperties"]; extra == true || object(extra) != nil {
		out = append(out, Member{Path: prefix + "*", Types: texts(object(extra)["type"]), Source: source})
	}
	return out
}

// inner lists the members below a member: of an object, or of an array's elements.
func (l *loader) inner(path string, p pointer, n map[string]any, source string) []Member {
	if n["items"] == nil {
		return l.members(path+".", p, n, source)
	}
	element, item := l.node(p.child("items"))
	source = cmp.Or(text(item["x-source"]), source)
	if strings.Contains(strings.Join(texts(item["type"]), " "), "object") {
		return l.members(path+"[].", element, item, source)
	}
	return []Member{{Path: path + "[]", Types: texts(item["type"]), Source: source}}
}
