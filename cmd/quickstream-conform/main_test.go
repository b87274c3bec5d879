package main

import (
	"encoding/json"
	"errors"
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

func env(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestPlan(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-plan"}, nil, &out, env(nil)))
	for _, name := range []string{"KeyLifetime", "LookupLag", "CutOffHour", "Metadata", "SignatureHeader"} {
		assert.Contains(t, out.String(), name)
	}
	assert.Contains(t, out.String(), "at most 300 requests")
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	keys := map[string]string{"QUICKSTREAM_ENVIRONMENT": "ProductionAU", "QUICKSTREAM_SECRET_KEY": "secret-key"}
	for want, args := range map[string][]string{
		"only TestAU": {"-yes"}, "unexpected argument": {"-yes", "x"}, "invalid value": {"-wait", "soon"},
	} {
		dir := t.TempDir()
		err := run(t.Context(), append([]string{"-journal", filepath.Join(dir, "j"), "-facility", filepath.Join(dir, "f"), "-report", filepath.Join(dir, "r")}, args...), strings.NewReader(""), io.Discard, env(keys))
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "secret-key")
	}
	assert.True(t, errors.Is(run(t.Context(), []string{"-help"}, nil, io.Discard, env(nil)), flag.ErrHelp))
}

// What an earlier run has left is named before anything is sent.
func TestNamesWhatIsLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	journal := filepath.Join(dir, "journal")
	require.NoError(t, os.WriteFile(journal, []byte(`{"format":3,"run":"R","host":"127.0.0.1:9","made":[{"kind":"payment"}]}`), 0o600))
	keys := map[string]string{"QUICKSTREAM_ENVIRONMENT": "http://127.0.0.1:9", "QUICKSTREAM_SECRET_KEY": "s"}
	var out strings.Builder
	err := run(t.Context(), []string{"-journal", journal}, strings.NewReader(""), &out, env(keys))
	require.ErrorContains(t, err, "not confirmed")
	assert.Contains(t, out.String(), "payment with paymentReferenceNumber ")
}

// A file without a journal of things is undone at once, over a real connection.
func TestCleanNothing(t *testing.T) {
	t.Parallel()
	box := sandbox.New()
	t.Cleanup(box.Close)
	address, err := box.Listen("127.0.0.1:0")
	require.NoError(t, err)
	dir := t.TempDir()
	values := map[string]string{
		"QUICKSTREAM_ENVIRONMENT": address, "QUICKSTREAM_SECRET_KEY": box.Keys().Secret,
	}
	var out strings.Builder
	journal := filepath.Join(dir, "journal")
	require.NoError(t, run(t.Context(), []string{"-clean", "-business", sandbox.DefaultBusiness, "-journal", journal}, nil, &out, env(values)))
	assert.Contains(t, out.String(), "nothing is left")
	raw, err := os.ReadFile(journal)
	require.NoError(t, err)
	assert.True(t, json.Valid(raw))
	assert.NotContains(t, string(raw), box.Keys().Secret)
}
