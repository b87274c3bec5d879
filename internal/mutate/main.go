// Mutate changes the code that decides how a payment ended, one condition at a time, and runs the
// tests that execute the change. A change that no test notices is a survivor. It fails for a
// survivor that survivors.txt does not explain.
//
//	go run ./internal/mutate                                 all mutants
//	go run ./internal/mutate -only 'resolve/next.go:1[0-9]:' some of them
//
// The mutants: each && and || replaced by the other one and without either side, each comparison
// and condition negated, each bound moved by one, each sum, product and count changed, each case of
// a switch removed. All of them are compiled at once, through an overlay, and an environment
// variable switches one on.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// mutated are the files that are changed.
	mutated = "lookup.go outcome.go refunds.go reports.go intent.go operations.go paytransactions.go sources.go transactions.go payto.go payto_rules.go resolve/*.go internal/transport/*.go"
	// tested are the packages whose tests are run.
	tested = ". resolve internal/transport internal/clienttest sandbox/sandboxtest"
)

//go:embed switch.txt
var switches string

// explained has a line for each mutant that may survive: the mutant, " # " and why.
//
//go:embed survivors.txt
var explained string

func main() {
	log.SetFlags(0)
	only := flag.String("only", "", "a regular expression for the mutants to run")
	workers := flag.Int("workers", 1, "how many mutants to run at once")
	flag.Parse()
	chosen, err := regexp.Compile(*only)
	check(err)
	dir, err := os.MkdirTemp("", "mutate")
	check(err)
	mutants := build(dir)
	var numbers []int
	for n, m := range mutants {
		if chosen.MatchString(m.place()) {
			numbers = append(numbers, n)
		}
	}
	unexplained := run(dir, mutants, numbers, max(*workers, 1))
	check(os.RemoveAll(dir))
	if unexplained > 0 {
		log.Fatalf("%d survivors are new: write a test that fails with them, or explain them in internal/mutate/survivors.txt", unexplained)
	}
}

// check ends the program with an error.
func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// read returns the mutated files with all their mutants, by path.
func read() (map[string]string, []mutant) {
	files := map[string]string{}
	var all []mutant
	for _, pattern := range strings.Fields(mutated) {
		paths, err := filepath.Glob(pattern)
		if check(err); len(paths) == 0 {
			log.Fatalf("no files %s: run it in the root folder", pattern)
		}
		for _, file := range paths {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file) //nolint:gosec // a file of this repository
			check(err)
			text, mutants, err := mutate(file, source, len(all))
			check(err)
			files[file], all = text, append(all, mutants...)
			pkg := map[string]string{".": "quickstream"}[filepath.Dir(file)]
			files[filepath.Join(filepath.Dir(file), "mutant_switch.go")] = "package " + cmp.Or(pkg, filepath.Base(filepath.Dir(file))) + "\n" + switches
		}
	}
	return files, all
}

