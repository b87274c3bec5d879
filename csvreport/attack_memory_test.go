//go:build !race

// Not with the race detector, under which more is held.

package csvreport_test

import (
	"io"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream/csvreport"
	"github.com/quickstream-go/quickstream/internal/heaptest"
)

// endless is a report that never exists as a whole: its beginning, and then a text again
// and again until it has its length.
type endless struct {
	next, again string
	left        int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	if e.next == "" {
		e.next = e.again
	}
	n := copy(p, e.next)
	e.next, e.left = e.next[n:], e.left-n
	return n, nil
}

// mostHeld is four times the longest record, which has 16 MiB.
const mostHeld = 4 * (16 << 20)

// held reads a report to its end or its first error, and returns the most that is held, without the garbage of a busy machine.
func held(report endless) (peak int64, damage error) {
	peak = heaptest.Least(mostHeld, func() {
		source := report
		reader, err := csvreport.NewReader(&source)
		if err == nil {
			for row, rowErr := range reader.Rows() {
				if err = rowErr; err == nil {
					_ = row.Clone()
				}
			}
		}
		damage = err
	})
	return peak, damage
}

// FuzzMemory: whatever bytes a report repeats, its reader holds no more than mostHeld.
func FuzzMemory(f *testing.F) {
	f.Add("a,b\r\n\"", `""`)
	f.Add("a,b\r\n", "\xff,")
	f.Add("", "x,")
	f.Fuzz(func(t *testing.T, begin, again string) {
		if again == "" {
			return
		}
		again = strings.Repeat(again, 1+4096/len(again)) // read in few pieces
		if peak, _ := held(endless{next: begin, again: again, left: 32 << 20}); peak > mostHeld {
			t.Errorf("%d bytes were held", peak)
		}
	})
}
