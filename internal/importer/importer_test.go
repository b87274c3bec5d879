// Package importer proves that the modules of this repository can be got and used
// by a program elsewhere, as they will be once they are tagged.
package importer

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/zip"
)

const (
	core = "github.com/quickstream-go/quickstream"
	root = "../.."
)

// TestImporter packs the modules that are released into a proxy of files, without what
// only works in this repository, and lets a program outside of it use them.
func TestImporter(t *testing.T) {
	p := newProgram(t)
	text, err := os.ReadFile("testdata/shop/main.go")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "main.go"), text, 0o600))
	newest := p.newest[core]
	p.run("get", core+"@"+newest)
	assert.Equal(t, "49.95 AUD Approved quickstream-go/"+newest+"\n", p.run("run", "."))
	for _, path := range slices.Sorted(maps.Keys(p.newest)) {
		p.run("get", path+"/...@"+p.newest[path])
		p.run("build", path+"/...")
	}
}

// TestCommand installs and runs the sandbox's command as its page says, from a directory without
// a module.
func TestCommand(t *testing.T) {
	p := newProgram(t)
	version := "@" + p.newest[core]
	bin := t.TempDir()
	t.Setenv("GOBIN", bin)
	t.Setenv("GOSUMDB", "off") // there is no go.sum with the hashes
	run := goCommand(t, p.proxy, t.TempDir())
	want := "quickstream-sandbox " + p.newest[core] + " " + runtime.Version() + "\n"
	assert.Equal(t, want, run("run", core+"/cmd/quickstream-sandbox"+version, "-version"))
	run("install", core+"/cmd/quickstream-sandbox"+version)
	out, err := exec.CommandContext(t.Context(), filepath.Join(bin, "quickstream-sandbox"), "-version").Output()
	require.NoError(t, err)
	assert.Equal(t, want, string(out))
	out, err = exec.CommandContext(t.Context(), filepath.Join(bin, "quickstream-sandbox"), "-help").Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "A TOUR WITH CURL")
}

// TestUpgrade upgrades each module alone, while the others stay as they are.
func TestUpgrade(t *testing.T) {
	p := newProgram(t)
	build := []string{"build"}
	for _, path := range slices.Sorted(maps.Keys(p.newest)) { // a module before what is nested in it, which its pattern matches too
		p.run("get", path+"/...@"+p.newest[path])
		build = append(build, path+"/...")
	}
	versions := func() map[string]string {
		found := map[string]string{}
		for line := range strings.Lines(p.run("list", "-m", "all")) {
			if path, version, _ := strings.Cut(strings.TrimSpace(line), " "); p.newest[path] != "" {
				found[path] = version
			}
		}
		return found
	}
	require.Equal(t, p.newest, versions())
	for path, version := range p.newest {
		t.Run("quickstream"+strings.TrimPrefix(path, core), func(t *testing.T) {
			patch, err := strconv.Atoi(strings.TrimPrefix(version, semver.MajorMinor(version)+"."))
			require.NoError(t, err)
			next := fmt.Sprintf("%s.%d", semver.MajorMinor(version), patch+1)
			p.pack(path, next)
			p.run("get", path+"@"+next)
			after := maps.Clone(p.newest)
			after[path] = next
			assert.Equal(t, after, versions())
			p.run(build...)
			p.run("get", path+"@"+version)
		})
	}
}

// program is one outside of this repository, with a proxy of the modules that are released.
type program struct {
	*testing.T
	dir, proxy string
	run        func(args ...string) string
	dirs       map[string]string // of the modules, by their paths
	newest     map[string]string // versions by paths
}

// firstRelease is the version of a module that no other module requires.
const firstRelease = "v0.1.0"

func newProgram(t *testing.T) *program {
	t.Helper()
	p := &program{T: t, dir: t.TempDir(), proxy: t.TempDir(), dirs: map[string]string{}, newest: map[string]string{}}
	required := p.modules()
	var sums []byte
	for path, dir := range p.dirs {
		if required[path] == nil { // it is for programs alone
			required[path] = []string{firstRelease}
		}
		for _, version := range required[path] {
			p.pack(path, version)
		}
		p.newest[path] = slices.MaxFunc(required[path], semver.Compare)
		sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
		require.NoError(t, err)
		sums = append(sums, sum...)
	}
	// The hashes of all others come from this repository.
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "go.sum"), sums, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "go.mod"), []byte("module example.com/shop\n\ngo 1.26\n"), 0o600))
	p.run = goCommand(t, p.proxy, p.dir)
	return p
}

// goCommand returns how the shop runs the go command: with modules from the proxy,
// from what this machine has got before, and then from where it gets others. What
// it builds is not named by directories, so that the next run finds it built.
func goCommand(t *testing.T, proxy, shop string) func(args ...string) string {
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	require.NoError(t, err)
	cache, others, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	env := append(
		os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod -modcacherw -trimpath", "GOMODCACHE="+t.TempDir(), "GONOSUMDB="+core+","+core+"/*",
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

// modules finds the modules that are released, which list what they export, and returns
// the versions in which others require them, which a release can make.
func (p *program) modules() (required map[string][]string) {
	p.Helper()
	required = map[string][]string{}
	require.NoError(p, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "go.mod" {
			return skipHidden(entry, err)
		}
		dir := filepath.Dir(file)
		mod := goMod(p.T, dir)
		if _, err := os.Stat(filepath.Join(dir, "api")); err == nil || mod.Module.Mod.Path == core {
			p.dirs[mod.Module.Mod.Path] = dir
		}
		for _, r := range mod.Require {
			if path, version := r.Mod.Path, r.Mod.Version; path == core || strings.HasPrefix(path, core+"/") {
				assert.False(p, version == "v0.0.0" || module.IsPseudoVersion(version), "%s requires %s, which no release makes", file, r.Mod)
				required[path] = append(required[path], version)
			}
		}
		return nil
	}))
	for path := range required {
		assert.Contains(p, p.dirs, path, "it is required, and not released")
	}
	return required
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

// pack puts a version of a module into the proxy, without replacements by directories.
func (p *program) pack(path, version string) {
	p.Helper()
	dir := p.dirs[path]
	mod := goMod(p.T, dir)
	for _, r := range mod.Replace {
		require.Empty(p, r.New.Version, "%s replaces %s, which its users would not", dir, r.Old.Path)
		require.NoError(p, mod.DropReplace(r.Old.Path, r.Old.Version))
	}
	mod.Cleanup()
	text, err := mod.Format()
	require.NoError(p, err)
	var archive bytes.Buffer
	require.NoError(p, zip.Create(&archive, module.Version{Path: path, Version: version}, sources(p.T, dir, text)))

	to := filepath.Join(p.proxy, path, "@v")
	require.NoError(p, os.MkdirAll(to, 0o750))
	list, err := os.ReadFile(filepath.Join(to, "list"))
	require.True(p, err == nil || os.IsNotExist(err), err)
	for name, content := range map[string][]byte{
		"list": append(list, version+"\n"...), version + ".info": []byte(`{"Version":"` + version + `"}`), version + ".mod": text, version + ".zip": archive.Bytes(),
	} {
		require.NoError(p, os.WriteFile(filepath.Join(to, name), content, 0o600))
	}
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
