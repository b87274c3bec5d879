package scheme_test

import (
	"crypto/hmac"
	"crypto/md5"
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

var signedAt = time.UnixMilli(1707312770123)

// Each scheme is found from one notification, or another that signs it alike.
func TestFind(t *testing.T) {
	t.Parallel()
	for s := range scheme.All() {
		secret := map[string]string{"hexDecoded": "00ff10abcd", "base64Decoded": "AP8Qq80="}[secretOf(s)]
		if secret == "" {
			secret = "whsec-1"
		}
		header, err := signature.Sign(s, secret, signedAt, []byte(body))
		require.NoError(t, err, s)
		for _, sent := range []string{header, "v0=1, " + header, "v1=other," + header} {
			found, ok := scheme.Find(sent, []byte(body), secret)
			require.True(t, ok, s)
			assert.Equal(t, s, found)
		}
		verifier, err := signature.NewVerifier(s, []string{secret}, signature.WithClock(func() time.Time { return signedAt }))
		require.NoError(t, err)
		require.NoError(t, verifier.Verify([]string{header}, []byte(body)))
		named, err := scheme.Parse(s.String())
		require.NoError(t, err)
		assert.Equal(t, s, named)
	}
}

func secretOf(s scheme.HMAC) string {
	for _, name := range []string{"hexDecoded", "base64Decoded"} {
		if strings.Contains(s.String(), name) {
			return name
		}
	}
	return ""
}

func mustParse(name string) scheme.HMAC {
	s, err := scheme.Parse(name)
	if err != nil {
		panic(err)
	}
	return s
}

// The scheme that package webhooks assumes is one of them.
func TestAssumed(t *testing.T) {
	t.Parallel()
	for name, assumed := range map[string]signature.AssumedHMAC{"sha256 t.body text hex": {}, "sha256 t.body text base64": {Base64: true}} {
		header, err := signature.Sign(assumed, "whsec", signedAt, []byte(body))
		require.NoError(t, err)
		found, ok := scheme.Find(header, []byte(body), "whsec")
		require.True(t, ok)
		assert.Equal(t, name, found.String())
	}
}

// None fits what is signed in a way that is not listed, with another secret, or not at all.
func TestNoneFits(t *testing.T) {
	t.Parallel()
	md := hmac.New(md5.New, []byte("whsec"))
	md.Write([]byte("1707312770123." + body))
	doubled := hmac.New(sha256.New, []byte("whsec"))
	doubled.Write([]byte(body + body))
	good, err := signature.Sign(signature.AssumedHMAC{}, "another", signedAt, []byte(body))
	require.NoError(t, err)
	for _, header := range []string{
		"t=1707312770123,v1=" + hex.EncodeToString(md.Sum(nil)), "t=1707312770123,v1=" + hex.EncodeToString(doubled.Sum(nil)),
		good, "", "t=1707312770123", "v1=", "t=1707312770123,v1=",
	} {
		_, ok := scheme.Find(header, []byte(body), "whsec")
		assert.False(t, ok, header)
	}
	_, err = scheme.Parse("rot13")
	require.Error(t, err)
	_, err = scheme.HMAC{}.Key("whsec")
	require.Error(t, err)
	_, err = mustParse("sha256 t.body hexDecoded hex").Key("whsec-no-hex")
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "whsec-no-hex")
}
