package signature_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// A stranger sends headers of every wrong form, and signatures of another message: none of them
// verifies, and none affects the next.
func TestAttack45SignatureHeader(t *testing.T) {
	t.Parallel()
	const genuine = "t=" + stamp + ",v1=" + hexCurrent
	wrong := strings.Repeat("0", len(hexCurrent))
	flipped := "d" + hexCurrent[1:] // c and d differ in one bit

	tests := []struct {
		name   string
		header []string
		body   string
		want   error
	}{
		{"hex", []string{genuine}, body, nil},
		{"upper case hex", []string{"t=" + stamp + ",v1=" + strings.ToUpper(hexCurrent)}, body, nil},
		{"base64", []string{"t=" + stamp + ",v1=" + base64Current}, body, nil},
		{"previous secret", []string{"t=" + stamp + ",v1=" + hexPrevious}, body, nil},
		{"unknown v0", []string{"t=" + stamp + ",v0=" + wrong + ",v1=" + hexCurrent}, body, nil},
		{"right one among five", []string{"t=" + stamp + strings.Repeat(",v1="+wrong, 4) + ",v1=" + hexCurrent}, body, nil},
		{"empty body", []string{"t=" + stamp + ",v1=" + hexEmptyBody}, "", nil},

		{"no header", nil, body, signature.ErrMissing},
		{"empty header", []string{""}, body, signature.ErrMissing},

		{"sent twice", []string{genuine, genuine}, body, signature.ErrMalformed},
		{"sent twice, joined by a proxy", []string{genuine + ", " + genuine}, body, signature.ErrMalformed},
		{"no t", []string{"v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"no v1", []string{"t=" + stamp}, body, signature.ErrMalformed},
		{"two t", []string{"t=" + stamp + ",t=" + stamp + ",v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"empty v1", []string{"t=" + stamp + ",v1="}, body, signature.ErrMalformed},
		{"t in seconds", []string{"t=1707312770,v1=" + hexSeconds}, body, signature.ErrMalformed},
		{"t beyond int64", []string{"t=9223372036854775808,v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"float t", []string{"t=" + stamp + ".0,v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"other digits", []string{"t=١٧٠٧٣١٢٧٧٠١٢٣,v1=" + hexCurrent}, body, signature.ErrMalformed},
		{"space after comma", []string{"t=" + stamp + ", v1=" + hexCurrent}, body, nil},
		{"space inside v1", []string{"t=" + stamp + ",v1=" + hexCurrent[:32] + " " + hexCurrent[32:]}, body, signature.ErrMalformed},
		{"space in front", []string{" " + genuine}, body, nil},
		{"NUL", []string{genuine + "\x00"}, body, signature.ErrMalformed},
		{"trailing comma", []string{genuine + ","}, body, nil},
		{"upper case names", []string{"T=" + stamp + ",V1=" + hexCurrent}, body, signature.ErrMalformed},
		{"six v1", []string{genuine + strings.Repeat(",v1="+wrong, 5)}, body, signature.ErrMalformed},
		{"10,000 v1", []string{"t=" + stamp + strings.Repeat(",v1="+hexCurrent, 10_000)}, body, signature.ErrMalformed},

		{"bit flip", []string{"t=" + stamp + ",v1=" + flipped}, body, signature.ErrMismatch},
		{"truncated", []string{"t=" + stamp + ",v1=" + hexCurrent[:62]}, body, signature.ErrMismatch},
		{"extended", []string{"t=" + stamp + ",v1=" + hexCurrent + "00"}, body, signature.ErrMismatch},
		{"neither hex nor base64", []string{"t=" + stamp + ",v1=" + strings.Repeat("g", 64)}, body, signature.ErrMismatch},
		{"base64 with stray bits", []string{"t=" + stamp + ",v1=" + strings.Replace(base64Current, "hg=", "hh=", 1)}, body, signature.ErrMismatch},
		{"right signature under v0", []string{"t=" + stamp + ",v0=" + hexCurrent + ",v1=" + wrong}, body, signature.ErrMismatch},
		{"signature of another time", []string{"t=1707312770124,v1=" + hexCurrent}, body, signature.ErrMismatch},
		{"body changed", []string{genuine}, `{"id":"8e3d"}`, signature.ErrMismatch},
		{"body gone", []string{genuine}, "", signature.ErrMismatch},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			v := newVerifier(t)
			var form error // which needs no body
			if errors.Is(test.want, signature.ErrMissing) || errors.Is(test.want, signature.ErrMalformed) {
				form = test.want
			}
			assert.ErrorIs(t, signature.CheckHeader(test.header), form, "the form alone")
			// A second time too, so that nothing of the first stays behind.
			for range 2 {
				require.ErrorIs(t, v.Verify(test.header, []byte(test.body)), test.want)
			}
			require.NoError(t, v.Verify([]string{genuine}, []byte(body)), "a genuine notification afterwards")
		})
	}
}

// A secret that was never configured is empty, and anyone can sign with it: no verifier accepts it.
func TestAttack45EmptySecret(t *testing.T) {
	t.Parallel()
	mac := hmac.New(sha256.New, make([]byte, 14)) // the same as no key
	mac.Write([]byte(stamp + "." + body))
	forged := []string{"t=" + stamp + ",v1=" + hex.EncodeToString(mac.Sum(nil))}
	for _, secrets := range [][]string{nil, {""}, {current, ""}, {"\n"}} {
		if v, err := signature.NewVerifier(signature.AssumedHMAC{}, secrets); v != nil || err == nil {
			t.Errorf("a verifier was made of %q", secrets)
		}
	}
	assert.ErrorIs(t, newVerifier(t).Verify(forged, []byte(body)), signature.ErrMismatch)
}

// A recorded notification is sent again later, or was signed by a clock that is ahead so that it
// would be valid for years: both edges of the window hold.
func TestAttack47TimeOfSigning(t *testing.T) {
	t.Parallel()
	header := []string{"t=" + stamp + ",v1=" + hexCurrent}
	tests := []struct {
		name      string
		tolerance time.Duration // 0: the default
		now       time.Time
		want      error
	}{
		{"same moment", 0, signedAt, nil},
		{"default, exactly at the edge", 0, signedAt.Add(5 * time.Minute), nil},
		{"default, just past the edge", 0, signedAt.Add(5*time.Minute + 1), signature.ErrTooOld},
		{"default, exactly at the far edge", 0, signedAt.Add(-5 * time.Minute), nil},
		{"default, just before the far edge", 0, signedAt.Add(-5*time.Minute - 1), signature.ErrTooNew},
		{"set, exactly at the edge", time.Second, signedAt.Add(time.Second), nil},
		{"set, just past the edge", time.Second, signedAt.Add(time.Second + 1), signature.ErrTooOld},
		{"set, exactly at the far edge", time.Second, signedAt.Add(-5 * time.Minute), nil},
		{"set, just before the far edge", 7 * 24 * time.Hour, signedAt.Add(-5*time.Minute - 1), signature.ErrTooNew},
		{"clock at its zero", 0, time.Time{}, signature.ErrTooNew},
		{"clock far ahead", 0, signedAt.AddDate(5000, 0, 0), signature.ErrTooOld},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			v := newVerifier(t, clock(test.now))
			err := v.Verify(header, []byte(body))
			if test.tolerance != 0 {
				_, err = v.VerifyWithin(test.tolerance, header, []byte(body))
			}
			require.ErrorIs(t, err, test.want)
		})
	}
}
