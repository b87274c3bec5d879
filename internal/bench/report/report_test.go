package report

import (
	"io"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream/internal/reporttest"
)

// typed is every way that yields typed values.
func typed() map[string]Read {
	return map[string]Read{"borrowed": Borrowed, "owned": Owned, "csvutil": CSVUtil}
}

func TestAllWaysFindTheSame(t *testing.T) {
	for name, ways := range map[string]map[string]Read{
		"fields": {"ours": Fields, "standard": StandardFields},
		"typed":  typed(),
	} {
		if err := Same(1<<20, ways); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// reading returns a way of reading a report in which one text stands for another.
func reading(t *testing.T, way Read, old, changed string) Read {
	return func(report io.Reader, tally *Tally) error {
		whole, err := io.ReadAll(report)
		if err != nil {
			return err
		}
		damaged := strings.Replace(string(whole), old, changed, 1)
		if damaged == string(whole) && old != changed {
			t.Errorf("%q is not in the report", old)
		}
		return way(strings.NewReader(damaged), tally)
	}
}

func TestADifferenceIsFound(t *testing.T) {
	for name, way := range typed() {
		for old, changed := range map[string]string{
			",AUD,2024-01-01":     ",AUD,2024-01-02",
			"2024-02-03T10:11:12": "2024-02-03T10:11:13",
			",1.01,0.00,":         ",1.01,0.01,",
			",false,":             ",true,",
			"TESTCOMMUNITY":       "TEST COMMUNITY",
			"TESTCOMMUNITY,":      "TESTCOMMUNITZ,",
			"order-1":             "Order-1",
		} {
			if err := Same(1<<20, map[string]Read{"ours": Borrowed, name: reading(t, way, old, changed)}); err == nil {
				t.Errorf("%s: %q became %q, and nothing noticed", name, old, changed)
			}
		}
	}
}

func TestEveryWayReportsDamage(t *testing.T) {
	for name, way := range typed() {
		report, _ := reporttest.Generate(1 << 10)
		if err := reading(t, way, "2024-02-02", "2024-02-x2")(report, new(Tally)); err == nil {
			t.Errorf("%s: what is no date was read", name)
		}
	}
}

func TestGeneratedSize(t *testing.T) {
	report, records := reporttest.Generate(3 << 20)
	n, err := io.Copy(io.Discard, report)
	if err != nil || n < 3<<20 || n > 4<<20 || records < n/400 {
		t.Errorf("%d bytes, %d records, %v", n, records, err)
	}
}
