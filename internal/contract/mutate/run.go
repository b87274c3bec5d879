package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// verdict is what became of a mutant.
type verdict string

const (
	killed   verdict = "killed"
	survived verdict = "survived"
	invalid  verdict = "does not compile"
)

// result is what became of one mutant, and what the compiler or the tests said.
type result struct {
	mutant
	verdict verdict
	output  string
	err     error // it was not tried
}

// runner tests mutants of one repository. No source is copied: the compiler is
// told to read one file from elsewhere.
type runner struct {
	root    string // of the repository
	module  string // directory in which go test runs
	pkg     string // of the tests, below module
	scratch string
	limit   time.Duration // of one run of the tests
	cache   cache
}

// all tries mutants, some at the same time, and calls done with each result.
func (r runner) all(ctx context.Context, mutants []mutant, jobs int, done func(result)) []result {
	results := make([]result, len(mutants))
	next := make(chan int)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for i := range next {
				results[i] = r.mutant(ctx, mutants[i])
				done(results[i])
			}
		})
	}
	for i := range mutants {
		next <- i
	}
	close(next)
	workers.Wait()
	return results
}

// mutant tests one mutant.
func (r runner) mutant(ctx context.Context, m mutant) (tried result) {
	tried.mutant = m
	dir, err := os.MkdirTemp(r.scratch, "")
	if err != nil {
		tried.err = err
		return tried
	}
	defer func() { tried.err = errors.Join(tried.err, os.RemoveAll(dir)) }()
	overlay, err := r.overlay(dir, m)
	if err != nil {
		tried.err = err
		return tried
	}
	environ, err := r.cache.environ(dir)
	if err != nil {
		tried.err = err
		return tried
	}
	tried.verdict, tried.output, tried.err = r.test(ctx, dir, environ, "-overlay", overlay)
	tried.output = strings.ReplaceAll(tried.output, dir+string(filepath.Separator), "")
	if cause := context.Cause(ctx); cause != nil {
		tried.err = cause // and not what the interrupted commands came to
	}
	return tried
}

// unbroken tests the repository as it is, which also fills the cache.
func (r runner) unbroken(ctx context.Context) error {
	environ, err := r.cache.environ("")
	if err != nil {
		return err
	}
	v, output, err := r.test(ctx, r.scratch, environ)
	if err == nil && v != survived {
		err = fmt.Errorf("without a mutant, the tests were %s:\n%s", v, output)
	}
	return err
}

// overlay writes a mutant's file, and the list that has the compiler read it.
func (r runner) overlay(dir string, m mutant) (list string, err error) {
	text, err := m.source(r.root)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(dir, filepath.Base(m.file))
	replace := map[string]map[string]string{"Replace": {filepath.Join(r.root, m.file): changed}}
	encoded, err := json.Marshal(replace)
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, errors.Join(os.WriteFile(changed, text, 0o600), os.WriteFile(list, encoded, 0o600))
}

// test builds the tests with flags into dir and runs them.
func (r runner) test(ctx context.Context, dir string, environ []string, flags ...string) (v verdict, output string, err error) {
	binary := filepath.Join(dir, "tests")
	// These compile sooner and link to less; the tests take no longer for it.
	quick := []string{"-vet=off", "-ldflags=-s -w", "-gcflags=github.com/quickstream-go/...=-N -l -dwarf=false"}
	//nolint:gosec // the go command, told what this program was
	build := exec.CommandContext(ctx, "go", slices.Concat([]string{"test", "-c", "-o", binary}, quick, flags, []string{r.pkg})...)
	build.Dir, build.Env = r.module, environ
	if output, failed, err := run(build); failed || err != nil {
		return invalid, output, err
	}
	//nolint:gosec // what was just built
	tests := exec.CommandContext(ctx, binary, "-test.failfast", fmt.Sprint("-test.timeout=", r.limit))
	tests.Dir = filepath.Join(r.module, r.pkg)
	output, failed, err := run(tests)
	if failed {
		return killed, output, err
	}
	return survived, output, err
}

// run tells a command that ran and failed from one that did not run.
func run(c *exec.Cmd) (output string, failed bool, err error) {
	raw, err := c.CombinedOutput()
	if _, ran := errors.AsType[*exec.ExitError](err); ran {
		return string(raw), true, nil
	}
	return string(raw), false, err
}
