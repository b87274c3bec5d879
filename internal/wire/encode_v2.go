//go:build go1.27 && goexperiment.jsonv2

package wire

import (
	"encoding/json"
	"encoding/json/jsontext"
	jsonv2 "encoding/json/v2"
)

// marshalText encodes as [Marshal] does, and refuses a text that is not valid UTF-8, also one that a
// method writes.
func marshalText(v any) ([]byte, error) {
	return jsonv2.Marshal(v, json.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.AllowInvalidUTF8(false))
}
