package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi/datamodel"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// The document is judged by the OpenAPI Initiative's schema of OpenAPI 3.1.
func TestDocumentIsOpenAPI31(t *testing.T) {
	const url = "https://spec.openapis.org/oas/3.1/schema"
	rules, err := jsonschema.UnmarshalJSON(strings.NewReader(datamodel.OpenAPI31SchemaData))
	if err != nil {
		t.Fatal(err)
	}
	written := readDocument()
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(url, rules); err != nil {
		t.Fatal(err)
	}
	schema := compiler.MustCompile(url)
	for name, tt := range map[string]struct {
		text  string
		valid bool
	}{
		"as written":              {written, true},
		"without responses' text": {strings.Replace(written, "description: Links to the resources., ", "", 1), false},
		"with an unknown member":  {strings.Replace(written, "operationId: getRoot", "operationID: getRoot", 1), false},
	} {
		var document any
		if err := yaml.Unmarshal([]byte(tt.text), &document); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(document); (err == nil) != tt.valid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// keywords are what a schema of this document may say. JSON Schema ignores
// what it does not know, so a misspelt keyword would silently allow anything.
var keywords = strings.Fields(`$ref type properties required additionalProperties minProperties items enum const format
	pattern minLength maxLength minimum maximum exclusiveMinimum multipleOf default deprecated description
	oneOf anyOf allOf not if then else dependentRequired discriminator contentMediaType
	x-open-enum x-source x-sureness`)

func TestSchemas(t *testing.T) {
	var root map[string]any
	if err := yaml.Unmarshal([]byte(readDocument()), &root); err != nil {
		t.Fatal(err)
	}
	for name, schema := range root["components"].(map[string]any)["schemas"].(map[string]any) {
		checkSchema(t, name, schema)
	}
}

func checkSchema(t *testing.T, where string, value any) {
	t.Helper()
	schema, ok := value.(map[string]any)
	if !ok { // true or false
		return
	}
	for _, key := range slices.Sorted(maps.Keys(schema)) {
		if !slices.Contains(keywords, key) {
			t.Errorf("%s: unknown keyword %s", where, key)
		}
	}
	if (schema["x-source"] == nil) != (schema["x-sureness"] == nil) {
		t.Errorf("%s: x-source and x-sureness go together", where)
	}
	properties, _ := schema["properties"].(map[string]any)
	if required, ok := schema["required"].([]any); ok && schema["type"] != nil && properties != nil {
		for _, name := range required {
			if properties[name.(string)] == nil {
				t.Errorf("%s: required %s is not a property", where, name)
			}
		}
	}
	for name, property := range properties {
		checkSchema(t, where+"."+name, property)
	}
	for _, key := range []string{"items", "additionalProperties", "not", "if", "then", "else"} {
		checkSchema(t, where+" "+key, schema[key])
	}
	for _, key := range []string{"oneOf", "anyOf", "allOf"} {
		list, _ := schema[key].([]any)
		for i, child := range list {
			checkSchema(t, fmt.Sprint(where, " ", key, " ", i), child)
		}
	}
}
