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
			text(t, cell)
		}
		t.Records++
	}
	return nil
}

// Borrowed reads typed rows with csvreport. A row is valid until the next one.
func Borrowed(report io.Reader, t *Tally) error {
	return rows(report, t, func(row *csvreport.Row, columns []csvreport.Column) error {
		for _, c := range columns {
			cell, err := row.Bytes(c)
			if err != nil {
				return err
			}
			text(t, cell)
		}
		return nil
	})
}

// Owned reads typed rows with csvreport that stay valid: their values, and a clone for the text.
func Owned(report io.Reader, t *Tally) error {
	return rows(report, t, func(borrowed *csvreport.Row, columns []csvreport.Column) error {
		row := borrowed.Clone()
		for _, c := range columns {
			cell, err := row.Text(c)
			if err != nil {
				return err
			}
			text(t, cell)
		}
		return nil
	})
}

// rows reads typed rows, and leaves the columns of text to texts.
func rows(report io.Reader, t *Tally, texts func(*csvreport.Row, []csvreport.Column) error) error {
	r, err := csvreport.NewReader(report)
	if err != nil {
		return err
	}
	var amounts, truths, others []csvreport.Column
	var date, moment csvreport.Column
	for _, c := range r.Columns() {
		switch c.Name() {
		case "Principal Amount", "Surcharge Amount", "Total Amount":
			amounts = append(amounts, c)
		case "Refundable", "Voidable":
			truths = append(truths, c)
		case "Settlement Date":
			date = c
		case "Transaction Time":
			moment = c
		default:
			others = append(others, c)
		}
	}
	for row, err := range r.Rows() {
		if err == nil {
			err = texts(row, others)
		}
		if err != nil {
			return err
		}
		for _, c := range amounts {
			cents, err := row.Cents(c)
			if err != nil {
				return err
			}
			t.value(cents)
		}
		day, err := row.Date(date)
		if err != nil {
			return err
		}
		t.day(day.Year, day.Month, day.Day)
		at, err := row.Timestamp(moment)
		if err != nil {
			return err
		}
		t.value(at.Unix())
		for _, c := range truths {
			truth, err := row.Bool(c)
			if err != nil {
				return err
			}
			t.truth(truth)
		}
		t.Records++
	}
	return nil
}
