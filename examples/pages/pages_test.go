// Package pages_test compares the programs of README.md and docs/ with the programs here, and runs them.
package pages_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// checkout is the folder of the program of docs/browser.md.
const checkout = "../../durable/sqlite/examples/checkout"

// block is a fenced block of a page, in a language, and what stands before it.
type block struct{ before, language, text string }

func blocks(t *testing.T, page string) []block {
	t.Helper()
	var found []block
	parts := strings.Split("\n"+read(t, page), "\n```")
	for i := 1; i < len(parts); i += 2 {
		language, text, _ := strings.Cut(parts[i], "\n")
		found = append(found, block{parts[i-1], language, text + "\n"})
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

// TestPrograms holds every Go block of the pages to lines of a file that is compiled and run: a
// program, or a test. A block of text after "go run" in a sentence, or after a whole program, is what
// that program prints.
func TestPrograms(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatal("pages were found:", pages, err)
	}
	files := map[string]string{} // path to program
	for _, pattern := range []string{"*/*.go", "../firstpayment/*.go", "../backend/*.go", checkout + "/*.go"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			files[path] = program(read(t, path))
		}
	}
	programs := t.TempDir()
	run(t, "go", "build", "-o", programs+string(filepath.Separator), "./...", "../firstpayment", "../backend", "github.com/quickstream-go/quickstream/durable/sqlite/examples/checkout")
	shown := map[string]bool{} // names of programs whose output is shown
	for _, page := range append(pages, "../../README.md") {
		printing := "" // the program whose output comes next
		for _, b := range blocks(t, page) {
			if found := command.FindStringSubmatch(b.before); found != nil {
				printing = found[1]
			}
			switch b.language {
			case "html":
				if !slices.Contains(documents(t), b.text) {
					t.Errorf("%s: this is no document of the examples:\n%s", page, b.text)
				}
			case "go":
				path := fileWith(files, b.text)
				if path == "" {
					t.Errorf("%s: these are no lines of a file of the examples:\n%s", page, b.text)
				}
				if b.text == files[path] && filepath.Base(path) == "main.go" {
					printing = filepath.Base(filepath.Dir(path))
				}
				continue
			case "text":
				if printing == "" {
					break
				}
				shown[printing] = true
				if printed := run(t, filepath.Join(programs, printing)); b.text != printed {
					t.Errorf("%s: this has to be what %s prints:\n%s", page, printing, printed)
				}
			}
			printing = ""
		}
	}
	for path := range files {
		if name := filepath.Base(filepath.Dir(path)); filepath.Base(path) == "main.go" && !shown[name] {
			t.Errorf("no page shows what %s prints", path)
		}
	}
}

// command is how a sentence names a program of the examples.
var command = regexp.MustCompile("`go run \\./(?:durable/sqlite/)?examples/(?:pages/)?(\\w+)`[^`]*$")

// fileWith returns the path of the file with the lines.
func fileWith(files map[string]string, lines string) string {
	for path, text := range files {
		if strings.Contains("\n"+text, "\n"+lines) {
			return path
		}
	}
	return ""
}

// documents are those that a browser gets.
func documents(t *testing.T) (texts []string) {
	t.Helper()
	paths, err := filepath.Glob(checkout + "/*.html")
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
	var logged strings.Builder
	command := exec.CommandContext(t.Context(), program, args...)
	command.Stderr = &logged
	out, err := command.Output()
	if err != nil {
		t.Errorf("%s: %v\n%s%s", program, err, out, &logged)
	}
	return string(out)
}
