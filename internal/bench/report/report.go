// Package report generates transaction reports, and reads them in the ways that are compared.
package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// Read is a way of reading a report. It adds every value to a tally.
type Read func(report io.Reader, t *Tally) error

// Tally sums up what a way of reading has found, at the same cost for each.
type Tally struct {
	Records int64
	Sum     uint64 // over the values in order; a text counts by its length and its first and last byte
}

func (t *Tally) value(v int64) {
	t.Sum = t.Sum*31 + uint64(v) //nolint:gosec // any number will do
}

func (t *Tally) day(year int, month time.Month, day int) {
	t.value(int64(year*372 + int(month)*31 + day))
}

func (t *Tally) truth(b bool) {
	if b {
		t.value(1)
	} else {
		t.value(0)
	}
}

func text[T string | []byte](t *Tally, s T) {
	v := int64(len(s)) << 16
	if len(s) > 0 {
		v += int64(s[0])<<8 + int64(s[len(s)-1])
	}
	t.value(v)
}

const header = "Community Code,Supplier Business Code,Business Name,Source,Receipt Number," +
	"Transaction Type,Status,Summary Code,Response Code,Response Description,Principal Amount,Surcharge Amount," +
	"Total Amount,Currency,Settlement Date,Transaction Time,Customer Number,Customer Reference Number,Comment," +
	"Card Scheme,Card Type,Card Number,Refundable,Voidable,Address,ECI,IP Address,Payment Reference Number," +
	"Original Receipt Number,metadata_order"

// Generated is a report of any size: a block of records, again and again.
type Generated struct {
	Records int64
	block   []byte
	blocks  int64
}

// Generate returns a report of at least size bytes. A separator precedes each record. Of its 30 cells three are
// in quotes, one of them for a comma, one for quotes and one for a line feed.
func Generate(size int64) Generated {
	const records = 500
	var b bytes.Buffer
	for i := range records {
		fmt.Fprintf(&b, "\r\nTESTCOMMUNITY,BUSINESSONE,\"Business One, New Park\",RESTAPI,%d,PAYMENT,Approved,0,08,"+
			"Honour with identification,%d.%02d,0.00,%d.%02d,AUD,2024-%02d-%02d,2024-02-03T10:11:12+1100,CUST%d,REF-%08d,"+
			"\"said \"\"hi\"\" today\",VISA,CREDIT,424242...242,%t,false,\"line one\nline two\",INTERNET,203.0.113.%d,,,order-%d",
			100000000+i, i%5000, i%100, i%5000, i%100, 1+i%12, 1+i%28, i, i, i%3 == 0, i%256, i)
	}
	blocks := (size + int64(b.Len()) - 1) / int64(b.Len())
	return Generated{records * blocks, b.Bytes(), blocks}
}

// Reader reads the report from its beginning.
func (g Generated) Reader() io.Reader {
	parts := []io.Reader{strings.NewReader(header)}
	for range g.blocks {
		parts = append(parts, bytes.NewReader(g.block))
	}
	return io.MultiReader(parts...)
}
