package csvreport_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/csvreport"
)

func open(t *testing.T, report string, opts ...csvreport.Option) *csvreport.Reader {
	t.Helper()
	r, err := csvreport.NewReader(strings.NewReader(report), opts...)
	require.NoError(t, err)
	return r
}

// only returns an owned copy of a report's only row.
func only(t *testing.T, r *csvreport.Reader) *csvreport.Row {
	t.Helper()
	var owned *csvreport.Row
	for row, err := range r.Rows() {
		if err != nil || owned != nil {
			t.Fatalf("not one row: %v", err)
		}
		clone := row.Clone()
		owned = &clone
	}
	if owned == nil {
		t.Fatal("no row")
	}
	return owned
}

func TestNamesMatchToTheLetter(t *testing.T) {
	r := open(t, "Receipt Number, Status,\u017ftate,twice,x,twice")
	for name, kind := range map[string]csvreport.Kind{
		"receipt number": csvreport.KindNoColumn,
		"Status":         csvreport.KindNoColumn,
		"state":          csvreport.KindNoColumn,
		"":               csvreport.KindNoColumn,
		"x\x00":          csvreport.KindNoColumn,
		"twice":          csvreport.KindAmbiguousColumn,
	} {
		c, err := r.Column(name)
		if !errors.Is(err, kind) || c != (csvreport.Column{}) {
			t.Errorf("%q: got %v", name, err)
		}
	}
	want := `csv report: header, column "Status": no such column in the header; it has "Receipt Number", " Status", "ſtate", "twice", "x", "twice"`
	if _, err := r.Column("Status"); err.Error() != want {
		t.Errorf("got %q", err)
	}
	var names []string
	for _, c := range r.Columns() {
		names = append(names, c.Name())
	}
	assert.Equal(t, []string{"Receipt Number", " Status", "\u017ftate", "twice", "x", "twice"}, names)
}

// A file without a header has cells in its place: an error names what is made of letters.
func TestNamesInErrors(t *testing.T) {
	for header, want := range map[string]string{
		"SHOP,1000001,424242...242,2024-02-03,payer@example.invalid,Line 1": `"SHOP", "?", "?", "?", "?", "Line ?"`,
		"metadata_order,metadata_k2,\u200bStatus,Status\t":                  `"metadata_order", "?", "?", "?"`,
		strings.Repeat("long ", 9) + "," + strings.Repeat("a", 41) + ",":    `"long long long long long long long long ?", "?", ""`,
		"a" + strings.Repeat(",b", 20):                                      `"a"` + strings.Repeat(`, "b"`, 19) + " and others",
	} {
		_, err := open(t, header).Column("Amount")
		if got, want := err.Error(), `csv report: header, column "Amount": no such column in the header; it has `+want; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A column that was bound in yesterday's report must not read today's.
func TestColumnOfAnotherReport(t *testing.T) {
	yesterday, today := open(t, "Amount,Receipt\r\n1.00,R1"), open(t, "Receipt,Amount\r\n2,3.00")
	amount, err := yesterday.Column("Amount")
	require.NoError(t, err)
	row := only(t, today)
	for name, c := range map[string]csvreport.Column{"another report's": amount, "zero": {}} {
		_, textErr := row.Text(c)
		_, bytesErr := row.Bytes(c)
		_, centsErr := row.Cents(c) // and all others that read a value
		for _, err := range []error{textErr, bytesErr, centsErr} {
			assert.ErrorIs(t, err, csvreport.KindNoColumn, name)
		}
	}
	// A row that no report gave has no columns either.
	var none csvreport.Row
	if _, err := none.Text(amount); !errors.Is(err, csvreport.KindNoColumn) {
		t.Errorf("got %v", err)
	}
	for range none.Metadata() {
		t.Error("metadata from nowhere")
	}
}
