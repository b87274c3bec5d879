//go:build !race

package durable_test

const (
	compareRows  = 50_000
	deployRounds = 5
)
