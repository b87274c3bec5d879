//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The image is built and run without Docker: the build command of the Dockerfile with the files
// that .dockerignore lets through, and then the entry point in a root directory that holds
// nothing else, as the user of the image. An empty root needs the superuser; for others the
// command runs in the root of the machine. It compiles Go's library once more, so it is .ci/run's.
func TestDockerfile(t *testing.T) {
	if os.Getenv("QUICKSTREAM_SKIP") == "" {
		t.Skip("needs minutes to compile: .ci/run runs it")
	}
	text, err := os.ReadFile("../../Dockerfile")
	require.NoError(t, err)
	instruction := func(name string) string {
		found := regexp.MustCompile(`(?m)^`+name+` (.*)$`).FindAllStringSubmatch(string(text), -1)
		require.NotEmpty(t, found, name)
		return found[len(found)-1][1]
	}
	assert.Equal(t, "scratch", instruction("FROM"))
	assert.Equal(t, "--from=build /quickstream-sandbox /quickstream-sandbox", instruction("COPY"))

	source, image := t.TempDir(), t.TempDir()
	copyContext(t, "../..", source)
	inImage := strings.NewReplacer("-o /quickstream-sandbox ", "-o "+image+"/quickstream-sandbox ")
	build := exec.CommandContext(t.Context(), "sh", "-c", inImage.Replace(instruction("RUN")))
	build.Dir = source
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off") // it needs no other module
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))

	var argv []string
	require.NoError(t, json.Unmarshal([]byte(instruction("ENTRYPOINT")), &argv))
	require.NoError(t, os.Chmod(image, 0o755))
	require.NoError(t, os.Chmod(filepath.Dir(image), 0o755))
	assert.Equal(t, "65534:65534", instruction("USER"))
	const user = 65534
	run := exec.CommandContext(t.Context(), argv[0], append(argv[1:], "-addr", "127.0.0.1:0", "-token", "a-token-of-the-test", "-world", "plain")...)
	run.Path, run.Err, run.Env, run.Dir = argv[0], nil, []string{}, "/"
	if os.Geteuid() == 0 {
		run.SysProcAttr = &syscall.SysProcAttr{Chroot: image, Credential: &syscall.Credential{Uid: user, Gid: user}}
	} else {
		t.Log("not the superuser: no empty root")
		run.Path, run.Dir = filepath.Join(image, argv[0]), image
	}
	var logged bytes.Buffer
	run.Stderr = &logged
	stdout, err := run.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, run.Start())
	sh := newShell(t, readLines(t, stdout, 9))
	sh.run(`curl -u "$SANDBOX_TOKEN:" -X POST $SANDBOX/trigger/payto.payment.approved`)
	require.NoError(t, run.Process.Signal(syscall.SIGTERM))
	require.NoError(t, run.Wait(), "it ends in order when the container is stopped")
	assert.Contains(t, logged.String(), `msg=request call="POST /transactions" status=201`)
}

// copyContext copies what .dockerignore lets through, which is what it names after a "!".
func copyContext(t *testing.T, from, to string) {
	rules, err := os.ReadFile(filepath.Join(from, ".dockerignore"))
	require.NoError(t, err)
	lines := regexp.MustCompile(`(?m)^[^#\s].*$`).FindAllString(string(rules), -1)
	require.Equal(t, "*", lines[0])
	require.Equal(t, "**/*_test.go", lines[len(lines)-1])
	for _, line := range lines[1 : len(lines)-1] {
		kept, found := strings.CutPrefix(line, "!")
		require.True(t, found, "a rule that is not known here: %s", line)
		info, err := os.Stat(filepath.Join(from, kept))
		require.NoError(t, err)
		if info.IsDir() {
			require.NoError(t, os.CopyFS(filepath.Join(to, kept), os.DirFS(filepath.Join(from, kept))))
			continue
		}
		content, err := os.ReadFile(filepath.Join(from, kept))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, kept), content, 0o600))
	}
}
