//go:build !race

package clienttest_test

// modelled is how many calls TestRetryModel makes.
const modelled = 2000
