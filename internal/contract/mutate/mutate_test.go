package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const fixture = "package p\n\n" +
	"type wire struct {\n" +
	"\tA string `json:\"a,omitempty\"`\n" +
	"\tB string `json:\"b\" url:\"bee,omitempty\"`\n" +
	"\tC string `json:\"-\"`\n" +
	"\tD string `json:\",omitempty\"`\n" +
	"\tE string `xml:\"e\"`\n" +
	"\tF struct {\n\t\tG string `json:\"g\"`\n\t}\n" +
	"}\n\n" +
	"func f() {\n\tvar x struct {\n\t\tH int `json:\"h\"`\n\t}\n\t_ = x\n}\n"

func TestFind(t *testing.T) {
	found, err := findIn("p.go", []byte(fixture))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range found {
		got[m.String()] = m.tag
	}
	want := map[string]string{
		"p.go wire.A json removed": "",
		"p.go wire.A json renamed": "`json:\"aX,omitempty\"`",
		"p.go wire.B json removed": "`url:\"bee,omitempty\"`",
		"p.go wire.B json renamed": "`json:\"bX\" url:\"bee,omitempty\"`",
		"p.go wire.B url removed":  "`json:\"b\"`",
		"p.go wire.B url renamed":  "`json:\"b\" url:\"beeX,omitempty\"`",
		"p.go wire.C json removed": "",
		"p.go wire.D json removed": "",
		"p.go wire.G json removed": "",
		"p.go wire.G json renamed": "`json:\"gX\"`",
		"p.go f.H json removed":    "",
		"p.go f.H json renamed":    "`json:\"hX\"`",
	}
	for name, tag := range want {
		if other, ok := got[name]; !ok || other != tag {
			t.Errorf("%s: found %t with %s, want %s", name, ok, other, tag)
		}
	}
	if len(got) != len(want) {
		t.Errorf("found %d, want %d", len(got), len(want))
	}
}

// TestMutate runs the program on a module in which one tag is tested, one is not,
// and one cannot be broken.
func TestMutate(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/p\n\ngo 1.26\n",
		"p.go": "package p\n\ntype tested struct {\n\tA string `json:\"a\"`\n}\n\n" +
			"type untested struct {\n\tB string `json:\"b\"`\n}\n\n" +
			"var unbreakable struct {\n\tC string `json:\"c\"`\n} = struct {\n\tC string `json:\"c\"`\n}{}\n",
		"p_test.go": "package p\n\nimport (\n\t\"encoding/json\"\n\t\"testing\"\n)\n\n" +
			"func TestA(t *testing.T) {\n\tif b, _ := json.Marshal(tested{}); string(b) != `{\"a\":\"\"}` {\n\t\tt.Error(\"not a\")\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	o := options{root: root, module: root, pkg: ".", dirs: ".", jobs: 2, limit: time.Minute, total: time.Minute}
	text, err := o.mutate(t.Context())
	if err == nil || err.Error() != "6 mutants need attention" {
		t.Errorf("%v", err)
	}
	for _, want := range []string{
		"survived: p.go untested.B json renamed\n",
		"does not compile: p.go .C json removed: p.go:13:5: cannot use",
		"8 mutants: 2 killed, 2 survived (0 of them equivalent), 4 do not compile, 0 not tried",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}

func TestReport(t *testing.T) {
	listed := mutant{file: "intent.go", owner: "Intent", field: "Key", key: "json", change: removed}
	other := mutant{file: "p.go", owner: "wire", field: "A", key: "json", change: renamed}
	failure := "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n        p_test.go:1: not a\n"
	for _, tt := range []struct {
		result
		wantError, wantText string
	}{
		{result{mutant: other, verdict: killed, output: failure}, "", "1 mutants: 1 killed, 0 survived"},
		{result{mutant: other, verdict: survived}, "1 mutants need attention", "survived: p.go wire.A json renamed\n"},
		{result{mutant: listed, verdict: survived}, "", "0 killed, 1 survived (1 of them equivalent)"},
		{result{mutant: listed, verdict: killed, output: failure}, "1 mutants need attention", "json removed: p_test.go:1: not a (equivalent: what a merchant"},
		{result{mutant: other, verdict: invalid, output: "# p\np.go:3:1: no\n"}, "1 mutants need attention", "does not compile: p.go wire.A json renamed: p.go:3:1: no\n"},
		{result{mutant: other, err: errors.New("no time")}, "1 mutants were not tried", "not tried: p.go wire.A json renamed: no time\n"},
	} {
		text, err := report([]result{tt.result})
		if err == nil {
			err = errors.New("")
		}
		if err.Error() != tt.wantError || !strings.Contains(text, tt.wantText) {
			t.Errorf("%v and\n%s\nwant %s and %s", err, text, tt.wantError, tt.wantText)
		}
	}
}

func TestMutantsLeaveNothingInTheCache(t *testing.T) {
	common, scratch := t.TempDir(), t.TempDir()
	write := func(dir, name string) {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(common, "00/needed-d")
	environ, err := cache(common).environ(scratch)
	copied, found := strings.CutPrefix(environ[len(environ)-1], "GOCACHE=")
	if err != nil || !found {
		t.Fatalf("builds use %s, %v", environ[len(environ)-1], err)
	}
	if text, err := os.ReadFile(filepath.Join(copied, "00/needed-d")); err != nil || string(text) != "00/needed-d" {
		t.Errorf("a mutant finds %q, %v", text, err)
	}
	write(copied, "01/mutant-a")
	if err := os.RemoveAll(scratch); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(common + "/*/*"); err != nil || !slices.Equal(left, []string{filepath.Join(common, "00/needed-d")}) {
		t.Errorf("left are %v, %v", left, err)
	}
	if environ, err := cache("").environ(scratch); environ != nil || err != nil {
		t.Errorf("Go's own cache: %v, %v", environ, err)
	}
}

func TestSampleIsTheSameForASeed(t *testing.T) {
	o := options{root: "../../..", dirs: ".,sandbox", sample: 10, seed: 3}
	first, err := o.chosen()
	if err != nil {
		t.Fatal(err)
	}
	again, err := o.chosen()
	if err != nil || len(first) != 10 || !slices.Equal(first, again) {
		t.Errorf("%v, then %v, %v", first, again, err)
	}
	o.seed = 4
	if other, err := o.chosen(); err != nil || slices.Equal(first, other) {
		t.Errorf("another seed chooses the same, %v", err)
	}
}

// TestEquivalentsExist keeps the list from naming what is no more.
func TestEquivalentsExist(t *testing.T) {
	found, err := find("../../..", []string{".", "internal/wire", "webhooks", "sandbox"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range equivalents() {
		if !slices.ContainsFunc(found, func(m mutant) bool { return e.mutants.MatchString(m.String()) }) {
			t.Errorf("no mutant matches %s", e.mutants)
		}
	}
}
