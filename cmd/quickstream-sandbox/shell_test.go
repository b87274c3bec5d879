package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/internal/needs"
)

// shell runs what the help prints, as a person does who pastes it.
type shell struct {
	t    *testing.T
	vars map[string]string
	stop func() (logged string)
}

// run returns what a script prints. A refused request ends the script.
func (s *shell) run(script string) string {
	s.t.Helper()
	for _, program := range []string{"sh", "curl", "openssl"} {
		if _, err := exec.LookPath(program); err != nil {
			needs.Skip(s.t, program)
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

// The quick starts run as they stand, with what a language brings, and are short.
func TestQuickStarts(t *testing.T) {
	for name, program := range map[string]struct{ command, file, order string }{
		"Python": {"python3", "quickstart/quickstart.py", "PYTHON-1"},
		"Node":   {"node", "quickstart/quickstart.mjs", "NODE-1"},
		"PHP":    {"php", "quickstart/quickstart.php", "PHP-1"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(program.file)
			require.NoError(t, err)
			assert.Less(t, strings.Count(string(text), "\n"), 60)
			if _, err := exec.LookPath(program.command); err != nil {
				needs.Skip(t, name)
			}
			token := strings.Repeat("t", 20)
			sh := serving(t, "-token", token)
			sh.vars["SANDBOX_TOKEN"] = token
			assert.Regexp(t, `^payment Approved [0-9]{10}\nrefund Approved\nwebhook payto\.agreement\.confirmed verified\n$`, sh.run(program.command+" "+program.file))
			var ledger struct{ Charged, Net int }
			require.NoError(t, json.Unmarshal([]byte(sh.run(`curl -u "$SANDBOX_TOKEN:" "$SANDBOX/ledger?order=`+program.order+`"`)), &ledger))
			assert.Equal(t, []int{1, 1050 - 400}, []int{ledger.Charged, ledger.Net})
			assert.Contains(t, sh.run(`curl -u "$SANDBOX_TOKEN:" $SANDBOX/deliveries`), `"state": "done"`)
		})
	}
}
