package report

import (
	"io"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream/internal/reporttest"
)

// typed is every way that yields typed values.
func typed() map[string]Read {
	return map[string]Read{
		"borrowed": Borrowed, "owned": Owned, "csvutil": CSVUtil,
	}
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

func TestADifferenceIsFound(t *testing.T) {
	for name, change := range map[string]func(*Tally){
		"an amount": func(t *Tally) { t.Cents[1]++ },
		"a date":    func(t *Tally) { t.Days-- },
		"a time":    func(t *Tally) { t.Seconds++ },
		"a truth":   func(t *Tally) { t.True++ },
		"a record":  func(t *Tally) { t.Records-- },
		"a cell":    func(t *Tally) { t.Cells++ },
		"a letter":  func(t *Tally) { t.Letters++ },
		"a text":    func(t *Tally) { t.Text++ },
	} {
		other := func(report io.Reader, t *Tally) error {
			err := Borrowed(report, t)
			change(t)
			return err
		}
		if err := Same(1<<10, map[string]Read{"ours": Borrowed, "other": other}); err == nil {
			t.Errorf("%s was changed, and nothing noticed", name)
		}
	}
	if Same(1<<10, nil) == nil {
		t.Error("nothing was compared, and that was fine")
	}
}

func TestEveryWayReportsDamage(t *testing.T) {
	report, _ := reporttest.Generate(1 << 10)
	whole, err := io.ReadAll(report)
	if err != nil {
		t.Fatal(err)
	}
	damaged := strings.Replace(string(whole), "2024-02-02", "2024-02-x2", 1)
	if damaged == string(whole) {
		t.Fatal("nothing was damaged")
	}
	for name, read := range typed() {
		if err := read(strings.NewReader(damaged), new(Tally)); err == nil {
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

func BenchmarkRead(b *testing.B) {
	const size = 2 << 20
	report, _ := reporttest.Generate(size)
	ways := typed()
	ways["fields"], ways["fields standard"] = Fields, StandardFields
	for name, read := range ways {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				again := *report
				if err := read(&again, new(Tally)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
