// Package reporttest generates transaction reports of any size for tests and
// benchmarks.
package reporttest

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Columns returns the header of the generated reports.
func Columns() []string {
	return strings.Split("Community Code,Supplier Business Code,Business Name,Source,Receipt Number,"+
		"Transaction Type,Status,Summary Code,Response Code,Response Description,Principal Amount,Surcharge Amount,"+
		"Total Amount,Currency,Settlement Date,Transaction Time,Customer Number,Customer Reference Number,Comment,"+
		"Card Scheme,Card Type,Card Number,Refundable,Voidable,Address,ECI,IP Address,Payment Reference Number,"+
		"Original Receipt Number,metadata_order", ",")
}

// block is a number of records, each behind a separator: of 30 cells three are
// in quotes, one of them for a comma, one for quotes and one for a line feed.
func block(records int) []byte {
	var b bytes.Buffer
	for i := range records {
		fmt.Fprintf(&b, "\r\nTESTCOMMUNITY,BUSINESSONE,\"Business One, New Park\",RESTAPI,%d,PAYMENT,Approved,0,08,"+
			"Honour with identification,%d.%02d,0.00,%d.%02d,AUD,2024-%02d-%02d,2024-02-03T10:11:12+1100,CUST%d,REF-%08d,"+
			"\"said \"\"hi\"\" today\",VISA,CREDIT,424242...242,%t,false,\"line one\nline two\",INTERNET,203.0.113.%d,,,order-%d",
			100000000+i, i%5000, i%100, i%5000, i%100, 1+i%12, 1+i%28, i, i, i%3 == 0, i%256, i)
	}
	return b.Bytes()
}

// Generator is a report that is generated while it is read. A copy of an unread one can be read
// too.
type Generator struct {
	next  []byte // what is left of the header or of a block
	block []byte
	left  int64 // blocks to come
}

// Generate returns a report of at least size bytes, and its number of records.
func Generate(size int64) (*Generator, int64) {
	const perBlock = 500
	g := &Generator{next: []byte(strings.Join(Columns(), ",")), block: block(perBlock)}
	g.left = (size + int64(len(g.block)) - 1) / int64(len(g.block))
	return g, perBlock * g.left
}

// Read fills p as far as a block goes.
func (g *Generator) Read(p []byte) (int, error) {
	if len(g.next) == 0 {
		if g.left == 0 {
			return 0, io.EOF
		}
		g.left--
		g.next = g.block
	}
	n := copy(p, g.next)
	g.next = g.next[n:]
	return n, nil
}
