// Package importer proves that the modules of this repository can be got and used
// by a program elsewhere, as they will be once they are tagged.
package importer

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const (
	core = "github.com/quickstream-go/quickstream"
	root = "../.."
)

// TestImporter packs the public modules into a proxy of files, without what only
// works in this repository, and lets a program outside of it use them.
func TestImporter(t *testing.T) {
	version := nextVersion(t)
	lists, err := filepath.Glob(filepath.Join(root, "*", "api")) // of what the module exports
	require.NoError(t, err)
	proxy, shop := t.TempDir(), t.TempDir()
	var nested []string
	var sums []byte
	for _, list := range append(lists, filepath.Join(root, "api")) {
		dir := filepath.Dir(list)
		m := pack(t, proxy, dir, version)
		if m.Path != core {
			nested = append(nested, m.Path)
		}
		sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
		require.NoError(t, err)
		sums = append(sums, sum...)
	}
	// The hashes of all others come from this repository.
	require.NoError(t, os.WriteFile(filepath.Join(shop, "go.sum"), sums, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(shop, "go.mod"), []byte("module example.com/shop\n\ngo 1.26\n"), 0o600))
	program, err := os.ReadFile("testdata/shop/main.go")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(shop, "main.go"), program, 0o600))

	run := goCommand(t, proxy, shop)
	run("get", core+"@"+version)
	assert.Equal(t, "49.95 AUD Approved quickstream-go/"+version+"\n", run("run", "."))
	for _, path := range nested {
		run("get", path+"/...@"+version)
		run("build", path+"/...")
	}
}

// goCommand returns how the shop runs the go command: with modules from the proxy,
// from what this machine has got before, and then from where it gets others.
func goCommand(t *testing.T, proxy, shop string) func(args ...string) string {
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	cache, others, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	env := append(
		os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod -modcacherw", "GOMODCACHE="+t.TempDir(), "GONOSUMDB="+core+","+core+"/*",
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(cache)+"/cache/download,"+others,
	)
	return func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = shop, env
		var problems bytes.Buffer
		cmd.Stderr = &problems
		out, err := cmd.Output()
		require.NoError(t, err, "go %s: %s", strings.Join(args, " "), &problems)
		return string(out)
	}
}

// nextVersion is the version of the core that every other module requires.
func nextVersion(t *testing.T) string {
	t.Helper()
	versions := map[string][]string{}
	require.NoError(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "go.mod" {
			return skipHidden(entry, err)
		}
		for _, r := range goMod(t, filepath.Dir(file)).Require {
			if r.Mod.Path == core {
				versions[r.Mod.Version] = append(versions[r.Mod.Version], file)
			}
		}
		return nil
	}))
	require.Len(t, versions, 1, "all nested modules require the same version of the core")
	for version := range versions {
		require.NotEqual(t, "v0.0.0", version)
		return version
	}
	return ""
}

// skipHidden skips directories of tools, which are no part of any module.
func skipHidden(entry fs.DirEntry, err error) error {
	if name := entry.Name(); err == nil && entry.IsDir() && strings.HasPrefix(name, ".") && name != ".." {
		return fs.SkipDir
	}
	return err
}

func goMod(t *testing.T, dir string) *modfile.File {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	file, err := modfile.Parse(dir, text, nil)
	require.NoError(t, err)
	return file
}

// pack puts the module in dir into the proxy, without replacements by directories.
func pack(t *testing.T, proxy, dir, version string) module.Version {
	t.Helper()
	mod := goMod(t, dir)
	for _, r := range mod.Replace {
		require.Empty(t, r.New.Version, "%s replaces %s, which its users would not", dir, r.Old.Path)
		require.NoError(t, mod.DropReplace(r.Old.Path, r.Old.Version))
	}
	mod.Cleanup()
	text, err := mod.Format()
	require.NoError(t, err)
	m := module.Version{Path: mod.Module.Mod.Path, Version: version}
	var archive bytes.Buffer
	require.NoError(t, zip.Create(&archive, m, sources(t, dir, text)))

	to := filepath.Join(proxy, m.Path, "@v")
	require.NoError(t, os.MkdirAll(to, 0o750))
	for name, content := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": []byte(`{"Version":"` + version + `"}`), version + ".mod": text, version + ".zip": archive.Bytes(),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(to, name), content, 0o600))
	}
	return m
}

// sources are the files of a module, of which zip.Create leaves nested modules out.
func sources(t *testing.T, dir string, mod []byte) []zip.File {
	t.Helper()
	var files []zip.File
	require.NoError(t, filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return skipHidden(entry, err)
		}
		within, err := filepath.Rel(dir, file)
		s := source{path: filepath.ToSlash(within), file: file}
		if s.path == "go.mod" {
			s.content = mod
		}
		files = append(files, s)
		return err
	}))
	return files
}

// source is a file of a module. Its content may be shorter than the file's.
type source struct {
	path, file string
	content    []byte // in place of the file's
}

func (s source) Path() string                { return s.path }
func (s source) Lstat() (os.FileInfo, error) { return os.Lstat(s.file) }

func (s source) Open() (io.ReadCloser, error) {
	if s.content != nil {
		return io.NopCloser(bytes.NewReader(s.content)), nil
	}
	return os.Open(s.file)
}
