package transport

import "sync"

// A client in an outage must not triple its load. Each repeat takes a token from a bucket that
// successes refill. Without a token a call ends as after its last attempt.
const (
	repeatCost = 10 // in tenths of a token; a success refills one tenth
	bucketSize = 10 * repeatCost
)

// budget is shared by all calls of a client. A new one is full.
type budget struct {
	mu sync.Mutex
	// spent has the tenths taken: first for repeated reads and requests that were never sent, then
	// for lost writes, which a repeat settles.
	spent [2]int
}

// take reports whether another attempt may be made. After a connection that was closed while idle
// it costs nothing: the service gets one request.
func (b *budget) take(x *exchange) bool {
	if x.stale {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	spent := &b.spent[0]
	if x.call.Class != Read && x.unanswered {
		spent = &b.spent[1]
	}
	if *spent+repeatCost > bucketSize {
		return false
	}
	*spent += repeatCost
	return true
}

// refill counts a success.
func (b *budget) refill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.spent {
		b.spent[i] = max(b.spent[i]-1, 0)
	}
}
