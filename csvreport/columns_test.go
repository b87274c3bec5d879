package csvreport_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream/csvreport"
)

func open(t *testing.T, report string, opts ...csvreport.Option) *csvreport.Reader {
	t.Helper()
	r, err := csvreport.NewReader(strings.NewReader(report), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// only returns an owned copy of a report's only row.
func only(t *testing.T, r *csvreport.Reader) *csvreport.Row {
	t.Helper()
	var owned *csvreport.Row
	for row, err := range r.Rows() {
		if err != nil || owned != nil {
			t.Fatalf("not one row: %v", err)
		}
		clone := row.Clone()
		owned = &clone
	}
	if owned == nil {
		t.Fatal("no row")
	}
	return owned
}

func TestColumnsByName(t *testing.T) {
	for _, report := range []string{
		"Receipt Number,New Column,Total Amount\r\nR1,?,5.00",
		"Total Amount,Receipt Number\r\n5.00,R1",
	} {
		r := open(t, report)
		receipt, err1 := r.Column("Receipt Number")
		total, err2 := r.Column("Total Amount")
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		row := only(t, r)
		text, err1 := row.Text(receipt)
		cents, err2 := row.Cents(total)
		if text != "R1" || cents != 500 || err1 != nil || err2 != nil {
			t.Errorf("got %q, %d, %v, %v", text, cents, err1, err2)
		}
	}
}

func TestNamesMatchToTheLetter(t *testing.T) {
	r := open(t, "Receipt Number, Status,\u017ftate,twice,x,twice")
	for name, kind := range map[string]csvreport.Kind{
		"receipt number": csvreport.KindNoColumn,
		"Status":         csvreport.KindNoColumn,
		"state":          csvreport.KindNoColumn,
		"":               csvreport.KindNoColumn,
		"twice":          csvreport.KindAmbiguousColumn,
	} {
		c, err := r.Column(name)
		if !errors.Is(err, kind) || c != (csvreport.Column{}) {
			t.Errorf("%q: got %v", name, err)
		}
	}
	if _, err := r.Column("Status"); err.Error() != `csv report: header, column "Status": no such column in the header` {
		t.Errorf("got %q", err)
	}
	var names []string
	for _, c := range r.Columns() {
		names = append(names, c.Name())
	}
	if want := []string{"Receipt Number", " Status", "\u017ftate", "twice", "x", "twice"}; !reflect.DeepEqual(names, want) {
		t.Errorf("got %q", names)
	}
}

// A column that was bound in yesterday's report must not read today's.
func TestColumnOfAnotherReport(t *testing.T) {
	yesterday, today := open(t, "Amount,Receipt\r\n1.00,R1"), open(t, "Receipt,Amount\r\n2,3.00")
	amount, err := yesterday.Column("Amount")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]csvreport.Column{"another report's": amount, "zero": {}} {
		row := only(t, open(t, "Receipt,Amount\r\n2,3.00"))
		if name == "another report's" {
			row = only(t, today)
		}
		_, textErr := row.Text(c)
		_, bytesErr := row.Bytes(c)
		_, decimalErr := row.Decimal(c)
		_, centsErr := row.Cents(c)
		_, dateErr := row.Date(c)
		_, timeErr := row.Timestamp(c)
		_, boolErr := row.Bool(c)
		for _, err := range []error{textErr, bytesErr, decimalErr, centsErr, dateErr, timeErr, boolErr} {
			if !errors.Is(err, csvreport.KindNoColumn) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		if !row.IsEmpty(c) {
			t.Errorf("%s: not empty", name)
		}
	}
	// A row that no report gave has no columns either.
	var none csvreport.Row
	if _, err := none.Text(amount); !errors.Is(err, csvreport.KindNoColumn) {
		t.Errorf("got %v", err)
	}
	if _, err := none.Transaction().ReceiptNumber(); !errors.Is(err, csvreport.KindNoColumn) {
		t.Errorf("got %v", err)
	}
	for range none.Metadata() {
		t.Error("metadata from nowhere")
	}
}

func TestMetadata(t *testing.T) {
	r := open(t, "metadata_order,Receipt Number,metadata_,metadata_store,Metadata_x\r\n42,R1,odd,,no")
	row := only(t, r)
	if got, want := maps.Collect(row.Metadata()), map[string]string{"order": "42", "": "odd"}; !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for key := range row.Metadata() {
		if key != "order" {
			t.Errorf("%q comes first", key)
		}
		break
	}
	order, err := r.Metadata("order")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := row.Text(order); text != "42" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	if _, err := r.Metadata("store "); !errors.Is(err, csvreport.KindNoColumn) {
		t.Errorf("got %v", err)
	}
}

// Only names that the caller used may be in an error: when the header of a report
// is lost, its first record stands in its place.
func TestErrorsShowNamesThatWereAskedFor(t *testing.T) {
	r := open(t, canary+",b\r\nx,y")
	row := only(t, r)
	_, err := row.Date(r.Columns()[0])
	if !errors.Is(err, csvreport.KindDate) {
		t.Fatalf("got %v", err)
	}
	secret(t, err)
	c, err := r.Column("b")
	if err != nil {
		t.Fatal(err)
	}
	_, err = row.Date(c)
	if want := `csv report: record 1, line 2, column 2 "b": not a date (0 records read before it)`; fmt.Sprint(err) != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

func TestReportIsTold(t *testing.T) {
	for header, want := range map[string]csvreport.Report{
		"Community Code,Business Code,Business Name,Source":      csvreport.TransactionsV1,
		"Supplier Business Code,Receipt Number":                  csvreport.TransactionsV2,
		"Payee Reference,Agreement Token,Supplier Business Code": csvreport.PayToAgreements,
		"Receipt Number": "",
	} {
		if got := open(t, header).Report(); got != want {
			t.Errorf("%s: got %q, want %q", header, got, want)
		}
	}
	pinned := open(t, "Receipt Number", csvreport.WithReport(csvreport.TransactionsV2))
	if pinned.Report() != csvreport.TransactionsV2 {
		t.Errorf("got %q", pinned.Report())
	}
	if _, err := pinned.Field(csvreport.ReceiptNumber); err != nil {
		t.Error(err)
	}
}

// Every field of a layout is read by the method of its name.
func TestViews(t *testing.T) {
	a := csvreport.DefaultAssumptions()
	for _, layout := range a.Layouts {
		var names, cells []string
		want := map[csvreport.Field]string{}
		for f, name := range layout.Columns {
			value := "text " + f.String()
			switch {
			case strings.HasSuffix(name, "Amount"):
				value = fmt.Sprintf("%d.25", f)
			case strings.HasSuffix(name, "Date"):
				value = "2024-02-03"
			case strings.HasSuffix(name, "Time"):
				value = "2024-02-03T10:11:12+1100"
			}
			want[f] = value
			names, cells = append(names, name), append(cells, value)
		}
		report := strings.Join(names, ",") + "\r\n" + strings.Join(cells, ",")
		for _, given := range []string{report, "Something Else\r\nx"} {
			r := open(t, given, csvreport.WithReport(layout.Report))
			row := only(t, r)
			view := reflect.ValueOf(row.Transaction())
			if layout.Report == csvreport.PayToAgreements {
				view = reflect.ValueOf(row.Agreement())
			}
			for f := range layout.Columns {
				out := view.MethodByName(strings.TrimPrefix(f.String(), "Agreement")).Call(nil)
				err, _ := out[1].Interface().(error)
				_, bound := r.Field(f)
				if given != report {
					var e *csvreport.Error
					if !errors.As(err, &e) || e.Kind != csvreport.KindNoColumn || e.Name != layout.Columns[f] || !errors.Is(bound, csvreport.KindNoColumn) {
						t.Errorf("%s, %s: got %v and %v", layout.Report, f, err, bound)
					}
					continue
				}
				if got := fmt.Sprint(out[0]); err != nil || got != want[f] && got+"+1100" != want[f] || bound != nil {
					t.Errorf("%s, %s: got %s, %v, %v, want %s", layout.Report, f, got, err, bound, want[f])
				}
			}
		}
	}
}

func TestOtherLayout(t *testing.T) {
	a := csvreport.DefaultAssumptions()
	for _, layout := range a.Layouts {
		if layout.Report == csvreport.TransactionsV2 {
			layout.Columns[csvreport.ReceiptNumber] = "Receipt"
		}
	}
	a.Layouts = append(a.Layouts, csvreport.Layout{Report: "own", Columns: map[csvreport.Field]string{csvreport.Status: "How"}})
	row := only(t, open(t, "Supplier Business Code,Receipt\r\nX,R1", csvreport.WithAssumptions(a)))
	if got, err := row.Transaction().ReceiptNumber(); got != "R1" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	r := open(t, "How\r\nwell", csvreport.WithAssumptions(a), csvreport.WithReport("own"))
	a.Layouts[len(a.Layouts)-1].Columns[csvreport.Status] = "changed later"
	row = only(t, r)
	if got, err := row.Transaction().Status(); got != "well" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	// A field that the layout says nothing about is named by itself.
	if _, err := row.Transaction().Currency(); err == nil || !strings.Contains(err.Error(), `"Currency"`) {
		t.Errorf("got %v", err)
	}
	if _, err := r.Field(200); err == nil || !strings.Contains(err.Error(), "Field(200)") {
		t.Errorf("got %v", err)
	}
	if _, err := r.Field(0); !errors.Is(err, csvreport.KindNoColumn) {
		t.Errorf("got %v", err)
	}
	// The default is not what was changed here.
	if csvreport.DefaultAssumptions().Layouts[2].Columns[csvreport.ReceiptNumber] != "Receipt Number" {
		t.Error("the assumptions of others were changed")
	}
}
