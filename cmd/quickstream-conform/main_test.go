package main

import (
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

func env(t *testing.T, address, secret string) {
	t.Helper()
	t.Setenv("QUICKSTREAM_ENVIRONMENT", address)
	t.Setenv("QUICKSTREAM_SECRET_KEY", secret)
	t.Setenv("QUICKSTREAM_WEBHOOK_SECRET", "")
}

// Nothing is asked before a person has read the plan.
func TestPlan(t *testing.T) {
	env(t, "http://127.0.0.1:9", "secret-key")
	var out strings.Builder
	require.ErrorContains(t, run(t.Context(), []string{"-facility", filepath.Join(t.TempDir(), "f")}, strings.NewReader(""), &out), "not confirmed")
	for _, name := range []string{"KeyLifetime", "LookupLag", "CutOffHour", "Metadata", "at most 300 requests"} {
		assert.Contains(t, out.String(), name)
	}
}

func TestRefuses(t *testing.T) {
	env(t, "ProductionAU", "secret-key")
	for want, args := range map[string][]string{
		"only TestAU": {"-yes"}, "unexpected argument": {"-yes", "x"}, "invalid value": {"-wait", "soon"}, "QUICKSTREAM_WEBHOOK_SECRET": {"-yes", "-listen", "127.0.0.1:0"},
	} {
		err := run(t.Context(), append([]string{"-facility", filepath.Join(t.TempDir(), "f")}, args...), nil, io.Discard)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "secret-key")
	}
	assert.ErrorIs(t, run(t.Context(), []string{"-help"}, nil, io.Discard), flag.ErrHelp)
}

// A file without a journal of things is undone at once, over a real connection.
func TestCleanNothing(t *testing.T) {
	box := sandbox.New()
	t.Cleanup(box.Close)
	address, err := box.Listen("127.0.0.1:0")
	require.NoError(t, err)
	env(t, address, box.Keys().Secret)
	var out strings.Builder
	facility := filepath.Join(t.TempDir(), "f")
	require.NoError(t, run(t.Context(), []string{"-clean", "-business", sandbox.DefaultBusiness, "-facility", facility}, nil, &out))
	assert.Contains(t, out.String(), "nothing is left")
	raw, err := os.ReadFile(facility + ".journal")
	require.NoError(t, err)
	assert.True(t, json.Valid(raw))
	assert.NotContains(t, string(raw), box.Keys().Secret)
}
