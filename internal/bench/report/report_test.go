package report

import "testing"

// TestAllWaysFindTheSame: what is compared reads the same values, and as many as there are.
func TestAllWaysFindTheSame(t *testing.T) {
	generated := Generate(1 << 20)
	tally := func(read Read) (t Tally, err error) {
		err = read(generated.Reader(), &t)
		return t, err
	}
	for name, ways := range map[string]map[string]Read{
		"fields": {"ours": Fields, "standard": StandardFields},
		"typed":  {"ours": Borrowed, "owned": Owned, "csvutil": CSVUtil},
	} {
		want, err := tally(ways["ours"])
		if err != nil || want.Records != generated.Records {
			t.Errorf("%s: %+v of %d records, %v", name, want, generated.Records, err)
		}
		for way, read := range ways {
			if got, err := tally(read); err != nil || got != want {
				t.Errorf("%s, %s: %+v, want %+v, %v", name, way, got, want, err)
			}
		}
	}
}
