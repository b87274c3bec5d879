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
	keys := map[string]string{"QUICKSTREAM_ENVIRONMENT": "http://127.0.0.1:9", "QUICKSTREAM_SECRET_KEY": "s"}
	args := []string{"-facility", filepath.Join(t.TempDir(), "facility.json")}
	require.ErrorContains(t, run(t.Context(), args, strings.NewReader(""), &out, env(keys)), "not confirmed")
	for _, name := range []string{"KeyLifetime", "LookupLag", "CutOffHour", "Metadata"} {
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
		err := run(t.Context(), append([]string{"-facility", filepath.Join(dir, "f")}, args...), strings.NewReader(""), io.Discard, env(keys))
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "secret-key")
	}
	assert.True(t, errors.Is(run(t.Context(), []string{"-help"}, nil, io.Discard, env(nil)), flag.ErrHelp))
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
	facility := filepath.Join(dir, "f")
	require.NoError(t, run(t.Context(), []string{"-clean", "-business", sandbox.DefaultBusiness, "-facility", facility}, nil, &out, env(values)))
	assert.Contains(t, out.String(), "nothing is left")
	raw, err := os.ReadFile(facility + ".journal")
	require.NoError(t, err)
	assert.True(t, json.Valid(raw))
	assert.NotContains(t, string(raw), box.Keys().Secret)
}
