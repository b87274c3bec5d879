package sandbox

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// heapGrowth returns how much more memory is in use after f than before.
func heapGrowth(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}

// Callers without a key, with wrong keys and with idempotency keys send large bodies: what
// the sandbox keeps is bounded.
func TestAttackRow10BodiesFillMemory(t *testing.T) {
	const megabytes, enough = 40, 24 << 20
	large := strings.Repeat("x", 1<<20)
	flood := func(h http.Handler, change func(*http.Request, int)) int64 {
		grown := heapGrowth(func() {
			for i := range megabytes {
				r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/rest/v1/transactions", strings.NewReader(large))
				change(r, i)
				h.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
		runtime.KeepAlive(h)
		return grown
	}
	same := New(WithSeed(1))
	defer same.Close()
	key := same.Keys().Secret
	for name, attack := range map[string]func(*http.Request, int){
		"strangers":   func(*http.Request, int) {},
		"a wrong key": func(r *http.Request, _ int) { r.SetBasicAuth("SANDBOX_SEC_WRONG", "") },
		"idempotency keys": func(r *http.Request, i int) {
			r.SetBasicAuth(key, "")
			r.Header.Set("Idempotency-Key", strings.Repeat("k", i+1))
		},
	} {
		box := New(WithSeed(1))
		assert.Less(t, flood(box, attack), int64(enough), name)
		for _, r := range box.Requests() {
			assert.Len(t, r.Body, maxRecordedBody)
		}
		box.Close()
	}
}

// Requests count without a body too: many headers and a long query.
func TestAttackRow10RecordOfHeaders(t *testing.T) {
	box := New()
	defer box.Close()
	for range 500 {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/rest/v1/?"+strings.Repeat("a&", 5000), nil)
		r.Header.Set("X-Large", strings.Repeat("x", 60<<10))
		box.ServeHTTP(httptest.NewRecorder(), r)
	}
	assert.Less(t, len(box.Requests()), 300)
	assert.LessOrEqual(t, box.requests.bytes, maxRecordedBytes)
}

// A number that is cut at the end of the kept part is not shown in part either.
func TestAttackRow10NumbersAtTheCut(t *testing.T) {
	const before = `{"cvn":"` + testCVN + `","note":"`
	number := realPAN
	for shown := range len(number) {
		body := before + strings.Repeat("-", maxRecordedBody-len(before)-shown) + number + `"}`
		naive := maskCards([]byte(body)[:maxRecordedBody])
		assert.True(t, bytes.HasSuffix(naive, []byte(number[:shown])), "the naive order shows it")
		kept := recorded([]byte(body))
		assert.Len(t, kept, maxRecordedBody)
		assert.NotRegexp(t, `[0-9]`, string(kept), shown)
	}
}
