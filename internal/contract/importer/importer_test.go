// Package importer proves that a program elsewhere can get the core and use it, once it is tagged.
package importer

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	core    = "github.com/quickstream-go/quickstream"
	version = "v0.1.0"
	root    = "../../.."
)

// TestImporter packs the core into a proxy of files, and lets a program outside of this
// repository use it: by itself, and by the command of the sandbox.
func TestImporter(t *testing.T) {
	proxy, shop := t.TempDir(), t.TempDir()
	pack(t, filepath.Join(proxy, filepath.FromSlash(core), "@v"))
	must(t, os.WriteFile(filepath.Join(shop, "main.go"), read(t, "testdata/shop/main.go"), 0o600))
	must(t, os.WriteFile(filepath.Join(shop, "go.mod"), []byte("module example.com/shop\n\ngo 1.26\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(shop, "go.sum"), read(t, root+"/go.sum"), 0o600)) // the hashes of all others
	run := goCommand(t, proxy, shop)
	run("get", core+"@"+version)
	if out, want := run("run", "."), "49.95 AUD Approved quickstream-go/"+version+"\n"; out != want {
		t.Errorf("the program printed %q, want %q", out, want)
	}
	modules := strings.Fields(run("list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "."))
	slices.Sort(modules)
	if modules = slices.Compact(modules); !slices.Equal(modules, []string{
		"github.com/google/go-querystring", "github.com/hashicorp/go-cleanhttp", "github.com/hashicorp/go-retryablehttp", core, "github.com/shopspring/decimal",
	}) {
		t.Errorf("the program is made of %q", modules)
	}

	t.Setenv("GOSUMDB", "off") // there is no go.sum with the hashes
	run = goCommand(t, proxy, t.TempDir())
	if out := run("run", core+"/cmd/quickstream-sandbox@"+version, "-help"); !strings.Contains(out, "-secret-key") {
		t.Errorf("the command printed %q", out)
	}
}

// goCommand returns how the go command runs in a directory: with the core from the proxy, and
// with the others from what this machine has got before, and then from where it gets them.
func goCommand(t *testing.T, proxy, dir string) func(args ...string) string {
	t.Helper()
	known, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	must(t, err)
	cache, others, _ := strings.Cut(strings.TrimSpace(string(known)), "\n")
	env := append(
		os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod -modcacherw", "GOMODCACHE="+t.TempDir(), "GONOSUMDB="+core,
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(cache)+"/cache/download,"+others,
	)
	return func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = dir, env
		var problems bytes.Buffer
		cmd.Stderr = &problems
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &problems)
		}
		return string(out)
	}
}

// pack writes a version of the core as a proxy has it, without nested modules and what tools hide.
func pack(t *testing.T, to string) {
	t.Helper()
	var archive bytes.Buffer
	files := zip.NewWriter(&archive)
	must(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		within, _ := filepath.Rel(root, path)
		if entry.IsDir() {
			_, noModule := os.Stat(filepath.Join(path, "go.mod"))
			if within != "." && (noModule == nil || strings.HasPrefix(entry.Name(), ".")) {
				return fs.SkipDir
			}
			return nil
		}
		file, err := files.Create(core + "@" + version + "/" + filepath.ToSlash(within))
		if err == nil {
			_, err = file.Write(read(t, path))
		}
		return err
	}))
	must(t, files.Close())
	must(t, os.MkdirAll(to, 0o750))
	must(t, os.WriteFile(filepath.Join(to, "list"), []byte(version+"\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(to, version+".info"), []byte(`{"Version":"`+version+`"}`), 0o600))
	must(t, os.WriteFile(filepath.Join(to, version+".mod"), read(t, root+"/go.mod"), 0o600))
	must(t, os.WriteFile(filepath.Join(to, version+".zip"), archive.Bytes(), 0o600))
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	return content
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
