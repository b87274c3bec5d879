package conformance

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// loader turns the document's nodes into operations. It collects errors, so
// that the code which walks the document stays readable.
type loader struct {
	root     map[string]any
	compiler *jsonschema.Compiler
	errs     []error
}

// pointer is a JSON pointer into the document.
type pointer string

func (p pointer) child(keys ...string) pointer {
	for _, key := range keys {
		p += pointer("/" + strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1"))
	}
	return p
}

// name is the last token, which for a component is its name.
func (p pointer) name() string { return string(p[strings.LastIndex(string(p), "/")+1:]) }

func objectOf(v any) map[string]any { m, _ := v.(map[string]any); return m }
func textOf(v any) string           { s, _ := v.(string); return s }
func flagOf(v any) bool             { b, _ := v.(bool); return b }

func textsOf(v any) []string {
	list, ok := v.([]any)
	if !ok {
		if s, ok := v.(string); ok {
			return []string{s}
		}
		return nil
	}
	out := make([]string, len(list))
	for i := range list {
		out[i] = fmt.Sprint(list[i])
	}
	return out
}

// node follows the pointer and any $ref found there, and returns where it ended.
func (l *loader) node(p pointer) (pointer, map[string]any) {
	for range 10 {
		var value any = l.root
		for token := range strings.SplitSeq(strings.TrimPrefix(string(p), "/"), "/") {
			key := strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
			switch v := value.(type) {
			case map[string]any:
				value = v[key]
			case []any:
				var i int
				if _, err := fmt.Sscan(key, &i); err != nil || i >= len(v) {
					value = nil
				} else {
					value = v[i]
				}
			default:
				value = nil
			}
		}
		ref, ok := objectOf(value)["$ref"].(string)
		if !ok {
			if value == nil {
				l.errs = append(l.errs, fmt.Errorf("nothing at %s", p))
			}
			return p, objectOf(value)
		}
		p = pointer(strings.TrimPrefix(ref, "#"))
	}
	l.errs = append(l.errs, fmt.Errorf("references at %s do not end", p))
	return p, nil
}

func (l *loader) compile(p pointer) *jsonschema.Schema {
	tokens := strings.Split(string(p), "/")
	for i := range tokens {
		tokens[i] = url.PathEscape(tokens[i])
	}
	schema, err := l.compiler.Compile(schemaURL + "#" + strings.Join(tokens, "/"))
	if err != nil {
		l.errs = append(l.errs, err)
	}
	return schema
}

// basePath is the path that all servers share.
func (l *loader) basePath() string {
	servers, _ := l.root["servers"].([]any)
	var base string
	for i, server := range servers {
		u, err := url.Parse(textOf(objectOf(server)["url"]))
		if err != nil || i > 0 && u.Path != base {
			l.errs = append(l.errs, fmt.Errorf("server %d: paths differ or cannot be read", i))
			continue
		}
		base = u.Path
	}
	return base
}

func (l *loader) operations(basePath string) []*Operation {
	var ops []*Operation
	paths := objectOf(l.root["paths"])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := pointer("/paths").child(path)
		for _, method := range []string{"delete", "get", "patch", "post", "put"} {
			if objectOf(paths[path])[method] != nil {
				ops = append(ops, l.operation(item, method, path, basePath))
			}
		}
	}
	return ops
}

func (l *loader) webhooks() []*Operation {
	var ops []*Operation
	for _, event := range slices.Sorted(maps.Keys(objectOf(l.root["webhooks"]))) {
		ops = append(ops, l.operation(pointer("/webhooks").child(event), "post", event, ""))
	}
	return ops
}

// envelope is what every notification has in common: a listed one with the
// body's schema replaced by the one that leaves event type and data open.
func (l *loader) envelope() *Operation {
	op := l.operation(pointer("/webhooks").child("payto.payment.approved"), "post", "", "")
	op.ID = "WEBHOOK"
	op.body = map[string]*content{jsonType: l.content(pointer("/components/schemas/Notification"))}
	return op
}

func (l *loader) operation(item pointer, method, path, basePath string) *Operation {
	p, n := l.node(item.child(method))
	op := &Operation{
		ID:        textOf(n["x-operation"]),
		Method:    strings.ToUpper(method),
		Path:      path,
		responses: map[string]response{},
		basePath:  basePath,
	}
	requirements, ok := n["security"].([]any)
	if !ok {
		requirements, _ = l.root["security"].([]any)
	}
	for _, requirement := range requirements {
		op.Keys = append(op.Keys, slices.Sorted(maps.Keys(objectOf(requirement)))...)
	}
	_, itemNode := l.node(item)
	op.Parameters = slices.Concat(l.parameters(item, itemNode), l.parameters(p, n))
	if n["requestBody"] != nil {
		bp, body := l.node(p.child("requestBody"))
		op.body = l.contents(bp, body)
	}
	for status := range objectOf(n["responses"]) {
		rp, r := l.node(p.child("responses", status))
		op.responses[status] = response{content: l.contents(rp, r), bodyOptional: flagOf(r["x-body-optional"])}
	}
	return op
}

func (l *loader) parameters(owner pointer, n map[string]any) []Parameter {
	list, _ := n["parameters"].([]any)
	var out []Parameter
	for i := range list {
		p, param := l.node(owner.child("parameters", fmt.Sprint(i)))
		_, schema := l.node(p.child("schema"))
		out = append(out, Parameter{
			Name:     textOf(param["name"]),
			In:       textOf(param["in"]),
			required: flagOf(param["required"]),
			boolean:  textOf(schema["type"]) == "boolean",
			Values:   textsOf(schema["enum"]),
			schema:   l.compile(p.child("schema")),
		})
	}
	return out
}

func (l *loader) contents(owner pointer, n map[string]any) map[string]*content {
	out := map[string]*content{}
	for mediaType := range objectOf(n["content"]) {
		out[mediaType] = l.content(owner.child("content", mediaType, "schema"))
	}
	return out
}

func (l *loader) content(p pointer) *content {
	p, n := l.node(p)
	c := &content{schema: l.compile(p), variants: l.variants(p, n)}
	for name := range objectOf(n["properties"]) {
		if _, property := l.node(p.child("properties", name)); property["contentMediaType"] != nil {
			c.filePart = name
		}
	}
	return c
}
