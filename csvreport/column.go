package csvreport

import (
	"strconv"
	"strings"
	"unicode"
)

// metadataPrefix precedes the key in the names of metadata columns.
const metadataPrefix = "metadata_"

// Column is a column of one report, bound by name and used for every row. It belongs to the
// [Reader] that returned it; rows of other reports refuse it.
type Column struct {
	header *header
	place  int  // from 1
	asked  bool // by the caller, by name: errors may show it
}

// header holds the names of a report's columns.
type header struct{ names []string }

const (
	maxListed     = 20 // names in an error
	maxListedName = 40 // bytes of each
)

// append appends the names as an error shows them.
func (h *header) append(text []byte) []byte {
	for i, name := range h.names[:min(len(h.names), maxListed)] {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = strconv.AppendQuote(text, listed(name))
	}
	if len(h.names) > maxListed {
		text = append(text, " and others"...)
	}
	return text
}

// listed returns a name without the words that can be values. A word that was cut is not shown.
func listed(name string) string {
	cut := len(name) > maxListedName
	words := strings.Split(name[:min(len(name), maxListedName)], " ")
	for i, word := range words {
		odd := func(r rune) bool { return !unicode.IsLetter(r) && r != '_' && r != '-' }
		if strings.ContainsFunc(word, odd) || cut && i == len(words)-1 {
			words[i] = "?"
		}
	}
	return strings.Join(words, " ")
}

// Name returns the column's name.
func (c Column) Name() string {
	if c.header == nil {
		return ""
	}
	return c.header.names[c.place-1]
}

// Column returns the column with exactly this name. The error is a [KindNoColumn], or a
// [KindAmbiguousColumn] if the header has the name twice; [Reader.Columns] returns both of them.
func (r *Reader) Column(name string) (Column, error) {
	var found Column
	for i, has := range r.header.names {
		switch {
		case has != name:
		case found.place > 0:
			return Column{}, &Error{Kind: KindAmbiguousColumn, Name: name}
		default:
			found = Column{r.header, i + 1, true}
		}
	}
	if found.place == 0 {
		return Column{}, &Error{Kind: KindNoColumn, Name: name, header: r.header}
	}
	return found, nil
}

// Columns returns all columns in the order of the header.
func (r *Reader) Columns() []Column {
	columns := make([]Column, len(r.header.names))
	for i := range columns {
		columns[i] = Column{header: r.header, place: i + 1}
	}
	return columns
}