// build compiles the tests with all mutants.
func build(dir string) []mutant {
	files, all := read()
	replace := map[string]string{}
	for file, text := range files {
		full, err := filepath.Abs(file)
		check(err)
		replace[full] = filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		check(os.WriteFile(replace[full], []byte(text), 0o600))
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	check(err)
	overlay := filepath.Join(dir, "overlay.json")
	check(os.WriteFile(overlay, text, 0o600))
	for _, pkg := range strings.Fields(tested) {
		args := []string{"test", "-c", "-vet=off", "-overlay", overlay, "-o", binary(dir, pkg), "./" + pkg}
		if out, err := exec.CommandContext(context.Background(), "go", args...).CombinedOutput(); err != nil { //nolint:gosec // packages of this repository
			log.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return all
}

func binary(dir, pkg string) string {
	return filepath.Join(dir, "tests"+strings.NewReplacer("/", "-", ".", "-").Replace(pkg))
}

// A test is a test function, in one of the binaries.
type test struct {
	pkg, name string
	took      time.Duration
}

// trace runs each test alone, and returns the tests that execute each mutant, fast ones first.
func trace(dir string, mutants int) [][]test {
	meets := make([][]test, mutants)
	for _, pkg := range strings.Fields(tested) {
		list, err := runTests(dir, pkg, time.Minute, "", "-test.list=^(Test|Fuzz|Example)")
		check(err)
		for name := range strings.FieldsSeq(string(list)) {
			file, start := filepath.Join(dir, "trace"), time.Now()
			check(os.WriteFile(file, nil, 0o600))
			if out, err := runTests(dir, pkg, 10*time.Minute, "MUTANT_TRACE="+file, "-test.run=^"+name+"$"); err != nil {
				log.Fatalf("%s in %s fails without a mutant: %v\n%s", name, pkg, err, out)
			}
			took := time.Since(start)
			seen, err := os.ReadFile(file) //nolint:gosec // made above
			check(err)
			for number := range strings.FieldsSeq(string(seen)) {
				n, err := strconv.Atoi(number)
				check(err)
				meets[n-1] = append(meets[n-1], test{pkg, name, took})
			}
		}
	}
	for _, tests := range meets {
		slices.SortFunc(tests, func(a, b test) int { return cmp.Compare(a.took, b.took) })
	}
	return meets
}

// runTests runs a test binary in the folder of its package, with at most 6 GB: a mutant may run
// forever.
func runTests(dir, pkg string, limit time.Duration, env string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args = append([]string{"-c", `ulimit -v 6000000; exec "$0" "$@"`, binary(dir, pkg), "-test.failfast"}, args...)
	command := exec.CommandContext(ctx, "sh", args...) //nolint:gosec // the binaries are ours
	command.Dir, command.Env, command.WaitDelay = pkg, append(os.Environ(), env), time.Second
	return command.CombinedOutput()
}

// try returns the error of the first tests that notice a mutant, or nil if it survives. It runs the
// tests in rounds: fast ones first, those of one package together.
func try(dir string, number int, tests []test) error {
	for round := range slices.Chunk(tests, 16) {
		for _, pkg := range strings.Fields(tested) {
			var names []string
			limit := 20 * time.Second
			for _, t := range round {
				if t.pkg == pkg {
					names, limit = append(names, t.name), limit+5*t.took
				}
			}
			if len(names) == 0 {
				continue
			}
			if _, err := runTests(dir, pkg, limit, "MUTANT="+strconv.Itoa(number), "-test.run=^("+strings.Join(names, "|")+")$"); err != nil {
				return err
			}
		}
	}
	return nil
}

// run runs mutants, prints the survivors and their number, and returns how many of them are not
// explained.
func run(dir string, mutants []mutant, numbers []int, workers int) (unexplained int) {
	meets, why := trace(dir, len(mutants)), explanations()
	var group sync.WaitGroup
	var survived, unknown atomic.Int64
	turns := make(chan struct{}, workers)
	for _, n := range numbers {
		turns <- struct{}{}
		group.Go(func() {
			defer func() { <-turns }()
			if try(dir, n+1, meets[n]) != nil {
				return
			}
			reason := why[mutants[n].String()]
			if survived.Add(1); reason == "" {
				unknown.Add(1)
			}
			log.Printf("survived %s # %s", mutants[n].place(), cmp.Or(reason, "NOT EXPLAINED"))
		})
	}
	group.Wait()
	_, _ = fmt.Fprintf(os.Stdout, "%d mutants, %d killed, %d survived\n", len(numbers), int64(len(numbers))-survived.Load(), survived.Load())
	return int(unknown.Load())
}

// explanations returns the reasons why mutants may survive, by mutant.
func explanations() map[string]string {
	why := map[string]string{}
	for line := range strings.Lines(explained) {
		if name, reason, is := strings.Cut(strings.TrimSpace(line), " # "); is {
			why[name] = reason
		}
	}
	return why
}
