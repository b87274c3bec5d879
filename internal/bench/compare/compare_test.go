package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream"
)

// TestMain lets the test binary be the child process that the command starts.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "-child" {
		if _, err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestGates(t *testing.T) {
	for _, tt := range []struct {
		l    line
		want bool
	}{
		{line{Value: 1.25}.atMost(1.25), true},
		{line{Value: 1.26}.atMost(1.25), false},
		{line{Value: 1.25}.atMost(1, 2), onV2},
		{line{Value: 0}.atMost(0), true},
		{line{Value: 1}.atMost(0), false},
		{line{Value: 2.5}.atLeast(2.5), true},
		{line{Value: 2.4}.atLeast(2.5), false},
		{line{Value: 1e9}, true},
		{line{Value: math.NaN()}.atMost(1), false},
		{line{Value: math.NaN()}.atLeast(1), false},
	} {
		if got := tt.l.holds(); got != tt.want {
			t.Errorf("%+v holds: %v", tt.l, got)
		}
	}
}

// TestRows runs rows from end to end, with few rounds. What they measure is not
// judged here, only that they agree with their peers and print what they should.
func TestRows(t *testing.T) {
	for _, row := range []string{"P8", "P16"} {
		var out bytes.Buffer
		if _, err := run(t.Context(), []string{"-quick", "-row", row}, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "\n"+row+" ") || strings.Contains(out.String(), "P1 ") {
			t.Errorf("row %s:\n%s", row, out.String())
		}
	}
	if _, err := run(t.Context(), []string{"-row", "P3"}, io.Discard); err == nil || !strings.Contains(err.Error(), "P3") {
		t.Errorf("a row that does not exist: %v", err)
	}
}

// TestTableAndPlot: a line that misses its gate says so in both, and the plot shows ratios only, in
// their order.
func TestTableAndPlot(t *testing.T) {
	found := results{Lines: []line{
		line{Row: "P1", What: "ours / peer", Value: 0.5}.atMost(0.6),
		line{Row: "P1", What: "c & d", Value: 0.7}.atMost(0.6),
		counted("P2", "over", "allocs", 3).atMost(2),
		{Row: "P3", What: "far", Value: 40},
	}}
	var out bytes.Buffer
	found.table(&out)
	for _, want := range []string{"0.5x      <= 0.6x\n", "0.7x      <= 0.6x MISSED\n", "3 allocs  <= 2 allocs MISSED\n", "40x"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in the table:\n%s", want, out.String())
		}
	}
	var svg struct {
		Text    []string `xml:"text"`
		Circles []struct {
			X int `xml:"cx,attr"`
		} `xml:"circle"`
		Gates []struct{} `xml:"path"`
	}
	if err := xml.Unmarshal([]byte(found.plot()), &svg); err != nil {
		t.Fatal(err)
	}
	dots := svg.Circles
	if len(dots) != 3 || len(svg.Gates) != 2 || dots[0].X >= dots[1].X || dots[1].X >= dots[2].X ||
		!slices.Contains(svg.Text, "P1 c & d") || !slices.Contains(svg.Text, "<= 0.6x MISSED") {
		t.Errorf("the plot shows %+v", svg)
	}
}

func TestADifferenceIsFound(t *testing.T) {
	body := transactionJSON(stubHost, 1000000001)
	if n := len(body); n < 2300 || n > 2800 {
		t.Errorf("a transaction has %d bytes", n)
	}
	if n := len(intentJSON(1)); n < 2300 || n > 2800 {
		t.Errorf("a payment of the peer has %d bytes", n)
	}
	mine := new(quickstream.Transaction)
	if err := mine.UnmarshalJSON([]byte(body)); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{"", ""},
		{`"amount":1.45`, `"amount":1.46`},
		{"2024-02-03T10:11:12+1100", "2024-02-03T10:11:12+1000"},
		{`"2024-02-03"`, `"2024-02-04"`},
		{`"voidable":true`, `"voidable":false`},
		{`\u0031\u0032`, `13`},
		{`"shop":"north"`, `"shop":"south"`},
		{`"rel":"refunds"`, `"rel":"other"`},
	} {
		changed := strings.Replace(body, change[0], change[1], 1)
		if (changed != body) != (change[0] != "") {
			t.Fatalf("%q is not in the body", change[0])
		}
		var theirs plainTransaction
		if err := json.Unmarshal([]byte(changed), &theirs); err != nil {
			t.Fatal(err)
		}
		if err := same(mine, &theirs); (err != nil) != (change[0] != "") {
			t.Errorf("%q for %q: %v", change[1], change[0], err)
		}
	}
}

func TestService(t *testing.T) {
	p, stop := startService(t.Context())
	if err := each(p.list(listURL(p.base, "fast", listPages-3)).All(t.Context()), 3*pageSize, func(_ int, transaction *quickstream.Transaction) error {
		if transaction.ReceiptNumber == "" {
			return errors.New("no receipt number")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	stop()
	if _, err := p.ours.Transactions.Get(t.Context(), receipt, quickstream.WithMaxAttempts(1)); err == nil {
		t.Error("the child is still there")
	}
}

// TestEach keeps a list that ends early, or with an error, from being measured.
func TestEach(t *testing.T) {
	boom := errors.New("boom")
	list := func(yield func(int, error) bool) { _ = yield(1, nil) && yield(2, nil) && yield(0, boom) }
	if err := each(list, 2, nil); !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	if each(slices.All([]error{nil, nil}), 3, nil) == nil {
		t.Error("two items of three were read, and that was fine")
	}
}

func TestPeakOfAChild(t *testing.T) {
	if peak := peakOf(t.Context(), "borrowed"); peak < 1 || peak > 200 {
		t.Errorf("%v MB", peak)
	}
}

// TestCounterSeesLostConnections keeps the count of P16 honest. The answer is longer
// than what net/http reads of one that was closed, which depends on the version of Go.
func TestCounterSeesLostConnections(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	server := count(func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusNotFound, long) })
	defer server.Close()
	usual := server.usual()
	for range 60 {
		if err := usual.get(t.Context(), server.URL, nil); err == nil || err.Error() != "404 Not Found" { // the body is closed unread
			t.Fatal(err)
		}
	}
	if n := server.connections.Load(); n < 60 {
		t.Errorf("only %d connections were lost by not reading", n)
	}
}

func TestVerifyByHand(t *testing.T) {
	for _, header := range []string{"", "t=1,v1=00", "t=x", "v1=00"} {
		if verifyByHand(header, nil) == nil {
			t.Errorf("%q was accepted", header)
		}
	}
}
