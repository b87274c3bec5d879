package report

import (
	"testing"

	"github.com/quickstream-go/quickstream/internal/bench/reporttest"
)

// TestAllWaysFindTheSame: what is compared reads the same values, and as many as there are.
func TestAllWaysFindTheSame(t *testing.T) {
	generated, records := reporttest.Generate(1 << 20)
	tally := func(read Read) (t Tally, err error) {
		again := *generated
		err = read(&again, &t)
		return t, err
	}
	for name, ways := range map[string]map[string]Read{
		"fields": {"ours": Fields, "standard": StandardFields},
		"typed":  {"ours": Borrowed, "owned": Owned, "csvutil": CSVUtil},
	} {
		want, err := tally(ways["ours"])
		if err != nil || want.Records != records {
			t.Errorf("%s: %+v of %d records, %v", name, want, records, err)
		}
		for way, read := range ways {
			if got, err := tally(read); err != nil || got != want {
				t.Errorf("%s, %s: %+v, want %+v, %v", name, way, got, want, err)
			}
		}
	}
}
