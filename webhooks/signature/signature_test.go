package signature_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

func TestSign(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		scheme signature.Scheme
		want   string
	}{
		{"hex", signature.AssumedHMAC{}, "t=" + stamp + ",v1=" + hexCurrent},
		{"base64", signature.AssumedHMAC{Base64: true}, "t=" + stamp + ",v1=" + base64Current},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			// The zone and what is below a millisecond do not matter.
			at := signedAt.Add(999 * time.Microsecond).In(time.FixedZone("", 11*3600))
			got, err := signature.Sign(test.scheme, current, at, []byte(body))
			if err != nil || got != test.want {
				t.Fatalf("got %q, %v, want %q", got, err, test.want)
			}
			// A verifier takes both encodings, whichever of them its own scheme writes.
			for _, receiver := range []signature.AssumedHMAC{{}, {Base64: true}} {
				v, err := signature.NewVerifier(receiver, []string{current}, clock(signedAt))
				require.NoError(t, err)
				assert.NoError(t, v.Verify([]string{got}, []byte(body)), "received by %+v", receiver)
			}
		})
	}
}
