//go:build !unix

package sqlite

import "io/fs"

// numberOf is "": files have no numbers that Go shows.
func numberOf(fs.FileInfo) string { return "" }
