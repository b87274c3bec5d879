package csvreport_test

import (
	"encoding/csv"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/quickstream-go/quickstream/csvreport"
)

var fuzzSeeds = []string{
	"", "a", "a,b\r\n1,2", "a,b\r\n1,2\r\n", "a,b\n\"1\r\n\",\"\"\"\"\n", "a,b\r\n\"1\"x,2", "a,b\r\n1\"", "a\r\n\r\n1",
	"a,b\r\n1\r2,3", "\xef\xbb\xbfa,b\r\n1,\xff", "a,b\r\n1,2\r", "a,b\r\n1,2,3", "a,b\r\n\"1,2",
	"a,b\r\n" + strings.Repeat("x", 61) + ",\"" + strings.Repeat(`""`, 40) + "\"\r\n1,2", "a\r\n\"\x00\t\x1f\x7f\"", "ā,b\r\né,\"„“\"",
	"a,b\r\n", "a\r\n1", "\xef\xbb\xbf\"a\",b", "\xef\xbb\xbf\ufeffa", "a,b\n1,2\n3,4\n", "a,b\n1,2\r\n3,4", "a,b,c\r\n,,\r\n\"\",,\"\"", "a,b\r\n1,",
	"a,b\r\n\"said \"\"hi\"\" and \"\"bye\"\"\",\"\"\"\"", "a,b\r\n\"\"\"\"\"\"\"\",2", "\"a,1\",\"b\"\"\"\r\n1,2", "a,b\r\n1,\"2\"\r\n3,\"4\"",
	"a,b\r\n 1 ,\t2\x00\r\n\x1f,\x7f", "a,b\r\nMāori,\"„Ünï“ ¬ ÿ\"\r\n\U0001F4B0,\u2028", "a,a\r\n1,2", "a,b\r\n=1+1,@x",
}

// FuzzPieces holds a report against itself: in whatever pieces it arrives, it
// reads the same, damage and its place included.
func FuzzPieces(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add(seed, 20, false)
		f.Add(seed, 254, false)
		f.Add(seed, 4, true)
	}
	f.Fuzz(func(t *testing.T, report string, limit int, strict bool) {
		opts := []csvreport.Option{csvreport.WithMaxField(1 + limit&0xff)}
		if strict {
			opts = append(opts, csvreport.WithStrictSeparators())
		}
		got := everywhere(t, report, opts...)
		var e *csvreport.Error
		switch {
		case got.Err == nil:
			if got.Offset != int64(len(report)) {
				t.Errorf("%d bytes read of %d", got.Offset, len(report))
			}
		case !errors.As(got.Err, &e):
			t.Errorf("another type of error: %v", got.Err)
		case e.Offset > int64(len(report)) || e.Line < 1 || e.Line > int64(strings.Count(report, "\n"))+1:
			t.Errorf("a place outside of the report: %+v", e)
		case got.Records != nil && e.Record != int64(len(got.Records)):
			t.Errorf("record %d behind %d records", e.Record, len(got.Records)-1)
		}
	})
}

var (
	blankLine = regexp.MustCompile(`(^|\n)\r?(\n|$)`)
	loneCR    = regexp.MustCompile(`\r([^\n]|$)`)
)

// FuzzAgainstStandard holds this package against encoding/csv. They differ where
// the package comment says so: line breaks inside quotes, blank lines, a carriage
// return alone, the byte order mark and text that is not UTF-8.
func FuzzAgainstStandard(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, report string) {
		got := read(strings.NewReader(report))
		want, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(report, "\xef\xbb\xbf"))).ReadAll()
		if got.Err != nil {
			legal := errors.Is(got.Err, csvreport.KindNoHeader) && len(want) == 0 ||
				errors.Is(got.Err, csvreport.KindSeparator) && loneCR.MatchString(report) ||
				errors.Is(got.Err, csvreport.KindEncoding) && !utf8.ValidString(report) ||
				blankLine.MatchString(strings.TrimPrefix(report, "\xef\xbb\xbf"))
			if err == nil && !legal {
				t.Errorf("%v, where encoding/csv reads %q", got.Err, want)
			}
			return
		}
		if err != nil {
			t.Fatalf("encoding/csv: %v, where this package reads %q", err, got.Records)
		}
		for _, record := range got.Records {
			for i, cell := range record {
				record[i] = strings.ReplaceAll(cell, "\r\n", "\n")
			}
		}
		// To encoding/csv a blank line is nothing, here it is an empty cell.
		empty := func(record []string) bool { return len(record) == 1 && record[0] == "" }
		records, want := slices.DeleteFunc(got.Records, empty), slices.DeleteFunc(want, empty)
		if len(records)+len(want) > 0 && !reflect.DeepEqual(records, want) {
			t.Errorf("got %q, encoding/csv %q", records, want)
		}
	})
}

// FuzzSafe holds that no guarded cell is a formula, and that nothing but apostrophes is put into a
// cell.
func FuzzSafe(f *testing.F) {
	for _, seed := range []string{"", "=1", "-1", "-1.50", "--1", "\t@x", "\x00=1", "\ufeff=1", "＝1", "\xff=1", "'=1", " =1", "a;=1", "a\t\u200b=1\r\n@x", "-1;=2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		safe := csvreport.EscapeFormulas(cell)
		if executes(safe) || strings.ReplaceAll(safe, "'", "") != strings.ReplaceAll(cell, "'", "") || csvreport.EscapeFormulas(safe) != safe {
			t.Errorf("%q became %q", cell, safe)
		}
	})
}

// FuzzTimes holds dates and times against package time, which accepts more.
func FuzzTimes(f *testing.F) {
	for _, seed := range []string{"2024-02-29", "31 Dec 2024", "2024-02-03T10:11:12.5+1100", "2024-02-03 10:11:12", "0001-01-01"} {
		f.Add(seed)
	}
	layouts := []string{
		"2006-01-02", "02-01-2006", "02 Jan 2006", "02-Jan-2006", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700",
		"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700",
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		row, c := cell(t, text)
		date, dateErr := row.Date(c)
		at, timeErr := row.Timestamp(c)
		agrees := false
		for _, layout := range layouts {
			want, err := time.Parse(layout, text)
			if err == nil && dateErr == nil {
				agrees = agrees || date.In(time.UTC).Equal(want)
			}
			if err == nil && timeErr == nil {
				agrees = agrees || at.Equal(want)
			}
		}
		if !agrees && (dateErr == nil || timeErr == nil) {
			t.Errorf("%q: got %v and %v", text, date, at)
		}
	})
}
