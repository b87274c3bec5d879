// Package clienttest holds the tests that use a client as a merchant's program does.
// The tests of values and rules, which call no service, stand beside the code.
package clienttest
