package leaktest

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A goroutine is found by its stack, and not found once it has ended.
func TestGoroutines(t *testing.T) {
	before, release := goroutines(), make(chan struct{})
	go func() { <-release }()
	assert.Contains(t, leftOver(before, 0), "leaktest.TestGoroutines.func1")
	assert.Empty(t, leftOver(goroutines(), 0), "what ran before is none of the tests'")
	close(release)
	assert.Empty(t, leftOver(before, patience))
}

func TestMain(m *testing.M) { os.Exit(Main(m)) }
