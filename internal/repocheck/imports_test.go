package repocheck_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const modulePath = "github.com/quickstream-go/quickstream"

const standard = "std"

// goList returns the modules of packages by their import paths.
func goList(t *testing.T, args ...string) map[string]string {
	t.Helper()
	form := "{{.ImportPath}} {{if .Standard}}" + standard + "{{else}}{{.Module.Path}}{{end}}"
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-f", form}, args...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	packages := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, module, _ := strings.Cut(strings.TrimSpace(line), " ")
		packages[path] = module
	}
	return packages
}

// TestImportGraph says what a package may not depend on, directly or not. What begins with a slash
// is below the module, and github.com stands for all that is outside it and the standard library.
func TestImportGraph(t *testing.T) {
	repository(t)
	for of, refused := range map[string][]string{
		"/":                           {"/sandbox", "/webhooks", "/resolve", "/csvreport", "testing", "flag", "expvar", "net/http/pprof", "net/http/httptest", "time/tzdata"},
		"/internal/wire":              {"/internal/transport", "net", "net/http", "testing"},
		"/internal/transport":         {"/", "testing"},
		"/sandbox":                    {"/", "/internal/transport", "/internal/wire", "testing", "github.com"},
		"/sandbox/sandboxtest":        {"/webhooks", "/resolve", "/csvreport"},
		"/sandbox/sandboxtest/worlds": {"/", "/resolve", "/internal/transport", "/internal/wire", "testing"},
		"/internal/oracle":            {"/", "/resolve", "/webhooks", "/internal/transport", "/internal/wire", "testing"},
		"/webhooks":                   {"/sandbox", "/resolve", "testing"},
		"/webhooks/signature":         {"net/http", "testing"},
		"/resolve":                    {"/sandbox", "/webhooks", "testing"},
		"/csvreport":                  {"/sandbox", "/webhooks", "/resolve", "testing"},
		"/cmd/quickstream-sandbox":    {"/", "testing"},
	} {
		for dependency, module := range goList(t, "-deps", strings.TrimSuffix(modulePath+of, "/")) {
			name := dependency
			if below, ours := strings.CutPrefix(dependency, modulePath); ours {
				name = "/" + strings.TrimPrefix(below, "/")
			} else if module != standard {
				name = "github.com"
			}
			assert.False(t, slices.Contains(refused, name), "%s depends on %s", of, dependency)
			assert.True(t, of != "/webhooks/signature" || module == standard || name == of, "%s depends on %s", of, dependency)
		}
	}
}

// TestRequirements: the code needs three modules, and one through them. The tests need two others.
// go mod tidy keeps go.mod true.
func TestRequirements(t *testing.T) {
	repository(t)
	var code, direct []string
	for _, module := range goList(t, "-deps", "./...") {
		if module != standard && module != modulePath {
			code = append(code, module)
		}
	}
	for _, match := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(readFile(t, "go.mod"), -1) {
		direct = append(direct, match[1])
	}
	slices.Sort(code)
	needed := []string{"github.com/google/go-querystring", "github.com/hashicorp/go-retryablehttp", "github.com/shopspring/decimal"}
	assert.ElementsMatch(t, append([]string{"github.com/hashicorp/go-cleanhttp"}, needed...), slices.Compact(code))
	assert.ElementsMatch(t, append([]string{"github.com/stretchr/testify", "gopkg.in/h2non/gock.v1"}, needed...), direct)
}
