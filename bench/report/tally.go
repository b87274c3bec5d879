// Package report reads transaction reports in the ways that are compared.
package report

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"time"

	"github.com/quickstream-go/quickstream/internal/reporttest"
)

// Read is a way of reading a report, all of whose values go into a tally.
type Read func(report io.Reader, t *Tally) error

// Tally sums up what a way of reading has found, cheaply: it costs every way the
// same.
type Tally struct {
	Records  int64
	Cells    int64
	Letters  int64 // bytes of text
	Cents    [3]int64
	Days     int64
	Seconds  int64
	True     int64
	Contents uint64 // of all text, in order; only of a Checked tally

	hash *maphash.Hash
}

// Checked returns a tally that looks at every byte of text too. Tallies compare
// only with those of the same seed.
func Checked(seed maphash.Seed) *Tally {
	t := &Tally{hash: new(maphash.Hash)}
	t.hash.SetSeed(seed)
	return t
}

func (t *Tally) text(s string) {
	t.Cells++
	t.Letters += int64(len(s))
	if t.hash != nil {
		t.look([]byte(s))
	}
}

func (t *Tally) bytes(b []byte) {
	t.Cells++
	t.Letters += int64(len(b))
	if t.hash != nil {
		t.look(b)
	}
}

// look is apart so that the others are inlined: a call for each cell would be a
// good part of what is measured.
func (t *Tally) look(b []byte) {
	_, _ = t.hash.Write(b)
	_ = t.hash.WriteByte(0)
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

// result returns the tally without its means.
func (t *Tally) result() Tally {
	r := *t
	if r.hash != nil {
		r.Contents = r.hash.Sum64()
	}
	r.hash = nil
	return r
}

// Same reads a report of that many bytes in several ways and returns an error
// unless all find the same in it, and as much as was put there.
func Same(size int64, ways map[string]Read) error {
	seed := maphash.MakeSeed()
	report, records := reporttest.Generate(size)
	var first Tally
	for name, read := range ways {
		again := *report
		t := Checked(seed)
		if err := read(&again, t); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		found := t.result()
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
