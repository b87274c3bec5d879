package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// schemaURL names the document inside the schema compiler; nothing is fetched from it.
const schemaURL = "contract:///openapi.json"

// Document is the parsed contract with every schema compiled. It is read-only
// and safe for concurrent use.
type Document struct {
	Operations []*Operation // by path, then method
	Webhooks   []*Operation // the notifications whose event type is documented
	byID       map[string]*Operation
	envelope   *Operation // a notification whose event type is not listed
}

// Operation is one method on one path of the contract, or one webhook.
type Operation struct {
	ID         string      // "POST /transactions"; for a webhook "WEBHOOK payto.payment.approved"
	Method     string      // HTTP verb
	Path       string      // path template; the event type for a webhook
	Keys       []string    // security schemes; each one opens the operation
	Parameters []Parameter // of the path, the query and the header

	body      map[string]*content // by media type
	responses map[string]response // by status or "default"
	basePath  string
}

// Parameter is a documented parameter of an operation.
type Parameter struct {
	Name, In string   // in "path", "query" or "header"
	Values   []string // of a list of values

	required bool
	boolean  bool
	schema   *jsonschema.Schema
}

type response struct {
	content      map[string]*content
	bodyOptional bool
}

// content is a body: its schema, the documented members, and one schema per
// variant when the body is a choice.
type content struct {
	schema   *jsonschema.Schema
	variants []variant
	filePart string // name of the part that is a file, in a multipart body
}

type variant struct {
	Variant
	schema *jsonschema.Schema
	consts map[string]string // members whose value is fixed, such as transactionType
}

// readDocument returns the OpenAPI document; "" if it cannot be read.
func readDocument() string {
	text, _ := os.ReadFile("../../openapi/openapi.yaml")
	return string(text)
}

// Load parses the document and compiles its schemas. It takes long; call it once and share the result.
func Load() (*Document, error) {
	root, err := decodeYAML(readDocument())
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource(schemaURL, root); err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	l := loader{root: objectOf(root), compiler: compiler}
	d := &Document{Operations: l.operations(l.basePath()), Webhooks: l.webhooks(), envelope: l.envelope()}
	d.byID = make(map[string]*Operation)
	for _, op := range slices.Concat(d.Operations, d.Webhooks) {
		d.byID[op.ID] = op
	}
	if err := errors.Join(l.errs...); err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	return d, nil
}

// Operation returns the operation or webhook with the given ID.
func (d *Document) Operation(id string) (*Operation, bool) {
	op, ok := d.byID[id]
	return op, ok
}

// Match finds the operation a request is for. The path may begin with the base
// path of the documented servers. Literal segments win over parameters.
func (d *Document) Match(r *http.Request) (*Operation, error) {
	var found *Operation
	for _, op := range d.Operations {
		if op.Method != r.Method {
			continue
		}
		if values, ok := op.pathValues(r.URL); ok {
			if len(values) == 0 {
				return op, nil
			}
			found = op
		}
	}
	if found == nil {
		return nil, fmt.Errorf("contract: no operation for %s %s", r.Method, r.URL.Path)
	}
	return found, nil
}

// pathValues returns the decoded path parameters when the URL fits the template.
func (o *Operation) pathValues(u *url.URL) (map[string]string, bool) {
	path := u.EscapedPath()
	if rest, ok := strings.CutPrefix(path, o.basePath); ok && (rest == "" || rest[0] == '/') {
		path = rest
	}
	want, got := strings.Split(o.Path, "/"), strings.Split("/"+strings.TrimPrefix(path, "/"), "/")
	if len(want) != len(got) {
		return nil, false
	}
	values := map[string]string{}
	for i, segment := range want {
		name, isParameter := strings.CutPrefix(segment, "{")
		if !isParameter {
			if segment != got[i] {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(got[i])
		if err != nil {
			return nil, false
		}
		values[strings.TrimSuffix(name, "}")] = value
	}
	return values, true
}

// decodeYAML goes through JSON, so that the schema compiler sees the numbers
// and key types a JSON document would have.
func decodeYAML(text string) (any, error) {
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("contract: %w", err)
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
}
