package csvreport

import (
	"maps"
	"strings"
)

// metadataPrefix begins the names of the columns that hold a transaction's
// metadata; the key follows.
const metadataPrefix = "metadata_"

// Column is a column of one report, bound by name once and then used for every
// row. It belongs to the Reader that returned it: rows of another report, in
// which the columns may stand elsewhere, refuse it.
type Column struct {
	table *table
	place int // from 1; 0 for a field whose column the header does not have
	field Field
	asked bool // by its name, which errors may then show
}

// Name returns the column's name: the one in the header or, for a Field without
// a column, the one that was assumed.
func (c Column) Name() string {
	switch {
	case c.table == nil:
		return ""
	case c.place > 0:
		return c.table.names[c.place-1]
	default:
		return c.table.assumed(c.field)
	}
}

// table is what a header means.
type table struct {
	names    []string
	places   map[string]int // from 1; ambiguous for a name that is there twice
	metadata []Column
	layout   Layout
	fields   [fieldCount]Column
	formats  *formats
}

const ambiguous = -1

func newTable(names []string, set *settings, f *formats) *table {
	t := &table{names: names, places: make(map[string]int, len(names)), formats: f}
	for i, name := range names {
		place := i + 1
		if t.places[name] != 0 {
			t.places[name] = ambiguous
		} else {
			t.places[name] = place
		}
		if strings.HasPrefix(name, metadataPrefix) {
			t.metadata = append(t.metadata, Column{table: t, place: place})
		}
	}
	for _, layout := range set.assumptions.Layouts {
		if set.report == layout.Report || set.report == "" && t.hasAll(layout.Detect) {
			t.layout = layout
			t.layout.Columns = maps.Clone(layout.Columns)
			break
		}
	}
	for f := Field(1); f < fieldCount; f++ {
		t.fields[f] = Column{table: t, field: f, asked: true}
		if name, ok := t.layout.Columns[f]; ok {
			t.fields[f].place = max(t.places[name], 0)
		}
	}
	return t
}

func (t *table) hasAll(names []string) bool {
	for _, name := range names {
		if t.places[name] == 0 {
			return false
		}
	}
	return len(names) > 0
}

func (t *table) assumed(f Field) string {
	if name, ok := t.layout.Columns[f]; ok {
		return name
	}
	return f.String()
}

// absent returns why a column that was asked for is not there.
func (t *table) absent(name string) Kind {
	if t.places[name] == ambiguous {
		return KindAmbiguousColumn
	}
	return KindNoColumn
}

// Column returns the column of a name, which must match to the letter. The error
// is a KindNoColumn, or a KindAmbiguousColumn when the header has the name twice;
// Columns reaches both of them.
func (r *Reader) Column(name string) (Column, error) {
	if place := r.table.places[name]; place > 0 {
		return Column{table: r.table, place: place, asked: true}, nil
	}
	return Column{}, &Error{Kind: r.table.absent(name), Name: name}
}

// Metadata returns the column of a metadata key: metadata_ and the key.
func (r *Reader) Metadata(key string) (Column, error) { return r.Column(metadataPrefix + key) }

// Field returns the column of a field by the name that the report's Layout
// assumes.
func (r *Reader) Field(f Field) (Column, error) {
	c := r.table.field(f)
	if c.place == 0 {
		name := c.Name()
		return Column{}, &Error{Kind: r.table.absent(name), Name: name}
	}
	return c, nil
}

func (t *table) field(f Field) Column {
	if f < fieldCount {
		return t.fields[f]
	}
	return Column{table: t, field: f, asked: true}
}

// Columns returns all columns in the order of the header, known or not.
func (r *Reader) Columns() []Column {
	columns := make([]Column, len(r.table.names))
	for i := range columns {
		columns[i] = Column{table: r.table, place: i + 1}
	}
	return columns
}

// Report returns which report it is, by WithReport or by its header, and "" when
// no Layout fits.
func (r *Reader) Report() Report { return r.table.layout.Report }
