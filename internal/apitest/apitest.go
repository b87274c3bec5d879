// Package apitest compares what a module exports with the lists in a directory api, one for each
// public package, so that a diff shows every change of the API.
package apitest

import (
	"go/importer"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Compare compares the module of the working directory with the lists in its directory api. If
// UPDATE_API is set, it first writes the lists again.
func Compare(t *testing.T) {
	t.Helper()
	lists := public(t)
	if os.Getenv("UPDATE_API") != "" {
		must(t, os.RemoveAll("api"))
		must(t, os.Mkdir("api", 0o750))
		for file, lines := range lists {
			must(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
		}
	}
	written, err := filepath.Glob("api/*")
	must(t, err)
	if !slices.Equal(slices.Sorted(maps.Keys(lists)), written) {
		t.Errorf("the lists are %v", written)
	}
	for file, lines := range lists {
		if text, err := os.ReadFile(file); err != nil || string(text) != strings.Join(lines, "\n")+"\n" { //nolint:gosec // a list of this folder
			t.Errorf("%s is not what is exported: run %s with UPDATE_API=1 in the environment, and look at the difference", file, t.Name())
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// public returns the lists of the module's public packages by their files.
func public(t *testing.T) map[string][]string {
	t.Helper()
	mod, err := exec.CommandContext(t.Context(), "go", "env", "GOMOD").Output()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-export", "-f", "{{.ImportPath}}\t{{.Export}}\t{{if not .DepOnly}}{{.Name}}\t{{.Module.Path}}{{end}}", "./...")
	cmd.Dir, cmd.Stderr = filepath.Dir(strings.TrimSpace(string(mod))), os.Stderr
	out, err := cmd.Output()
	must(t, err)
	compiled, files := map[string]string{}, map[string]string{} // by import path
	for line := range strings.Lines(string(out)) {
		p := strings.Split(strings.TrimSpace(line), "\t")
		if len(p) < 2 || p[1] == "" {
			continue // it has no code, or only tests
		}
		compiled[p[0]] = p[1]
		if len(p) == 4 && p[2] != "main" && !strings.Contains(p[0], "/internal/") {
			files[p[0]] = "api/" + strings.ReplaceAll(strings.TrimPrefix(p[0], path.Dir(p[3])+"/"), "/", "-") + ".txt"
		}
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) })
	lists := map[string][]string{}
	for path, file := range files {
		pkg, err := from.Import(path)
		must(t, err)
		lists[file] = exported(pkg)
	}
	return lists
}
