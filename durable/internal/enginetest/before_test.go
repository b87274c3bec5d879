package enginetest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// before is the commit of the version before. Until there is a release it is the first one whose
// programs go on to work beside later tables.
const before = "b5ab0f3c9ac3b5eb2c594a24407bbf8624281cfb"

// TestVersionBefore: during a deploy processes of the version before and of this one work on one database
// with the tables of this one. It builds the one before from its commit: .ci/long sets the variable.
func TestVersionBefore(t *testing.T) {
	if os.Getenv("DURABLE_BEFORE") == "" {
		t.Skip("DURABLE_BEFORE is not set")
	}
	older := versionBefore(t)
	addresses := map[string]string{"SQLite": ""}
	if os.Getenv(postgresVariable) != "" {
		addresses["PostgreSQL"] = emptyDatabase(t)
	}
	for name, address := range addresses {
		t.Run(name, func(t *testing.T) {
			v := newVillage(t, worlds.World{}, address, 1, 60)
			require.NoError(t, v.box.Inject(worlds.RandomFaults(0.05)...))
			programs := []string{"", older}
			if address == "" { // a file is for one process: this one follows when all is judged
				programs = []string{older}
			}
			var working []*process
			for _, program := range programs {
				v.program = program
				working = append(working, v.start())
				working[len(working)-1].ready()
			}
			for range 6 {
				<-time.After(100 * time.Millisecond)
				v.step(time.Duration(v.dice.IntN(70)) * time.Second)
			}
			for _, p := range working {
				p.stop()
			}
			v.program = ""
			v.judged(1)
		})
	}
}

// versionBefore builds the program of the version before.
func versionBefore(t *testing.T) string {
	t.Helper()
	source := t.TempDir()
	var said bytes.Buffer
	archive := exec.CommandContext(t.Context(), "git", "-C", filepath.Join("..", "..", ".."), "archive", before)
	archive.Stderr = &said
	text, err := archive.Output()
	require.NoError(t, err, "the clone lacks the history that this test builds the version before from: %s", said.String())
	unpack := exec.CommandContext(t.Context(), "tar", "-x", "-C", source)
	unpack.Stdin = bytes.NewReader(text)
	require.NoError(t, unpack.Run())
	program := filepath.Join(t.TempDir(), "before")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", program, ".")
	build.Dir = filepath.Join(source, "durable", "internal", "enginetest")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}
