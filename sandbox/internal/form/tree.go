package form

import (
	"bytes"
	"encoding/json"
)

// members is a JSON object with its members in order. A value is members, a []any or,
// for all else, a json.RawMessage.
type members []member

type member struct {
	name  string // as written between its quotes
	value any
}

func (m members) get(name string) any {
	for _, one := range m {
		if one.name == name {
			return one.value
		}
	}
	return nil
}

func (m members) set(name string, value any) {
	for i := range m {
		if m[i].name == name {
			m[i].value = value
		}
	}
}

// rewrite changes the members that are texts.
func (m members) rewrite(change func(string) string, names ...string) {
	for _, name := range names {
		raw, _ := m.get(name).(json.RawMessage)
		if text, isText := unquoted(raw); isText {
			m.set(name, quoted(change(text)))
		}
	}
}

// fill sets a member that is null.
func (m members) fill(name string, value any) {
	if raw, ok := m.get(name).(json.RawMessage); ok && string(raw) == "null" {
		m.set(name, value)
	}
}

// parseTree reads a compact, well-formed document, such as json.Marshal writes.
func parseTree(doc []byte) any {
	value, _ := readValue(doc)
	return value
}

func readValue(doc []byte) (value any, rest []byte) {
	switch doc[0] {
	case '{':
		m := members{}
		for rest = doc[1:]; rest[0] != '}'; rest = bytes.TrimPrefix(rest, []byte(",")) {
			end := textEnd(rest)
			one := member{name: string(rest[1 : end-1])}
			one.value, rest = readValue(rest[end+1:])
			m = append(m, one)
		}
		return m, rest[1:]
	case '[':
		list := []any{}
		for rest = doc[1:]; rest[0] != ']'; rest = bytes.TrimPrefix(rest, []byte(",")) {
			var one any
			one, rest = readValue(rest)
			list = append(list, one)
		}
		return list, rest[1:]
	case '"':
		end := textEnd(doc)
		return json.RawMessage(doc[:end]), doc[end:]
	default:
		end := bytes.IndexAny(doc, ",}]")
		if end < 0 {
			end = len(doc)
		}
		return json.RawMessage(doc[:end]), doc[end:]
	}
}

// textEnd returns the index after the text with which a document begins.
func textEnd(doc []byte) int {
	end := 1
	for doc[end] != '"' {
		if doc[end] == '\\' {
			end++
		}
		end++
	}
	return end + 1
}

func appendTree(out []byte, value any) []byte {
	switch v := value.(type) {
	case members:
		out = append(out, '{')
		for i, one := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, '"')
			out = append(out, one.name...)
			out = append(out, `":`...)
			out = appendTree(out, one.value)
		}
		return append(out, '}')
	case []any:
		out = append(out, '[')
		for i, one := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendTree(out, one)
		}
		return append(out, ']')
	case json.RawMessage:
		return append(out, v...)
	default:
		return append(out, "null"...)
	}
}
