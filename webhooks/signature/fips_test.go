package signature_test

import (
	"crypto/fips140"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// TestShortSecretUnderFIPS runs itself again under GODEBUG=fips140=only, where crypto/hmac panics on
// a short key.
func TestShortSecretUnderFIPS(t *testing.T) {
	t.Parallel()
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{"13 characters"})
	if fips140.Enforced() {
		require.EqualError(t, err, "webhook verifier: secret 1 of 1: secret is shorter than the 14 bytes that GODEBUG=fips140=only requires")
		assert.Nil(t, verifier)
		_, err = signature.NewVerifier(signature.AssumedHMAC{}, []string{"fourteen chars"})
		require.NoError(t, err)
		return
	}
	require.NoError(t, err)
	program, err := os.Executable()
	require.NoError(t, err)
	again := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), "GODEBUG=fips140=only")
	output, err := again.CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.Contains(t, string(output), "--- PASS: "+t.Name())
}
