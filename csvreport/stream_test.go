package csvreport_test

import (
	"testing"

	"github.com/quickstream-go/quickstream/csvreport"
	"github.com/quickstream-go/quickstream/internal/reporttest"
)

// rowsPerRun is how many rows a test of allocations reads at a time.
const rowsPerRun = 200

// allocations returns how much use allocates for each row. It asserts nothing
// that the race detector would change: no pool is involved.
func allocations(t *testing.T, r *csvreport.Reader, use func(*csvreport.Row)) float64 {
	t.Helper()
	return testing.AllocsPerRun(20, func() {
		n := 0
		for row, err := range r.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			use(row)
			if n++; n == rowsPerRun {
				return
			}
		}
		t.Fatal("not enough rows")
	}) / rowsPerRun
}

func TestAllocations(t *testing.T) {
	fields := map[string]csvreport.Column{}
	start := func() *csvreport.Reader {
		report, _ := reporttest.Generate(4 << 20)
		r, err := csvreport.NewReader(report)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Columns() {
			fields[c.Name()] = c
		}
		return r
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}

	r := start()
	if n := allocations(t, r, func(*csvreport.Row) {}); n != 0 {
		t.Errorf("rows: %v allocations each", n)
	}

	r = start()
	columns := r.Columns()
	size := 0
	if n := allocations(t, r, func(row *csvreport.Row) {
		for _, c := range columns {
			b, err := row.Bytes(c)
			must(err)
			size += len(b)
		}
	}); n != 0 || size == 0 {
		t.Errorf("cells: %v allocations for each row, %d bytes", n, size)
	}

	r = start()
	size = 0
	if n := allocations(t, r, func(row *csvreport.Row) {
		for _, cell := range row.Cells() {
			size += len(cell)
		}
	}); n != 0 || size == 0 {
		t.Errorf("all cells: %v allocations for each row, %d bytes", n, size)
	}

	r = start()
	principal, surcharge, total := fields["Principal Amount"], fields["Surcharge Amount"], fields["Total Amount"]
	date, at := fields["Settlement Date"], fields["Transaction Time"]
	refundable, voidable := fields["Refundable"], fields["Voidable"]
	typed := func(row *csvreport.Row) {
		a, err := row.Cents(principal)
		must(err)
		b, err := row.Cents(surcharge)
		must(err)
		c, err := row.Cents(total)
		must(err)
		if a+b != c {
			t.Fatal("the total is not the sum")
		}
		_, err = row.Date(date)
		must(err)
		_, err = row.Timestamp(at)
		must(err)
		_, err = row.Bool(refundable)
		must(err)
		_, err = row.Bool(voidable)
		must(err)
	}
	if n := allocations(t, r, typed); n != 0 {
		t.Errorf("typed cells: %v allocations for each row", n)
	}

	// A row to keep is one string and its offsets; its texts cost nothing more.
	r = start()
	columns = r.Columns()
	keep := make([]csvreport.Row, 0, 30*rowsPerRun)
	if n := allocations(t, r, func(row *csvreport.Row) {
		keep = append(keep, row.Clone())
		for _, c := range columns {
			_, err := keep[len(keep)-1].Text(c)
			must(err)
		}
	}); n != 2 {
		t.Errorf("owned rows: %v allocations each", n)
	}

	// What an amount costs is what a decimal costs.
	r = start()
	total = fields["Total Amount"]
	if n := allocations(t, r, func(row *csvreport.Row) {
		_, err := row.Decimal(total)
		must(err)
	}); n > 2 {
		t.Errorf("decimals: %v allocations each", n)
	}
}
