package csvreport_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/csvreport"
)

// Every cell and every name in these reports holds canary, which no error may
// repeat. It has no digits, which a log's time would repeat by chance.
const canary = "KNRY"

func TestAttack58Damage(t *testing.T) {
	const head = canary + "a," + canary + "b," + canary + "c\r\n"
	const good = canary + ",\"" + canary + "\r\n\"," + canary + "\r\n" // lines 2 and 3
	const at = int64(len(head + good))
	strict := []csvreport.Option{csvreport.WithStrictSeparators()}
	short := []csvreport.Option{csvreport.WithMaxField(20)}
	for name, test := range map[string]struct {
		input  string
		opts   []csvreport.Option
		kind   csvreport.Kind
		record int64
		line   int64
		column int
		offset int64
	}{
		"empty":                     {"", nil, csvreport.KindNoHeader, 0, 1, 0, 0},
		"byte order mark only":      {"\xef\xbb\xbf", nil, csvreport.KindNoHeader, 0, 1, 0, 3},
		"quote open in header":      {canary + ",\"" + canary, nil, csvreport.KindUnterminatedQuote, 0, 1, 2, 0},
		"header is not UTF-8":       {canary + ",\xff" + canary, nil, csvreport.KindEncoding, 0, 1, 2, 0},
		"header cell too long":      {strings.Repeat("x", 30), short, csvreport.KindFieldTooLong, 0, 1, 1, 0},
		"header too long":           {strings.Repeat(canary+",", 100), short, csvreport.KindRecordTooLong, 0, 1, 0, 0},
		"too many columns":          {strings.Repeat(",", 1<<14), nil, csvreport.KindTooManyFields, 0, 1, 1<<14 + 1, 0},
		"short":                     {head + good + canary + "," + canary, nil, csvreport.KindTooFewFields, 2, 4, 3, at},
		"short behind a line break": {head + good + "\"\r\n\"," + canary, nil, csvreport.KindTooFewFields, 2, 5, 3, at},
		"long":                      {head + good + canary + ",2,3," + canary, nil, csvreport.KindTooManyFields, 2, 4, 4, at},
		"long by a comma":           {head + good + canary + ",2,3,", nil, csvreport.KindTooManyFields, 2, 4, 4, at},
		"blank line":                {head + good + "\r\n" + good, nil, csvreport.KindTooFewFields, 2, 4, 2, at},
		"bare quote":                {head + good + "1," + canary + "\"x,3", nil, csvreport.KindBareQuote, 2, 4, 2, at},
		"bare quote behind a blank": {head + good + "1, \"" + canary + "\",3", nil, csvreport.KindBareQuote, 2, 4, 2, at},
		"quote left open":           {head + good + "\"\r\n\",\"" + canary + "\r\n3,4", nil, csvreport.KindUnterminatedQuote, 2, 5, 2, at},
		"text behind quote":         {head + good + "1,\"" + canary + "\"x,3", nil, csvreport.KindTextAfterQuote, 2, 4, 2, at},
		"blank behind quote":        {head + good + "1,\"" + canary + "\" ,3", nil, csvreport.KindTextAfterQuote, 2, 4, 2, at},
		"lone carriage return":      {head + good + "1,2," + canary + "\r4,5,6", nil, csvreport.KindSeparator, 2, 4, 0, at},
		"carriage return in a cell": {head + good + "1," + canary + "\rx,3", nil, csvreport.KindSeparator, 2, 4, 0, at},
		"strict: line feed":         {head + good + "1,2," + canary + "\n4,5,6", strict, csvreport.KindSeparator, 2, 4, 0, at},
		"strict: last separator":    {head + good, strict, csvreport.KindSeparator, 2, 4, 0, at},
		"long cell":                 {head + good + "1,17bytes" + canary + "4567890123,3", short, csvreport.KindFieldTooLong, 2, 4, 2, at},
		"long quoted cell":          {head + good + "1,\"6bytes" + canary + "1234567890\",3", short, csvreport.KindFieldTooLong, 2, 4, 2, at},
		"long by doubled quotes":    {head + good + "1,\"" + canary + strings.Repeat(`""`, 8) + "\",3", short, csvreport.KindFieldTooLong, 2, 4, 2, at},
		"long and left open":        {head + good + "1,\"" + canary + strings.Repeat("x", 20), short, csvreport.KindFieldTooLong, 2, 4, 2, at},
		"long before a bare quote":  {head + good + strings.Repeat(canary, 6) + "\"", short, csvreport.KindFieldTooLong, 2, 4, 1, at},
		"not UTF-8":                 {head + good + "1," + canary + "\xff,3", nil, csvreport.KindEncoding, 2, 4, 2, at},
		"UTF-8 cut in two":          {head + good + "1,\xc3,\xa9", nil, csvreport.KindEncoding, 2, 4, 2, at},
	} {
		t.Run(name, func(t *testing.T) {
			got := everywhere(t, test.input, test.opts...)
			var e *csvreport.Error
			require.True(t, errors.As(got.Err, &e))
			want := csvreport.Error{Kind: test.kind, Record: test.record, Line: test.line, Column: test.column, Offset: test.offset}
			assert.Equal(t, want, *e)
			if !errors.Is(got.Err, test.kind) || errors.Is(got.Err, csvreport.KindRead) {
				t.Error("errors.Is does not tell the kind")
			}
			if n := max(test.record-1, 0); e.Records() != n || test.record > 0 && int64(len(got.Records)) != n+1 {
				t.Errorf("%d records read before, and %d yielded", e.Records(), len(got.Records))
			}
			secret(t, e)
		})
	}
}

