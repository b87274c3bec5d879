package scheme_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/scheme"
)

const body = `{"id":"8e3c"}`

// Each scheme is found from one notification, whatever else its header holds.
func TestFind(t *testing.T) {
	t.Parallel()
	for _, s := range scheme.All() {
		secret := "whsec-1"
		switch {
		case strings.Contains(s.String(), "hexDecoded"):
			secret = "00ff10abcd"
		case strings.Contains(s.String(), "base64Decoded"):
			secret = "AP8Qq80="
		}
		value := s.Sign(secret, "1707312770123", []byte(body))
		require.NotEmpty(t, value, s)
		for _, sent := range []string{"t=1707312770123,v1=" + value, "v0=1, t=1707312770123, v1=" + value, "v1=other,t=1707312770123,v1=" + value} {
			found, ok := scheme.Find(sent, []byte(body), secret)
			require.True(t, ok, s)
			assert.Equal(t, s, found)
		}
	}
}

// The name of a scheme ends with WithoutTime if another time makes the same signature, and only then.
func TestWithoutTime(t *testing.T) {
	t.Parallel()
	without := 0
	for _, s := range scheme.All() {
		first := s.Sign("00ff10abcdef", "1707312770123", []byte(body))
		second := s.Sign("00ff10abcdef", "1707312770124", []byte(body))
		require.NotEmpty(t, second)
		assert.Equal(t, first == second, strings.HasSuffix(s.String(), scheme.WithoutTime), s)
		if first == second {
			without++
		}
	}
	assert.Equal(t, 18, without)
}
