// Command mutate breaks one field tag of the client, of its webhooks or of the
// sandbox after the other, and runs the conformance tests each time. A tag that
// can be wrong without a test noticing is a hole in the tests.
//
//	go -C internal/contract run ./mutate                    every tag; takes long
//	go -C internal/contract run ./mutate -sample 30 -seed 7 thirty of them, the same each time
//	go -C internal/contract run ./mutate -match agreement   those whose names match
//
// It exits with status 1 when a mutant survives that is not in the list of
// equivalents, when one on the list is killed, and when one does not compile. No
// file of the repository is changed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

type options struct {
	root, module, pkg, dirs, cache, match string
	sample                                int
	seed                                  uint64
	jobs                                  int
	limit, total                          time.Duration
	list, verbose                         bool
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", "../..", "root of the repository")
	flag.StringVar(&o.module, "module", ".", "directory of the module with the tests")
	flag.StringVar(&o.pkg, "tests", "./conformance", "package of the tests")
	flag.StringVar(&o.dirs, "dirs", ".,internal/wire,webhooks,sandbox", "directories whose tags are broken, below the root")
	flag.StringVar(&o.cache, "cache", ownCache(), "directory for builds, kept for the next run; empty for Go's own cache, which then grows by some gigabytes")
	flag.StringVar(&o.match, "match", "", "break only tags whose mutants match this regular expression")
	flag.IntVar(&o.sample, "sample", 0, "break only so many tags, chosen at random; 0 is all")
	flag.Uint64Var(&o.seed, "seed", 1, "of the choice")
	flag.IntVar(&o.jobs, "jobs", max(1, runtime.NumCPU()/2), "mutants tried at the same time")
	flag.DurationVar(&o.limit, "limit", time.Minute, "time for the tests of one mutant")
	flag.DurationVar(&o.total, "timeout", 4*time.Hour, "time for all")
	flag.BoolVar(&o.list, "list", false, "list the mutants and try none")
	flag.BoolVar(&o.verbose, "v", false, "say what became of each mutant, as they are tried")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	text, err := o.mutate(ctx)
	_, _ = os.Stdout.WriteString(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		stop()
		os.Exit(1)
	}
}

// chosen returns the mutants to try.
func (o options) chosen() ([]mutant, error) {
	pattern, err := regexp.Compile(o.match)
	if err != nil {
		return nil, err
	}
	found, err := find(o.root, strings.Split(o.dirs, ","))
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(m mutant) bool { return !pattern.MatchString(m.String()) })
	if o.sample > 0 {
		//nolint:gosec // a choice that can be repeated
		rand.New(rand.NewPCG(o.seed, 0)).Shuffle(len(found), func(i, j int) { found[i], found[j] = found[j], found[i] })
		found = found[:min(o.sample, len(found))]
	}
	if len(found) == 0 {
		return nil, errors.New("there are no such mutants")
	}
	return found, nil
}

// mutate tries the mutants and returns what is to be printed.
func (o options) mutate(ctx context.Context) (text string, err error) {
	mutants, err := o.chosen()
	if err != nil {
		return "", err
	}
	if o.list {
		var names strings.Builder
		for _, m := range mutants {
			fmt.Fprintln(&names, m)
		}
		return names.String(), nil
	}
	r, err := o.runner()
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.scratch)) }()
	ctx, cancel := context.WithTimeoutCause(ctx, o.total, errors.New("the time is over"))
	defer cancel()
	if err := r.unbroken(ctx); err != nil {
		return "", err
	}
	return report(r.all(ctx, mutants, o.jobs, func(done result) {
		if o.verbose && done.err == nil {
			fmt.Fprintln(os.Stderr, done.line())
		}
	}))
}

// runner finds the directories.
func (o options) runner() (r runner, err error) {
	r = runner{pkg: o.pkg, limit: o.limit, cache: cache(o.cache)}
	if r.root, err = filepath.Abs(o.root); err != nil {
		return r, err
	}
	if r.module, err = filepath.Abs(o.module); err != nil {
		return r, err
	}
	if o.cache == "" {
		r.scratch, err = os.MkdirTemp("", "mutate")
		return r, err
	}
	// Beside the cache, which can then be linked to.
	dir, err := filepath.Abs(o.cache)
	if err != nil {
		return r, err
	}
	r.cache = cache(filepath.Join(dir, "common"))
	if err := os.MkdirAll(string(r.cache), 0o700); err != nil {
		return r, err
	}
	r.scratch, err = os.MkdirTemp(dir, "run")
	return r, err
}

// ownCache is in the user's cache directory, if there is one.
func ownCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "quickstream-mutate")
}
