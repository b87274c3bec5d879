package loopback_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/internal/loopback"
)

// TestIsHost: a text is believed only if it leads to this machine whatever DNS says.
func TestIsHost(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"localhost", "LocalHost", "127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"} {
		assert.True(t, loopback.IsHost(host), host)
		assert.NoError(t, loopback.Control("tcp", net.JoinHostPort(host, "80"), nil), host)
	}
	for _, host := range []string{
		"", "box.localhost", ".localhost", "localhost.", "localho\u017ft", "localhost.invalid", "evillocalhost",
		"10.0.0.1", "0.0.0.0", "::", "::2", "::1%lo", "127.1", "0x7f.0.0.1", "2130706433", "[::1]", "127.0.0.1:80",
	} {
		assert.False(t, loopback.IsHost(host), host)
		assert.ErrorIs(t, loopback.Control("tcp", net.JoinHostPort(host, "80"), nil), loopback.ErrElsewhere, host)
	}
	assert.ErrorIs(t, loopback.Control("tcp", "127.0.0.1", nil), loopback.ErrElsewhere, "no address of a socket")
}
