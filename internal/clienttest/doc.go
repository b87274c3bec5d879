// Package clienttest holds the tests that use a client as a merchant's program does.
// The tests of values and rules, which call no service, are in the root folder.
package clienttest
