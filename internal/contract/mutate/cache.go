package main

import (
	"io/fs"
	"os"
	"path/filepath"
)

// cache is a build cache with what is common to all mutants, kept for the next
// run. What is compiled for a mutant is never needed again and would fill a disk,
// so that each mutant gets a copy, of hard links, that goes with it.
type cache string // its directory; empty for Go's own, which all share

// environ is the environment of a build. scratch is a directory for a copy, or
// empty for a build that fills the cache.
func (c cache) environ(scratch string) ([]string, error) {
	switch {
	case c == "":
		return nil, nil // this process's own
	case scratch == "":
		return append(os.Environ(), "GOCACHE="+string(c)), nil
	}
	copied := filepath.Join(scratch, "cache")
	return append(os.Environ(), "GOCACHE="+copied), c.link(copied)
}

func (c cache) link(to string) error {
	return filepath.WalkDir(string(c), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(string(c), path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		}
		return os.Link(path, filepath.Join(to, name)) //nolint:gosec // both directories are this program's own
	})
}
