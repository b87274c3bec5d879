package csvreport_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/csvreport"
)

const report = "Supplier Business Code,Receipt Number,Settlement Date,Total Amount,Comment,metadata_order\r\n" +
	"BUSINESSONE,1000001,2024-02-03,12.50,\"blue, large\",A-1\r\n" +
	"BUSINESSONE,1000002,2024-02-03,-2.50,\"=1+1\",A-2"

func Example() {
	r, err := csvreport.NewReader(strings.NewReader(report)) // usually the body of a download
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

// The columns of your reports, by their names there.
type sale struct {
	Receipt  string            `csv:"Receipt Number"`
	Settled  quickstream.Date  `csv:"Settlement Date"`
	Total    decimal.Decimal   `csv:"Total Amount"`
	Comment  *string           `csv:"Comment"` // nil if the cell is empty
	Order    string            `csv:"metadata_order"`
	Metadata map[string]string `csv:"metadata_*"`
}

func ExampleDecode() {
	r, err := csvreport.NewReader(strings.NewReader(report))
	if err != nil {
		fmt.Println(err)
		return
	}
	for sale, err := range csvreport.Decode[sale](r) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(sale.Receipt, sale.Settled, sale.Total.StringFixed(2), *sale.Comment, sale.Order, sale.Metadata)
	}
	// Output:
	// 1000001 2024-02-03 12.50 blue, large A-1 map[order:A-1]
	// 1000002 2024-02-03 -2.50 =1+1 A-2 map[order:A-2]
}

// Clone a borrowed row to keep it.
func ExampleRow_Clone() {
	r, err := csvreport.NewReader(strings.NewReader(report))
	if err != nil {
		fmt.Println(err)
		return
	}
	order, err1 := r.Column("metadata_order")
	comment, err2 := r.Column("Comment")
	if err := errors.Join(err1, err2); err != nil {
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
	text, err := row.Text(comment)
	fmt.Println(text, err)
	// Output: blue, large <nil>
}

// All cells of a report, whatever its columns, go to a file that people open in a spreadsheet.
func ExampleEscapeFormulas() {
	r, err := csvreport.NewReader(strings.NewReader(report))
	if err != nil {
		fmt.Println(err)
		return
	}
	w := csv.NewWriter(os.Stdout)
	cells := make([]string, len(r.Columns()))
	for row, err := range r.Rows() {
		if err != nil {
			fmt.Println(err)
			return
		}
		for i, cell := range row.Cells() {
			cells[i] = csvreport.EscapeFormulas(string(cell))
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
