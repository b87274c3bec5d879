package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
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
		{line{value: 1.25}.atMost(1.25), true},
		{line{value: 1.26}.atMost(1.25), false},
		{line{value: 0}.atMost(0), true},
		{line{value: 1}.atMost(0), false},
		{line{value: 2.5}.atLeast(2.5), true},
		{line{value: 2.4}.atLeast(2.5), false},
		{line{value: 1e9}, true},
		{line{value: math.NaN()}.atMost(1), false},
		{line{value: math.NaN()}.atLeast(1), false},
	} {
		if got := tt.l.holds(); got != tt.want {
			t.Errorf("%+v holds: %v", tt.l, got)
		}
	}
}

func TestTable(t *testing.T) {
	within := line{row: "P1", what: "within", ours: short(1500), peer: short(20e6), value: 0.5}.atMost(1)
	over := counted("P2", "over", 3, math.NaN(), "allocs").atMost(2)
	var out bytes.Buffer
	if all, err := table(&out, []line{within}); !all || err != nil {
		t.Errorf("a row within its gate failed: %v", err)
	}
	if all, err := table(&out, []line{within, over}); all || err != nil {
		t.Errorf("a row over its gate passed: %v", err)
	}
	for _, want := range []string{"1500 ns", "20.0 ms", "0.5x", "<= 1x", "yes", "3 allocs", "<= 2 allocs", "NO"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in the table:\n%s", want, out.String())
		}
	}
}

// TestRows runs rows from end to end, with few rounds. What they measure is not
// judged here, only that they agree with their peers and print what they should.
func TestRows(t *testing.T) {
	var out bytes.Buffer
	if _, err := run(t.Context(), []string{"-quick", "-row", "p8,P16"}, &out, io.Discard); err != nil {
		t.Fatal(err)
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

func TestClientsAgree(t *testing.T) {
	if _, err := callCases(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestADifferenceIsFound(t *testing.T) {
	body := transactionJSON(stubBase, 1000000001)
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

func TestForgeriesAreRefused(t *testing.T) {
	body := []byte("a body")
	if err := refuses("honest", body, func(b []byte) error {
		if !bytes.Equal(b, body) {
			return errors.New("forged")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if refuses("gullible", body, func([]byte) error { return nil }) == nil {
		t.Error("a verifier that accepts everything was not found")
	}
	if refuses("strict", body, func([]byte) error { return errors.New("no") }) == nil {
		t.Error("a verifier that refuses everything was not found")
	}
}

func TestService(t *testing.T) {
	var client *quickstream.Client
	_, err := withService(t.Context(), apiBase, func(p peers) ([]line, error) {
		client = p.ours
		n := 0
		for transaction, err := range ourList(p.ours, p.base+apiBase, 3).All(t.Context()) {
			if err != nil {
				return nil, err
			}
			n++
			if transaction.ReceiptNumber == "" {
				t.Error("no receipt number")
			}
		}
		if n != 3*pageSize {
			t.Errorf("%d transactions in 3 pages", n)
		}
		if _, err := client.Transactions.Get(t.Context(), "404"); !errors.Is(err, quickstream.ErrNotFound) {
			t.Errorf("error %v", err)
		}
		return nil, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Transactions.Get(t.Context(), receipt, quickstream.WithMaxAttempts(1)); err == nil {
		t.Error("the child is still there")
	}
}

func TestPeakOfAChild(t *testing.T) {
	peak, err := peakOf(t.Context(), "borrowed", scale{quick: true})
	if err != nil || peak < 1 || peak > 200 {
		t.Errorf("%v MB, %v", peak, err)
	}
	if _, err := peakOf(t.Context(), "unknown", scale{quick: true}); err == nil {
		t.Error("an unknown way of reading was measured")
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
	usual, err := server.usual()
	if err != nil {
		t.Fatal(err)
	}
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
	resp := httptest.NewRecorder()
	resp.WriteHeader(http.StatusTeapot)
	if err := decodePlain(resp.Result(), new(plainTransaction)); err == nil {
		t.Error("a status that is no success was decoded")
	}
	for _, header := range []string{"", "t=1,v1=00", "t=x", "v1=00"} {
		if verifyByHand(header, nil) == nil {
			t.Errorf("%q was accepted", header)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	cases, err := callCases(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range cases {
		b.Run(c.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
