package main

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"-size", "4", "-limit", "500"}, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, "borrowed: 4 MB, ") || !strings.Contains(got, "peak RSS ") {
		t.Errorf("printed %q", got)
	}
	out.Reset()
	if err := run([]string{"-size", "1", "-limit", "0.1", "-peak"}, &out); err != nil {
		t.Fatal(err)
	}
	if peak, err := strconv.ParseFloat(strings.TrimSpace(out.String()), 64); err != nil || peak < 1 {
		t.Errorf("printed %q for the peak alone", out.String())
	}
	if err := run([]string{"-size", "1", "-limit", "0.1"}, io.Discard); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("over the limit: %v", err)
	}
	if err := run([]string{"-way", "sideways"}, io.Discard); err == nil || !strings.Contains(err.Error(), "borrowed, fields, owned") {
		t.Errorf("unknown way: %v", err)
	}
}
