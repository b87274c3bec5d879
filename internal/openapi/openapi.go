// Package openapi holds the OpenAPI 3.1 description of the service, for programs that serve it
// and for package contract, which validates with it. The description is unofficial, in our own
// words.
package openapi

import _ "embed"

//go:embed openapi.yaml
var document string

// Document returns the description in YAML.
func Document() []byte { return []byte(document) }
