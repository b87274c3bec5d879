package report

import (
	"io"

	"github.com/quickstream-go/quickstream/csvreport"
)

// Fields reads with csvreport and takes every cell as it is.
func Fields(report io.Reader, t *Tally) error {
	r, err := csvreport.NewReader(report)
	if err != nil {
		return err
	}
	for row, err := range r.Rows() {
		if err != nil {
			return err
		}
		for _, cell := range row.Cells() {
			t.bytes(cell)
		}
		t.Records++
	}
	return nil
}

// Borrowed reads typed rows with csvreport that are good until the next one.
func Borrowed(report io.Reader, t *Tally) error {
	return rows(report, func(b *binding, row *csvreport.Row) error {
		for i, cell := range row.Cells() {
			if b.isText[i] {
				t.bytes(cell)
			}
		}
		return b.values(row, t)
	})
}

// Owned reads typed rows with csvreport that stay: their values, and a clone for the text.
func Owned(report io.Reader, t *Tally) error {
	return rows(report, func(b *binding, borrowed *csvreport.Row) error {
		row := borrowed.Clone()
		for _, c := range b.text {
			cell, err := row.Text(c)
			if err != nil {
				return err
			}
			t.text(cell)
		}
		return b.values(borrowed, t)
	})
}

// binding is the columns of one report.
type binding struct {
	text       []csvreport.Column
	isText     []bool // of all columns
	amounts    [3]csvreport.Column
	date, time csvreport.Column
	truths     [2]csvreport.Column
}

func bind(r *csvreport.Reader) *binding {
	b := new(binding)
	typed := map[string]*csvreport.Column{
		"Principal Amount": &b.amounts[0], "Surcharge Amount": &b.amounts[1], "Total Amount": &b.amounts[2],
		"Settlement Date": &b.date, "Transaction Time": &b.time, "Refundable": &b.truths[0], "Voidable": &b.truths[1],
	}
	for _, c := range r.Columns() {
		to := typed[c.Name()]
		if b.isText = append(b.isText, to == nil); to == nil {
			b.text = append(b.text, c)
		} else {
			*to = c
		}
	}
	return b
}

func rows(report io.Reader, use func(*binding, *csvreport.Row) error) error {
	r, err := csvreport.NewReader(report)
	if err != nil {
		return err
	}
	b := bind(r)
	for row, err := range r.Rows() {
		if err == nil {
			err = use(b, row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *binding) values(row *csvreport.Row, t *Tally) error {
	for i, c := range b.amounts {
		cents, err := row.Cents(c)
		if err != nil {
			return err
		}
		t.cents(i, cents)
	}
	date, err := row.Date(b.date)
	if err != nil {
		return err
	}
	t.day(date.Year, date.Month, date.Day)
	at, err := row.Timestamp(b.time)
	if err != nil {
		return err
	}
	t.moment(at.Time)
	for _, c := range b.truths {
		truth, err := row.Bool(c)
		if err != nil {
			return err
		}
		t.truth(truth)
	}
	t.Records++
	return nil
}
