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
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/quickstream-go/quickstream"
)

// TestMain lets the test binary be the child process that the command starts.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "-child" {
		if _, err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr); err != nil {
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

func TestTable(t *testing.T) {
	var out bytes.Buffer
	table(&out, results{Lines: []line{
		line{Row: "P1", What: "within", Value: 0.5}.atMost(1), counted("P2", "over", "allocs", 3).atMost(2), {Row: "P3", What: "beside", Value: 7},
	}})
	for _, want := range []string{"0.5x      <= 1x\n", "3 allocs  <= 2 allocs MISSED\n", "7x        \n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in the table:\n%s", want, out.String())
		}
	}
}

// TestRows runs rows from end to end, with few rounds. What they measure is not
// judged here, only that they agree with their peers and print what they should.
func TestRows(t *testing.T) {
	var out bytes.Buffer
	folder := t.TempDir()
	if _, err := run(t.Context(), []string{"-quick", "-row", "P8,P16", "-json", filepath.Join(folder, "results", "a.json")}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if written := readRuns(folder); len(written) != 1 || len(written[0].Lines) != 4 || written[0].Go != runtime.Version() {
		t.Errorf("the results hold %+v", written)
	}
	for _, want := range []string{"P8 ", "verify, allocations", "P16 ", "lost"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in the table:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "P1 ") || strings.Contains(out.String(), "P9 ") {
		t.Errorf("rows were measured that nobody asked for:\n%s", out.String())
	}
	if _, err := run(t.Context(), []string{"-row", "P3"}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "P3") {
		t.Errorf("a row that does not exist: %v", err)
	}
}

func TestClientsAgree(t *testing.T) { callCases(t.Context()) }

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

func TestForgeriesAreFound(t *testing.T) {
	body := []byte("a body")
	for name, do := range map[string]func([]byte) error{
		"honest": func(b []byte) error {
			if !bytes.Equal(b, body) {
				return errors.New("forged")
			}
			return nil
		},
		"gullible": func([]byte) error { return nil },
		"strict":   func([]byte) error { return errors.New("no") },
	} {
		if err := (way{name, body, do}).refusesForgeries(); (err == nil) != (name == "honest") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestService(t *testing.T) {
	p, stop := startService(t.Context())
	if err := each(p.list(listURL(p.base, 3, "fast")).All(t.Context()), 3*pageSize, func(_ int, transaction *quickstream.Transaction) error {
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

func TestTogether(t *testing.T) {
	var n atomic.Int64
	if err := together(8, 5, func() error { n.Add(1); return nil }); err != nil || n.Load() != 40 {
		t.Errorf("%d calls, %v", n.Load(), err)
	}
	boom := errors.New("boom")
	if err := together(2, 2, func() error { return boom }); !errors.Is(err, boom) {
		t.Errorf("error %v", err)
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
		resp, err := usual.do(t.Context(), server.URL)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close() // unread
	}
	if n := server.connections.Load(); n < 60 {
		t.Errorf("only %d connections were lost by not reading", n)
	}
}

func TestByHand(t *testing.T) {
	server := count(func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusTeapot, smallJSON) })
	defer server.Close()
	if err := server.usual().get(t.Context(), server.URL, new(plainTransaction)); err == nil {
		t.Error("a status that is no success was decoded")
	}
	for _, header := range []string{"", "t=1,v1=00", "t=x", "v1=00"} {
		if verifyByHand(header, nil) == nil {
			t.Errorf("%q was accepted", header)
		}
	}
}

// TestFigures draws two runs of which the later has a line more.
func TestFigures(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "results"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("README.md", []byte("Text.\n"+beforeFigures+"old figures"))
	p1 := line{Row: "P1", What: "ours / peer", Value: 0.5}.atMost(0.6)
	write("results/a.json", must(json.Marshal(results{Go: "go1", Lines: []line{p1}})))
	p1.Value = 0.7
	write("results/b.json", must(json.Marshal(results{Go: "go2", Lines: []line{p1, counted("P2", "a & b", "allocs", 3), {Row: "P3", What: "c & d", Value: 40}}})))
	figures(folder)
	readme := string(must(os.ReadFile(filepath.Join(folder, "README.md"))))
	for _, want := range []string{"Text.\n", "go1 ", "go2 ", "0.5x", "<= 0.6x", "0.7x", "<= 0.6x MISSED", "a & b", "3 allocs"} {
		if !strings.Contains(readme, want) {
			t.Errorf("%q is not in the README:\n%s", want, readme)
		}
	}
	var svg struct {
		Text    []string `xml:"text"`
		Circles []struct {
			X int `xml:"cx,attr"`
		} `xml:"circle"`
		Gates []struct{} `xml:"path"`
	}
	if err := xml.Unmarshal(must(os.ReadFile(filepath.Join(folder, "results", "plot.svg"))), &svg); err != nil {
		t.Fatal(err)
	}
	dots := svg.Circles[2:] // those before name the runs
	if len(dots) != 3 || len(svg.Gates) != 2 || dots[0].X >= dots[1].X || dots[1].X >= dots[2].X || !slices.Contains(svg.Text, "P3 c & d") {
		t.Errorf("the plot shows %+v", svg)
	}
	if strings.Contains(readme, "old figures") {
		t.Error("the old figures are still there")
	}
}

// TestReadme keeps the figures in the README those of the results beside it.
func TestReadme(t *testing.T) {
	_, text, _ := strings.Cut(string(must(os.ReadFile("../README.md"))), beforeFigures)
	if text != figuresText(readRuns("..")) {
		t.Error("README.md has other figures than results/*.json: go -C internal/bench run ./compare -figures")
	}
}
