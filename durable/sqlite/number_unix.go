//go:build unix

package sqlite

import (
	"fmt"
	"io/fs"
	"syscall"
)

// numberOf is the number of a file on its disk.
func numberOf(info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(" ", stat.Ino)
	}
	return ""
}
