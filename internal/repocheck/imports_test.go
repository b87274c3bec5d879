package repocheck_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/internal/apitest"
)

const modulePath = "github.com/quickstream-go/quickstream"

// listed is what go list says about a package.
type listed struct {
	ImportPath, Name                   string
	Imports, TestImports, XTestImports []string
	Standard                           bool
	Module                             *struct{ Path string }
}

func goList(t *testing.T, args ...string) map[string]listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json=ImportPath,Name,Imports,TestImports,XTestImports,Standard,Module"}, args...)...)
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("go list: %s", failed.Stderr)
	}
	require.NoError(t, err)
	packages := map[string]listed{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		require.NoError(t, err)
		packages[p.ImportPath] = p
	}
}

// TestImportGraph holds who may know whom.
func TestImportGraph(t *testing.T) {
	inRoot(t)
	own := goList(t, "./...")
	require.Contains(t, own, modulePath)
	// forbidden says what a package may not depend on, directly or not.
	forbidden := map[string][]string{
		"":                            {"/sandbox", "/webhooks", "/resolve", "/csvreport", "/durable", "testing", "flag", "expvar", "net/http/pprof", "net/http/httptest"},
		"/internal/wire":              {"/internal/transport", "net", "net/http", "testing"},
		"/internal/transport":         {"", "testing"},
		"/sandbox":                    {"", "/internal/transport", "/internal/wire", "testing", "github.com"},
		"/sandbox/sandboxtest":        {"/webhooks", "/resolve", "/csvreport"},
		"/internal/oracle":            {"", "/resolve", "/webhooks", "/internal/transport", "/internal/wire", "testing"},
		"/sandbox/sandboxtest/worlds": {"", "/resolve", "/internal/transport", "/internal/wire", "testing"},
		"/webhooks":                   {"/sandbox", "/resolve", "testing"},
		"/webhooks/signature":         {"", "/internal/wire", "/sandbox", "net/http", "testing", "github.com"},
		"/resolve":                    {"/sandbox", "/webhooks", "testing"},
		"/csvreport":                  {"/sandbox", "/webhooks", "/resolve", "testing"},
		"/cmd/quickstream-sandbox":    {"", "testing"},
	}
	checked := 0
	for path, refused := range forbidden {
		if _, there := own[modulePath+path]; !there {
			continue // a part that this version does not have
		}
		checked++
		for dependency := range goList(t, "-deps", modulePath+path) {
			for _, bad := range refused {
				isPath := strings.HasPrefix(bad, "/") || bad == ""
				hit := isPath && dependency == modulePath+bad || !isPath && (dependency == bad || bad == "github.com" && strings.HasPrefix(dependency, bad) && !strings.HasPrefix(dependency, modulePath))
				assert.False(t, hit && dependency != modulePath+path, "%s depends on %s", modulePath+path, dependency)
			}
		}
	}
	assert.GreaterOrEqual(t, checked, 6)
	for _, dependency := range goList(t, "-deps", modulePath+"/webhooks/signature") {
		assert.True(t, dependency.Standard || strings.HasSuffix(dependency.ImportPath, "/webhooks/signature"), "signature needs %s", dependency.ImportPath)
	}
	// Time zones are half a megabyte: only what computes with Sydney time has them.
	assert.NotContains(t, goList(t, "-deps", modulePath), "time/tzdata")
}

// TestDirectRequirements: the module needs five others, two of them for tests
// only.
func TestDirectRequirements(t *testing.T) {
	inRoot(t)
	modules := map[string]string{} // by package
	for path, p := range goList(t, "-deps", "-test", "./...") {
		if p.Module != nil && !strings.HasPrefix(path, modulePath) {
			modules[path] = p.Module.Path
		}
	}
	var code, tests []string
	for _, p := range goList(t, "./...") {
		for _, path := range p.Imports {
			code = append(code, modules[path])
		}
		for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
			tests = append(tests, modules[path])
		}
	}
	unique := func(paths []string) []string {
		slices.Sort(paths)
		return slices.DeleteFunc(slices.Compact(paths), func(path string) bool { return path == "" })
	}
	needed := []string{"github.com/google/go-querystring", "github.com/hashicorp/go-retryablehttp", "github.com/shopspring/decimal"}
	assert.Equal(t, needed, unique(code))
	all := unique(slices.Concat(code, tests))
	assert.Equal(t, append(slices.Clone(needed), "github.com/stretchr/testify", "gopkg.in/h2non/gock.v1"), all)
}

// TestExportedAPI compares the public packages with their lists in the directory api.
func TestExportedAPI(t *testing.T) {
	inRoot(t)
	apitest.Compare(t)
}
