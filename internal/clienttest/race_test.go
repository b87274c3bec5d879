//go:build race

package clienttest_test

// modelled is how many calls TestRetryModel makes: with the race detector few, because one goroutine makes them, ten times as slowly.
const modelled = 400
