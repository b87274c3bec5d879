package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// verdict is what became of a mutant.
type verdict string

const (
	killed   verdict = "killed"
	survived verdict = "survived"
	invalid  verdict = "does not compile"
)

// runner tests mutants of one repository. Nothing is copied: the compiler is
// told to read one file from elsewhere.
type runner struct {
	root    string // of the repository
	module  string // directory in which go test runs
	pkg     string // of the tests, below module
	scratch string
	limit   time.Duration // of one run of the tests
	cache   *cache
}

// quickly are flags that make compiling faster and what is compiled smaller; the
// tests take no longer for it.
func quickly() []string {
	return []string{"-vet=off", "-ldflags=-s -w", "-gcflags=github.com/quickstream-go/...=-N -l -dwarf=false"}
}

// try tests one file in place of another; without a mutant it tests what is
// there. The output is that of the compiler or of the tests.
func (r runner) try(ctx context.Context, m *mutant) (v verdict, output string, err error) {
	dir, err := os.MkdirTemp(r.scratch, "")
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	if m != nil {
		text, err := m.source(r.root)
		if err != nil {
			return "", "", err
		}
		changed := filepath.Join(dir, filepath.Base(m.file))
		if err := os.WriteFile(changed, text, 0o600); err != nil {
			return "", "", err
		}
		overlay.Replace[filepath.Join(r.root, m.file)] = changed
	}
	encoded, err := json.Marshal(overlay)
	if err != nil {
		return "", "", err
	}
	list, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "tests")
	if err := os.WriteFile(list, encoded, 0o600); err != nil {
		return "", "", err
	}
	arguments := slices.Concat([]string{"test", "-c"}, quickly(), []string{"-overlay", list, "-o", binary, r.pkg})
	//nolint:gosec // the go command, told what this program was
	build := exec.CommandContext(ctx, "go", arguments...)
	build.Dir, build.Env = r.module, r.cache.environ()
	r.cache.building.RLock()
	output, failed, err := run(build)
	r.cache.building.RUnlock()
	if err != nil || failed {
		return invalid, strings.ReplaceAll(output, dir+string(filepath.Separator), ""), err
	}
	//nolint:gosec // what was just built
	tests := exec.CommandContext(ctx, binary, "-test.failfast", fmt.Sprint("-test.timeout=", r.limit))
	tests.Dir = filepath.Join(r.module, r.pkg)
	if output, failed, err = run(tests); failed {
		return killed, output, err
	}
	return survived, output, err
}

// run reports a command that ran and failed apart from one that did not run.
func run(c *exec.Cmd) (output string, failed bool, err error) {
	raw, err := c.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); ran {
		return string(raw), true, nil
	}
	return string(raw), false, err
}
