package leaktest

import (
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// A connection is found, and not found once it was closed.
func TestDescriptors(t *testing.T) {
	if runtime.GOOS != "linux" {
		assert.Empty(t, descriptors(), "only Linux lists them")
		return
	}
	before := Take()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	assert.Contains(t, before.Left(0), "socket:[")
	require.NoError(t, listener.Close())
	assert.Empty(t, before.Left(patience))
}

func TestMain(m *testing.M) { os.Exit(Main(m)) }
