//go:build !race

package durable_test

const compareRows = 100_000
