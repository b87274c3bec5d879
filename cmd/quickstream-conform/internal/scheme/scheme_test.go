package scheme_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/scheme"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const body = `{"id":"8e3c"}`

// Each scheme is found from one notification, whatever else its header holds.
func TestFind(t *testing.T) {
	t.Parallel()
	for s := range scheme.All() {
		secret := "whsec-1"
		switch {
		case strings.Contains(s.String(), "hexDecoded"):
			secret = "00ff10abcd"
		case strings.Contains(s.String(), "base64Decoded"):
			secret = "AP8Qq80="
		}
		value, ok := s.Sign(secret, "1707312770123", []byte(body))
		require.True(t, ok, s)
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
	for s := range scheme.All() {
		first, _ := s.Sign("00ff10abcdef", "1707312770123", []byte(body))
		second, ok := s.Sign("00ff10abcdef", "1707312770124", []byte(body))
		require.True(t, ok)
		assert.Equal(t, first == second, strings.HasSuffix(s.String(), scheme.WithoutTime), s)
		if first == second {
			without++
		}
	}
	assert.Equal(t, 18, without)
}

// The scheme that package webhooks assumes is one of them.
func TestAssumed(t *testing.T) {
	t.Parallel()
	for name, assumed := range map[string]signature.AssumedHMAC{"sha256 t.body text hex": {}, "sha256 t.body text base64": {Base64: true}} {
		header, err := signature.Sign(assumed, "whsec", time.UnixMilli(1707312770123), []byte(body))
		require.NoError(t, err)
		found, ok := scheme.Find(header, []byte(body), "whsec")
		require.True(t, ok)
		assert.Equal(t, name, found.String())
	}
}

// None fits what is signed in a way that is not listed, with another secret, or not at all.
func TestNoneFits(t *testing.T) {
	t.Parallel()
	doubled := hmac.New(sha256.New, []byte("whsec"))
	doubled.Write([]byte(body + body))
	good, err := signature.Sign(signature.AssumedHMAC{}, "another", time.UnixMilli(1707312770123), []byte(body))
	require.NoError(t, err)
	for _, header := range []string{"t=1707312770123,v1=" + hex.EncodeToString(doubled.Sum(nil)), good, "", "t=1707312770123", "t=1707312770123,v1="} {
		_, ok := scheme.Find(header, []byte(body), "whsec")
		assert.False(t, ok, header)
	}
}
