package csvreport_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/csvreport"
)

// result is all that reading a report comes to.
type result struct {
	Records [][]string // the header first
	Places  []string   // number, line and offset of each record
	Err     error
	Offset  int64
}

func read(src io.Reader, opts ...csvreport.Option) result {
	r, err := csvreport.NewReader(src, opts...)
	if err != nil {
		return result{Err: err}
	}
	columns := r.Columns()
	var got result
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = c.Name()
	}
	got.Records = append(got.Records, header)
	for row, err := range r.Rows() {
		if err != nil {
			got.Err = err
			break
		}
		cells := make([]string, len(columns))
		for i, c := range columns {
			if cells[i], err = row.Text(c); err != nil {
				return result{Err: fmt.Errorf("a cell of a whole row: %w", err)}
			}
		}
		got.Records = append(got.Records, cells)
		got.Places = append(got.Places, fmt.Sprint(row.Record(), row.Line(), row.Offset()))
	}
	got.Offset = r.InputOffset()
	return got
}

// sources gives the same bytes in different pieces and into different buffers.
func sources(input string) map[string]func(...csvreport.Option) result {
	with := func(wrap func(io.Reader) io.Reader, buffer int) func(...csvreport.Option) result {
		return func(opts ...csvreport.Option) result {
			return read(wrap(strings.NewReader(input)), append(opts, csvreport.WithBuffer(buffer))...)
		}
	}
	plain := func(r io.Reader) io.Reader { return r }
	return map[string]func(...csvreport.Option) result{
		"whole":                with(plain, csvreport.BufferSize),
		"one byte":             with(iotest.OneByteReader, csvreport.BufferSize),
		"half":                 with(iotest.HalfReader, 100),
		"end with data":        with(iotest.DataErrReader, 7),
		"one byte, small":      with(iotest.OneByteReader, 1),
		"buffer of a block":    with(plain, 64),
		"buffer of a bit more": with(plain, 65),
	}
}

// everywhere reads the input in all ways, and fails unless all come to the same.
func everywhere(t *testing.T, input string, opts ...csvreport.Option) result {
	t.Helper()
	all := sources(input)
	whole := all["whole"](opts...)
	for name, source := range all {
		require.Equal(t, whole, source(opts...), name)
	}
	return whole
}

// What encoding/csv reads in the same way is in fuzzSeeds.
func TestForm(t *testing.T) {
	long := strings.Repeat("0123456789,", 1000)
	for name, test := range map[string]struct {
		input string
		want  [][]string
		opts  []csvreport.Option
	}{
		"documented": {
			input: "Community Code,Business Code,Business Name\r\nTEST,BUSINESSONE,\"Business One, New Park\"\r\nTEST,BUSINESSTWO,Two",
			want: [][]string{
				{"Community Code", "Business Code", "Business Name"},
				{"TEST", "BUSINESSONE", "Business One, New Park"},
				{"TEST", "BUSINESSTWO", "Two"},
			},
			opts: []csvreport.Option{csvreport.WithStrictSeparators()},
		},
		"separators inside quotes":  {input: "a,b\r\n\"1\r\n2\n3\r4\",\"\r\n\"\r\n5,6", want: [][]string{{"a", "b"}, {"1\r\n2\n3\r4", "\r\n"}, {"5", "6"}}},
		"blank line, one column":    {input: "a\r\n\r\n1\r\n\r\n", want: [][]string{{"a"}, {""}, {"1"}, {""}}},
		"long cells":                {input: "a,b\r\n\"" + long + "\",\"" + strings.ReplaceAll(long, ",", `""`) + "\"", want: [][]string{{"a", "b"}, {long, strings.ReplaceAll(long, ",", `"`)}}},
		"exactly as long as may be": {input: "a,b\r\n1234,\"67\"", want: [][]string{{"a", "b"}, {"1234", "67"}}, opts: []csvreport.Option{csvreport.WithMaxField(4)}},
	} {
		t.Run(name, func(t *testing.T) {
			got := everywhere(t, test.input, test.opts...)
			require.NoError(t, got.Err)
			assert.Equal(t, test.want, got.Records)
			assert.Equal(t, int64(len(test.input)), got.Offset)
		})
	}
}

func TestRowsGoesOn(t *testing.T) {
	r, err := csvreport.NewReader(strings.NewReader("a\r\n1\r\n2\r\n3\r\n\"4"))
	require.NoError(t, err)
	var records []int64
	for range 2 {
		for row, err := range r.Rows() {
			require.NoError(t, err)
			records = append(records, row.Record())
			break
		}
	}
	var damage [2]error
	for i := range damage {
		for row, err := range r.Rows() {
			if damage[i] = err; err == nil {
				records = append(records, row.Record())
			} else if row != nil {
				t.Error("a row came with the damage")
			}
		}
	}
	assert.Equal(t, []int64{1, 2, 3}, records)
	if !errors.Is(damage[0], csvreport.KindUnterminatedQuote) || !errors.Is(damage[1], damage[0]) {
		t.Errorf("got %v, then %v", damage[0], damage[1])
	}
	if r.Records() != 3 || r.InputOffset() != int64(len("a\r\n1\r\n2\r\n3\r\n")) {
		t.Errorf("read %d records and %d bytes", r.Records(), r.InputOffset())
	}
}
