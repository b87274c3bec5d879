// Package repocheck holds tests of the repository itself: what it exports, which
// package imports which, and where its pages link to.
package repocheck
