package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"-size", "4"}, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, "borrowed: 4 MB, ") || !strings.Contains(got, "peak RSS ") {
		t.Errorf("printed %q", got)
	}
	if err := run([]string{"-way", "sideways"}, io.Discard); err == nil || !strings.Contains(err.Error(), "borrowed and owned") {
		t.Errorf("unknown way: %v", err)
	}
}
