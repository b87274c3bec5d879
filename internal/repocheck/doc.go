// Package repocheck holds tests of the repository itself: what it exports, which
// package imports which, what its pages say, its words and its size.
package repocheck
