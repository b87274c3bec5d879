package main

import "testing"

func TestPeakRSS(t *testing.T) {
	before, err := peakRSS()
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 64<<20)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	after, err := peakRSS()
	if err != nil || after < before+int64(len(block))/2 {
		t.Errorf("%d before 64 MB were used, %d after, %v", before, after, err)
	}
}
