// Package report reads transaction reports in the ways that are compared.
package report

import (
	"io"
	"time"
)

// Read is a way of reading a report, all of whose values go into a tally.
type Read func(report io.Reader, t *Tally) error

// Tally sums up what a way of reading has found, cheaply: it costs every way the
// same.
type Tally struct {
	Records int64
	Sum     uint64 // over the values in order, of a text its length and ends
}

func (t *Tally) value(v int64) {
	t.Sum = t.Sum*31 + uint64(v) //nolint:gosec // any number will do
}

func (t *Tally) day(year int, month time.Month, day int) {
	t.value(int64(year*372 + int(month)*31 + day))
}

func (t *Tally) truth(b bool) {
	if b {
		t.value(1)
	} else {
		t.value(0)
	}
}

func text[T string | []byte](t *Tally, s T) {
	v := int64(len(s)) << 16
	if len(s) > 0 {
		v += int64(s[0])<<8 + int64(s[len(s)-1])
	}
	t.value(v)
}
