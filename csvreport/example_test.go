package csvreport_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/quickstream-go/quickstream/csvreport"
)

const report = "Supplier Business Code,Receipt Number,Settlement Date,Total Amount,Comment,metadata_order\r\n" +
	"BUSINESSONE,1000001,2024-02-03,12.50,\"blue, large\",A-1\r\n" +
	"BUSINESSONE,1000002,2024-02-03,-2.50,\"=1+1\",A-2"

func Example() {
	r, err := csvreport.NewReader(strings.NewReader(report)) // mostly the body of a download
	if err != nil {
		fmt.Println(err)
		return
	}
	receipt, err1 := r.Column("Receipt Number")
	total, err2 := r.Column("Total Amount")
	if err := errors.Join(err1, err2); err != nil {
		fmt.Println(err)
		return
	}
	var sum int64
	for row, err := range r.Rows() {
		if err != nil {
			fmt.Println(err)
			return
		}
		number, err := row.Text(receipt)
		if err != nil {
			fmt.Println(err)
			return
		}
		cents, err := row.Cents(total)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(number, cents)
		sum += cents
	}
	fmt.Println(r.Records(), "records,", sum, "cents")
	// Output:
	// 1000001 1250
	// 1000002 -250
	// 2 records, 1000 cents
}

func ExampleRow_Transaction() {
	r, err := csvreport.NewReader(strings.NewReader(report))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Report())
	for row, err := range r.Rows() {
		if err != nil {
			fmt.Println(err)
			return
		}
		tx := row.Transaction()
		date, err := tx.SettlementDate()
		if err != nil {
			fmt.Println(err)
			return
		}
		total, err := tx.TotalAmount()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(date, total.StringFixed(2))
	}
	// Output:
	// transactions, version 2
	// 2024-02-03 12.50
	// 2024-02-03 -2.50
}

// All cells of a report, whatever its columns.
func ExampleRow_Cells() {
	r, err := csvreport.NewReader(strings.NewReader("Receipt Number,Comment\r\n1000000001,\"two, please\""))
	if err != nil {
		fmt.Println(err)
		return
	}
	columns := r.Columns()
	for row, err := range r.Rows() {
		if err != nil {
			fmt.Println(err)
			return
		}
		for i, cell := range row.Cells() {
			fmt.Printf("%s: %s\n", columns[i].Name(), cell)
		}
	}
	// Output:
	// Receipt Number: 1000000001
	// Comment: two, please
}

// A row that is kept is a clone of the borrowed one.
func ExampleRow_Clone() {
	r, err := csvreport.NewReader(strings.NewReader(report))
	if err != nil {
		fmt.Println(err)
		return
	}
	order, err := r.Metadata("order")
	if err != nil {
		fmt.Println(err)
		return
	}
	orders := map[string]csvreport.Row{}
	for row, err := range r.Rows() {
		if err != nil {
			fmt.Println(err)
			return
		}
		key, err := row.Text(order)
		if err != nil {
			fmt.Println(err)
			return
		}
		orders[key] = row.Clone()
	}
	row := orders["A-1"]
	comment, err := row.Transaction().Comment()
	fmt.Println(comment, err)
	// Output: blue, large <nil>
}

// Damage says how far reading got.
func ExampleError() {
	cut := report[:len(report)-len(",\"=1+1\",A-2")]
	r, err := csvreport.NewReader(strings.NewReader(cut))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, err := range r.Rows() {
		var damage *csvreport.Error
		if errors.As(err, &damage) {
			fmt.Println(err)
			fmt.Println(damage.Records(), "records,", errors.Is(err, csvreport.KindShortRecord))
		}
	}
	// Output:
	// csv report: record 2, line 3, column 5: the record ends before this column (1 records read before it)
	// 1 records, true
}

// What your own reports show to be otherwise is said once.
func ExampleWithAssumptions() {
	a := csvreport.DefaultAssumptions()
	for _, layout := range a.Layouts {
		if layout.Report == csvreport.TransactionsV2 {
			layout.Columns[csvreport.ReceiptNumber] = "Receipt No"
		}
	}
	a.Dates = []string{"02/01/2006"}

	own := "Supplier Business Code,Receipt No,Settlement Date\r\nBUSINESSONE,1000001,03/02/2024"
	r, err := csvreport.NewReader(strings.NewReader(own), csvreport.WithAssumptions(a))
	if err != nil {
		fmt.Println(err)
		return
	}
	for row, err := range r.Rows() {
		if err != nil {
			fmt.Println(err)
			return
		}
		receipt, err1 := row.Transaction().ReceiptNumber()
		date, err2 := row.Transaction().SettlementDate()
		fmt.Println(receipt, date, errors.Join(err1, err2))
	}
	// Output: 1000001 2024-02-03 <nil>
}

func ExampleSafe() {
	r, err := csvreport.NewReader(strings.NewReader(report))
	if err != nil {
		fmt.Println(err)
		return
	}
	w := csv.NewWriter(os.Stdout)
	columns := r.Columns()
	cells := make([]string, len(columns))
	for row, err := range r.Rows() {
		if err != nil {
			fmt.Println(err)
			return
		}
		for i, c := range columns {
			text, err := row.Text(c)
			if err != nil {
				fmt.Println(err)
				return
			}
			cells[i] = csvreport.Safe(text)
		}
		if err := w.Write(cells); err != nil {
			fmt.Println(err)
			return
		}
	}
	w.Flush()
	// Output:
	// BUSINESSONE,1000001,2024-02-03,12.50,"blue, large",A-1
	// BUSINESSONE,1000002,2024-02-03,-2.50,'=1+1,A-2
}
