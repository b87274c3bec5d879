package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shell runs what the help prints, as a person does who pastes it.
type shell struct {
	t    *testing.T
	vars map[string]string
	stop func() (logged string)
}

func newShell(t *testing.T, exports string) *shell {
	s := &shell{t: t, vars: map[string]string{}}
	for line := range strings.Lines(exports) {
		if name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "="); ok && !strings.HasPrefix(line, "#") {
			s.vars[name] = value
		}
	}
	return s
}

// run returns what a script prints. A refused request ends the script.
func (s *shell) run(script string) string {
	s.t.Helper()
	for _, program := range []string{"sh", "curl", "openssl"} {
		if _, err := exec.LookPath(program); err != nil {
			needs(s.t, program)
		}
	}
	c := exec.CommandContext(s.t.Context(), "sh", "-e", "-c", `curl() { command curl -sS --noproxy '*' --fail-with-body "$@"; }`+"\n"+script)
	c.Env = os.Environ()
	for name, value := range s.vars {
		c.Env = append(c.Env, name+"="+value)
	}
	var errors strings.Builder
	c.Stderr = &errors
	out, err := c.Output()
	require.NoError(s.t, err, "%s\n%s\n%s", script, out, errors.String())
	return string(out)
}

// needs skips a test, and says what it needs. Where QUICKSTREAM_SKIP is set, as in .ci/run, it fails, unless
// that is how what it needs begins.
func needs(t *testing.T, what string) {
	t.Helper()
	if skip, set := os.LookupEnv("QUICKSTREAM_SKIP"); set {
		require.True(t, strings.HasPrefix(what, skip), "needs "+what)
	}
	t.Skip("needs " + what)
}
