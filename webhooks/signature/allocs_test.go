//go:build !race

// With the race detector sync.Pool drops some of what is put into it, on
// purpose, so that allocations can only be counted without it.

package signature_test

import (
	"strings"
	"testing"
)

func TestVerifyDoesNotAllocate(t *testing.T) {
	v := newVerifier(t)
	payload := []byte(body)
	for name, value := range map[string]string{
		"hex":             "t=" + stamp + ",v1=" + hexCurrent,
		"base64":          "t=" + stamp + ",v1=" + base64Current,
		"previous secret": "t=" + stamp + ",v1=" + hexPrevious,
		"five values":     "t=" + stamp + strings.Repeat(",v1="+hexEmptyBody, 4) + ",v1=" + hexCurrent,
		"mismatch":        "t=" + stamp + ",v1=" + hexEmptyBody,
		"malformed":       "t=" + stamp,
	} {
		header := []string{value}
		wantErr := name == "mismatch" || name == "malformed"
		allocs := testing.AllocsPerRun(1000, func() {
			if err := v.Verify(header, payload); (err != nil) != wantErr {
				t.Fatal(err)
			}
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations for each call", name, allocs)
		}
	}
}
