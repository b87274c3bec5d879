package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// cache is a build cache of this program alone, shared by all mutants and by all
// runs. What is compiled for a mutant is never needed again and would fill a
// disk, so that it is removed from time to time.
type cache struct {
	dir string // empty for Go's own, which is left alone
	// building is held by builds, and wholly while something is removed.
	building sync.RWMutex
	keep     map[string]bool
}

// environ is the environment of a build.
func (c *cache) environ() []string {
	if c.dir == "" {
		return nil // this process's own
	}
	return append(os.Environ(), "GOCACHE="+c.dir)
}

// files calls do with each file of the cache.
func (c *cache) files(do func(path string) error) error {
	if c.dir == "" {
		return nil
	}
	return filepath.WalkDir(c.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return do(path)
	})
}

// settle takes what is there now for what every mutant needs.
func (c *cache) settle() error {
	c.keep = map[string]bool{}
	return c.files(func(path string) error {
		c.keep[path] = true
		return nil
	})
}

// trim removes what was added since, when no build is under way.
func (c *cache) trim() error {
	c.building.Lock()
	defer c.building.Unlock()
	return c.files(func(path string) error {
		if c.keep[path] {
			return nil
		}
		return os.Remove(path)
	})
}
