package sandbox

import (
	"bytes"
	"encoding/json"
	"net/http"
)

const unknownEnumValue = "ADDED_LATER"

// unknownMember is what the service may add to an object without a new version of
// its interface.
const (
	unknownMember  = "addedLater"
	unknownMembers = `"` + unknownMember + `":{"values":[null,1.5,"text"]}`
)

// render turns the body into bytes; afterwards the answer can be stored, sent
// more than once, and sent after the state has moved on.
func (b *Sandbox) render(a answer) answer {
	if a.body == nil {
		return a
	}
	raw, err := json.Marshal(a.body)
	if err != nil { // the bodies are our own structs of plain values
		return answer{status: http.StatusInternalServerError}
	}
	if b.assume.UnknownMembers {
		raw = addMembers(raw)
	}
	a.body, a.raw = nil, raw
	return a.with("Content-Type", "application/json;charset=UTF-8")
}

// addMembers puts a member that nobody knows into every object of a compact
// JSON document, save those that hold the merchant's own names.
func addMembers(doc []byte) []byte {
	type level struct {
		object, merchants, empty bool
	}
	var (
		out   = make([]byte, 0, 2*len(doc))
		stack []level
		last  string // the text read last, which is the name when an object begins
	)
	for i := 0; i < len(doc); {
		switch ch := doc[i]; ch {
		case '"':
			end := i + 1
			for doc[end] != '"' {
				if doc[end] == '\\' {
					end++
				}
				end++
			}
			last = string(doc[i+1 : end])
			if n := len(stack); n > 0 {
				stack[n-1].empty = false
			}
			out = append(out, doc[i:end+1]...)
			i = end + 1
			continue
		case '{', '[':
			stack = append(stack, level{object: ch == '{', merchants: last == "metadata", empty: true})
		case '}', ']':
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if top.object && !top.merchants {
				if !top.empty {
					out = append(out, ',')
				}
				out = append(out, unknownMembers...)
			}
			last = ""
		}
		out = append(out, doc[i])
		i++
	}
	return out
}

// doubled repeats the members of an object: the first of each pair is null, the
// second is right.
func doubled(doc []byte) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(doc, &members) != nil || len(members) == 0 {
		return doc
	}
	for name := range members {
		members[name] = json.RawMessage("null")
	}
	nulls, err := json.Marshal(members)
	if err != nil {
		return doc
	}
	return append(append(bytes.TrimSuffix(nulls, []byte("}")), ','), doc[1:]...)
}
