package heaptest

import (
	"encoding/json"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What is held for a moment counts, and what was let go of before does not.
func TestPeak(t *testing.T) {
	const size = 32 << 20
	var kept []byte
	peak := Peak(func() {
		for range 4 {
			kept = make([]byte, size)
			runtime.GC()
		}
	})
	runtime.KeepAlive(kept)
	assert.InDelta(t, 1.5*size, peak, 0.75*size)
	assert.Less(t, Peak(func() {}), int64(size/8))
}

func TestFull(t *testing.T) {
	body := Full(100, `{"a":[`, `{},`, `]}`)
	assert.Len(t, body, 100)
	assert.True(t, json.Valid([]byte(body)), body)
	assert.Contains(t, body, `{},{}]}`)
}