// secret fails when an error shows a cell, by any usual way of printing.
func secret(t *testing.T, err error) {
	t.Helper()
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("", "error", err)
	for _, text := range []string{err.Error(), fmt.Sprintf("%v %+v %#v %q", err, err, err, err), log.String()} {
		assert.NotContains(t, text, canary, "the error shows a cell")
	}
}

func TestReadFails(t *testing.T) {
	cut := errors.New("connection reset")
	for name, test := range map[string]struct {
		cause error
		input string
		want  string
	}{
		"at once":         {cut, "", "csv report: header, line 1: reading failed: connection reset"},
		"in the header":   {cut, "a,b", "csv report: header, line 1: reading failed: connection reset"},
		"behind a record": {cut, "a,b\r\n1,2\r\n", "csv report: record 2, line 3: reading failed: connection reset (1 records read before it)"},
		"in a record":     {cut, "a,b\r\n1,2\r\n3,", "csv report: record 2, line 3: reading failed: connection reset (1 records read before it)"},
		"in quotes":       {cut, "a,b\r\n1,2\r\n\"3\n", "csv report: record 2, line 3: reading failed: connection reset (1 records read before it)"},
		"behind a quote":  {cut, "a,b\r\n1,\"2\"", "csv report: record 1, line 2: reading failed: connection reset (0 records read before it)"},
		"behind CR":       {cut, "a,b\r\n1,2\r", "csv report: record 1, line 2: reading failed: connection reset (0 records read before it)"},
		"wrapped end":     {fmt.Errorf("lost: %w", io.EOF), "a\r\n1", "csv report: record 1, line 2: reading failed: lost: EOF (0 records read before it)"},
	} {
		for _, wrap := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.DataErrReader, iotest.HalfReader} {
			got := read(wrap(io.MultiReader(strings.NewReader(test.input), iotest.ErrReader(test.cause))))
			if !errors.Is(got.Err, test.cause) || !errors.Is(got.Err, csvreport.KindRead) {
				t.Errorf("%s: got %v", name, got.Err)
			} else if got.Err.Error() != test.want {
				t.Errorf("%s: got %q, want %q", name, got.Err, test.want)
			}
		}
	}
}
