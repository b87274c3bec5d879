package transport

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestBudget: ten repeats, and one more for ten successes. Lost writes have ten of their own, and
// a closed idle connection costs nothing.
func TestBudget(t *testing.T) {
	read, unsent := &exchange{unanswered: true}, &exchange{call: Call{Class: Post}}
	lost := &exchange{call: Call{Class: Keyed}, unanswered: true}
	var b budget
	b.refill() // a full bucket stays as it is
	for name, kinds := range map[string][]*exchange{"repeats": {read, unsent}, "lost writes": {lost, lost}} {
		for i := range 10 {
			assert.True(t, b.take(kinds[i%2]), "%s: %d", name, i)
		}
		assert.False(t, b.take(kinds[0]), name)
		assert.False(t, b.take(kinds[1]), name)
	}
	assert.True(t, b.take(&exchange{stale: true}))
	for range 9 {
		b.refill()
	}
	assert.False(t, b.take(read))
	assert.False(t, b.take(lost))
	b.refill()
	assert.True(t, b.take(unsent))
	assert.False(t, b.take(read))
	assert.True(t, b.take(lost))
	assert.False(t, b.take(lost))
}

func TestBudgetIsShared(t *testing.T) {
	var b budget
	var taken atomic.Int32
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			if b.take(&exchange{}) {
				taken.Add(1)
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 10, taken.Load())
}
