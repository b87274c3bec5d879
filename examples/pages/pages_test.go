// Package pages_test compares the programs of README.md and docs/ with the programs here, and runs them.
package pages_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// block is a fenced block of a page, in a language.
type block struct{ language, text string }

func blocks(t *testing.T, page string) []block {
	t.Helper()
	var found []block
	for i, part := range strings.Split("\n"+read(t, page), "\n```") {
		if i%2 == 1 {
			language, text, _ := strings.Cut(part, "\n")
			found = append(found, block{language, text + "\n"})
		}
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// program returns a file from its package clause on, which is what a page shows.
func program(text string) string {
	i := strings.Index("\n"+text, "\npackage ")
	return text[max(i, 0):]
}

// TestPrograms holds every Go block of the pages to a file that is compiled and run: the file of a
// program, or of a test. What a program prints is the page's next block of text.
func TestPrograms(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatal("pages were found:", pages, err)
	}
	files := map[string]string{} // program to path
	for _, pattern := range []string{"*/*.go", "../firstpayment/*.go", "../backend/[^c]*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			files[program(read(t, path))] = path
		}
	}
	programs := t.TempDir()
	run(t, "go", "build", "-o", programs+string(filepath.Separator), "./...", "../firstpayment", "../backend")
	shown := map[string]bool{}
	for _, page := range append(pages, "../../README.md") {
		all := blocks(t, page)
		for i, b := range all {
			if b.language == "html" && !slices.Contains(documents(t), b.text) {
				t.Errorf("%s: this is no document of examples/pages:\n%s", page, b.text)
			}
			if b.language != "go" {
				continue
			}
			path := files[b.text]
			if path == "" {
				t.Errorf("%s: this is no file of examples/pages:\n%s", page, b.text)
				continue
			}
			shown[path] = true
			if filepath.Base(path) != "main.go" {
				continue // go test runs it
			}
			printed := run(t, filepath.Join(programs, filepath.Base(filepath.Dir(path))))
			if i+1 == len(all) || all[i+1].language != "text" || all[i+1].text != printed {
				t.Errorf("%s: the next block of text has to be what %s prints:\n%s", page, path, printed)
			}
		}
	}
	for _, path := range files {
		if !shown[path] {
			t.Errorf("no page shows %s", path)
		}
	}
}

// documents are those that a browser gets.
func documents(t *testing.T) (texts []string) {
	t.Helper()
	paths, err := filepath.Glob("*/*.html")
	if err != nil || len(paths) == 0 {
		t.Fatal("documents were found:", paths, err)
	}
	for _, path := range paths {
		texts = append(texts, read(t, path))
	}
	return texts
}

func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", program, err, out)
	}
	return string(out)
}
