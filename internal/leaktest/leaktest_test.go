package leaktest

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A goroutine is found by its stack, and not found once it has ended.
func TestGoroutines(t *testing.T) {
	before, release := Take(), make(chan struct{})
	go func() { <-release }()
	assert.Contains(t, before.Left(0), "leaktest.TestGoroutines.func1")
	assert.Empty(t, Take().Left(0), "what ran before is none of the tests'")
	close(release)
	assert.Empty(t, before.Left(patience))
}

func TestMain(m *testing.M) { os.Exit(Main(m)) }
