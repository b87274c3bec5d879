package csvreport_test

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/csvreport"
)

// cell returns a borrowed row whose column "value" holds the text, and the
// column. The row stays good, because nothing is read after it.
func cell(t *testing.T, text string) (*csvreport.Row, csvreport.Column) {
	t.Helper()
	quoted := `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	r, err := csvreport.NewReader(strings.NewReader("first,value\r\n\"\r\n\"," + quoted))
	require.NoError(t, err)
	c, err := r.Column("value")
	require.NoError(t, err)
	for row, err := range r.Rows() {
		require.NoError(t, err)
		return row, c
	}
	t.Fatal("no row")
	return nil, c
}

// refused fails unless err is of that kind, and from the column "value".
func refused(t *testing.T, text string, err error, kind csvreport.Kind) {
	t.Helper()
	var e *csvreport.Error
	require.True(t, errors.As(err, &e), text)
	want := csvreport.Error{Kind: kind, Record: 1, Line: 3, Column: 2, Name: "value", Offset: 13}
	assert.Equal(t, want, *e, text)
	if len(text) > 3 && strings.Contains(err.Error(), text) {
		t.Errorf("the error shows the cell: %v", err)
	}
}

// both gives the row as it was read and a copy to keep, which must not differ.
func both(row *csvreport.Row) map[string]*csvreport.Row {
	owned := row.Clone()
	return map[string]*csvreport.Row{"borrowed": row, "owned": &owned}
}

func TestAmounts(t *testing.T) {
	for _, test := range []struct {
		text  string
		want  string
		cents int64
		kind  csvreport.Kind // of the error of Cents
	}{
		{"100.41", "100.41", 10041, ""},
		{"0", "0", 0, ""},
		{"-0.00", "0.00", 0, ""},
		{"13.5", "13.5", 1350, ""},
		{"13.50", "13.50", 1350, ""},
		{"7", "7", 700, ""},
		{"-12.34", "-12.34", -1234, ""},
		{"007.10", "7.10", 710, ""},
		{"1.230", "1.230", 123, ""},
		{"1.234", "1.234", 0, csvreport.KindCents},
		{"999999999999999999", "999999999999999999", 0, csvreport.KindCents},
		{"92233720368547758.07", "92233720368547758.07", 1<<63 - 1, ""},
		{"-92233720368547758.08", "-92233720368547758.08", -1 << 63, ""},
		{"92233720368547758.08", "92233720368547758.08", 0, csvreport.KindCents},
		{"92233720368547759", "92233720368547759", 0, csvreport.KindCents},
		{"-92233720368547759", "-92233720368547759", 0, csvreport.KindCents},
		{"0000000000000000000000000000000000012.50", "12.50", 1250, ""},
		{"12345678901234567890123456789.01", "12345678901234567890123456789.01", 0, csvreport.KindCents},
		{"0.000000000000000000000000000001", "0.000000000000000000000000000001", 0, csvreport.KindCents},
	} {
		borrowed, c := cell(t, test.text)
		for name, row := range both(borrowed) {
			d, err := row.Decimal(c)
			require.NoError(t, err)
			if want := decimal.RequireFromString(test.want); !d.Equal(want) || d.Exponent() != want.Exponent() {
				t.Errorf("%s, %q: got %s with exponent %d", name, test.text, d, d.Exponent())
			}
			cents, err := row.Cents(c)
			if test.kind != "" {
				refused(t, test.text, err, test.kind)
			} else if err != nil || cents != test.cents {
				t.Errorf("%s, %q: got %d cents, %v", name, test.text, cents, err)
			}
		}
	}
	for _, text := range []string{
		" ", "-", ".", ".5", "5.", "-.5", "1.2.3", "+1", "1e2", "1E400", "1,000.00", "$5", "5 ", " 5", "--5", "(5.00)",
		"NaN", "Inf", "0x10", "١٢", "\u22125", "12_00", "5\x0000", strings.Repeat("1", 65),
	} {
		borrowed, c := cell(t, text)
		for _, row := range both(borrowed) {
			_, err := row.Decimal(c)
			refused(t, text, err, csvreport.KindAmount)
			_, err = row.Cents(c)
			refused(t, text, err, csvreport.KindAmount)
		}
	}
}

func TestDates(t *testing.T) {
	for text, want := range map[string]quickstream.Date{
		"2018-04-17":  {Year: 2018, Month: time.April, Day: 17},
		"17-04-2018":  {Year: 2018, Month: time.April, Day: 17},
		"17 Apr 2018": {Year: 2018, Month: time.April, Day: 17},
		"20-Jun-2012": {Year: 2012, Month: time.June, Day: 20},
		"20-JUN-2012": {Year: 2012, Month: time.June, Day: 20},
		"31 dec 2024": {Year: 2024, Month: time.December, Day: 31},
		"2024-02-29":  {Year: 2024, Month: time.February, Day: 29},
	} {
		borrowed, c := cell(t, text)
		for name, row := range both(borrowed) {
			if got, err := row.Date(c); err != nil || got != want {
				t.Errorf("%s, %q: got %v, %v", name, text, got, err)
			}
		}
	}
	for _, text := range []string{
		"2023-02-29", "2024-04-31", "0000-01-01", "2024-00-10", "2024-13-01", "2024-01-00", "2024-01-32",
		"2024-1-1", "24-01-01", "2024-01-01 ", " 2024-01-01", "2024-01-01T00:00:00Z", "2024/01/01", "01/02/2024",
		"1 Apr 2018", "17 Avr 2018", "17 April 2018", "17 Ap", "17", "today", "20240101", "-024-01-01", "2024-02-03\x00",
	} {
		borrowed, c := cell(t, text)
		for _, row := range both(borrowed) {
			_, err := row.Date(c)
			refused(t, text, err, csvreport.KindDate)
		}
	}
}

func TestTimestamps(t *testing.T) {
	sydney := time.FixedZone("", 11*3600)
	for text, want := range map[string]time.Time{
		"2024-02-03T10:11:12+1100":           time.Date(2024, 2, 3, 10, 11, 12, 0, sydney),
		"2024-02-03T10:11:12+11:00":          time.Date(2024, 2, 3, 10, 11, 12, 0, sydney),
		"2024-02-03 10:11:12+11:00":          time.Date(2024, 2, 3, 10, 11, 12, 0, sydney),
		"2024-02-02T23:11:12Z":               time.Date(2024, 2, 3, 10, 11, 12, 0, sydney),
		"2024-02-02T23:11:12.5Z":             time.Date(2024, 2, 3, 10, 11, 12, 5e8, sydney),
		"2024-02-02T23:11:12.123456789+0000": time.Date(2024, 2, 3, 10, 11, 12, 123456789, sydney),
		"2024-02-02T13:41:12-0930":           time.Date(2024, 2, 3, 10, 11, 12, 0, sydney),
	} {
		borrowed, c := cell(t, text)
		for name, row := range both(borrowed) {
			if got, err := row.Timestamp(c); err != nil || !got.Equal(want) {
				t.Errorf("%s, %q: got %v, %v", name, text, got, err)
			}
		}
	}
	for _, text := range []string{
		"2024-02-03T10:11:12", "2024-02-03 10:11:12", "03 Feb 2024 10:11:12", "03-FEB-2024 10:11:12", "03-02-2024 10:11:12", // without an offset
		"2024-02-30T10:11:12Z", "2024-02-03T24:00:00Z", "2024-02-03T10:60:00Z", "2024-02-03T10:11:60Z", "2024-02-03",
		"2024-02-03T10:11:12.Z", "2024-02-03T10:11:12.1234567890Z", "2024-02-03T10:11:12+11", "2024-02-03T10:11:12+11:0",
		"2024-02-03T10:11:12+2400", "2024-02-03T10:11:12+1160", "2024-02-03T10:11:12ZZ", "2024-02-03T10:11:12 Z", "10:11:12",
		"2024-02-03T10:11:12+1:100", "03-02-2024T10:11:12Z", "2024-02-03T10:11:12.1", "2024-02-03T1a:11:12Z", "2024-02-03T10:11:12+-111", "2024-02-03T10:11:12Z\x00",
	} {
		borrowed, c := cell(t, text)
		for _, row := range both(borrowed) {
			_, err := row.Timestamp(c)
			refused(t, text, err, csvreport.KindTimestamp)
		}
	}
}

func TestBooleans(t *testing.T) {
	for text, want := range map[string]bool{
		"true": true, "TRUE": true, "Yes": true, "y": true, "false": false, "False": false, "NO": false, "n": false,
	} {
		borrowed, c := cell(t, text)
		for name, row := range both(borrowed) {
			if got, err := row.Bool(c); err != nil || got != want {
				t.Errorf("%s, %q: got %v, %v", name, text, got, err)
			}
		}
	}
	for _, text := range []string{"1", "0", "t", "truly", " yes", "ye", "yes\x00", strings.Repeat("y", 100)} {
		row, c := cell(t, text)
		_, err := row.Bool(c)
		refused(t, text, err, csvreport.KindBool)
	}
}

func TestClone(t *testing.T) {
	r, err := csvreport.NewReader(strings.NewReader("a,b,metadata_k\r\n1,\"x \"\"y\"\"\",m\r\n\"2\r\n\",,\r\n3,z,o"), csvreport.WithBuffer(16))
	require.NoError(t, err)
	var rows []csvreport.Row
	for row, err := range r.Rows() {
		require.NoError(t, err)
		owned := row.Clone()
		rows = append(rows, owned.Clone())
	}
	var got []string
	for _, row := range rows {
		for _, c := range r.Columns() {
			text, err := row.Text(c)
			require.NoError(t, err)
			b, err := row.Bytes(c)
			if err != nil || string(b) != text {
				t.Errorf("bytes %q, text %q, %v", b, text, err)
			}
			clear(b) // is a copy
			if again, _ := row.Text(c); again != text {
				t.Error("the bytes of an owned row can change it")
			}
			got = append(got, text)
		}
		for i, cell := range row.Cells() {
			if text, _ := row.Text(r.Columns()[i]); text != string(cell) {
				t.Errorf("cell %d is %q, text %q", i, cell, text)
			}
			clear(cell)
		}
	}
	assert.Equal(t, []string{"1", `x "y"`, "m", "2\r\n", "", "", "3", "z", "o"}, got)
	if maps.Collect(rows[0].Metadata())["k"] != "m" || len(maps.Collect(rows[1].Metadata())) != 0 {
		t.Error("metadata of owned rows")
	}
	if rows[2].Record() != 3 || rows[2].Line() != 5 {
		t.Errorf("record %d, line %d", rows[2].Record(), rows[2].Line())
	}
}
