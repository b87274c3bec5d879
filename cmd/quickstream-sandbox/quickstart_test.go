//go:build !windows

// The python3 of Windows may be a stub that opens a shop.

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The quick starts run as they stand, with what a language brings, and are short.
func TestQuickStarts(t *testing.T) {
	for name, program := range map[string]struct{ command, file, order string }{
		"Python": {"python3", "quickstart/quickstart.py", "PYTHON-1"},
		"Node":   {"node", "quickstart/quickstart.mjs", "NODE-1"},
		"PHP":    {"php", "quickstart/quickstart.php", "PHP-1"},
	} {
		text, err := os.ReadFile(program.file)
		require.NoError(t, err)
		assert.Less(t, strings.Count(string(text), "\n"), 60, program.file)
		path, err := exec.LookPath(program.command)
		if err != nil {
			t.Run(name, func(t *testing.T) { needs(t, name) })
			continue
		}
		t.Run(name, func(t *testing.T) {
			token := strings.Repeat("t", 20)
			sh := serving(t, "-token", token)
			sh.vars["SANDBOX_TOKEN"] = token
			run := exec.CommandContext(t.Context(), path, program.file)
			run.Env = os.Environ()
			for variable, value := range sh.vars {
				run.Env = append(run.Env, variable+"="+value)
			}
			out, err := run.CombinedOutput()
			require.NoError(t, err, string(out))
			assert.Regexp(t, `^payment Approved [0-9]{10}\nrefund Approved\nwebhook payto\.agreement\.confirmed verified\n$`, string(out))
			var ledger struct{ Charged, Net int }
			require.NoError(t, json.Unmarshal([]byte(sh.run(`curl -u "$SANDBOX_TOKEN:" "$SANDBOX/ledger?order=`+program.order+`"`)), &ledger))
			assert.Equal(t, []int{1, 1050 - 400}, []int{ledger.Charged, ledger.Net})
			assert.Contains(t, sh.run(`curl -u "$SANDBOX_TOKEN:" $SANDBOX/deliveries`), `"state": "done"`)
		})
	}
}
