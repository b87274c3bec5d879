// Package report reads transaction reports in the ways that are compared.
package report

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/quickstream-go/quickstream/internal/reporttest"
)

// Read is a way of reading a report, all of whose values go into a tally.
type Read func(report io.Reader, t *Tally) error

// Tally sums up what a way of reading has found, cheaply: it costs every way the
// same.
type Tally struct {
	Records, Cells int64
	Letters        int64  // bytes of text
	Text           uint64 // the ends of all texts, in order
	Cents          [3]int64
	Days           int64
	Seconds        int64
	True           int64
}

func (t *Tally) text(s string) {
	t.Cells++
	t.Letters += int64(len(s))
	if len(s) > 0 {
		t.Text = t.Text*31 + uint64(s[0])<<8 + uint64(s[len(s)-1])
	}
}

func (t *Tally) bytes(b []byte) {
	t.Cells++
	t.Letters += int64(len(b))
	if len(b) > 0 {
		t.Text = t.Text*31 + uint64(b[0])<<8 + uint64(b[len(b)-1])
	}
}

func (t *Tally) cents(i int, cents int64) {
	t.Cells++
	t.Cents[i] += cents
}

func (t *Tally) day(year int, month time.Month, day int) {
	t.Cells++
	t.Days += int64(year*372 + int(month)*31 + day)
}

func (t *Tally) moment(m time.Time) {
	t.Cells++
	t.Seconds += m.Unix()
}

func (t *Tally) truth(b bool) {
	t.Cells++
	if b {
		t.True++
	}
}

// Same reads a report of that many bytes in several ways and returns an error
// unless all find the same in it, and as much as was put there.
func Same(size int64, ways map[string]Read) error {
	report, records := reporttest.Generate(size)
	var first Tally
	for name, read := range ways {
		again := *report
		var found Tally
		if err := read(&again, &found); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if found.Records != records || found.Cells != records*int64(len(reporttest.Columns())) {
			return fmt.Errorf("%s found %d records with %d cells, of %d records", name, found.Records, found.Cells, records)
		}
		if first == (Tally{}) {
			first = found
		}
		if found != first {
			return fmt.Errorf("%s found %+v, another way %+v", name, found, first)
		}
	}
	if len(ways) == 0 {
		return errors.New("no way of reading was given")
	}
	return nil
}
