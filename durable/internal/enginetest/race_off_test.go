//go:build !race

package enginetest

const (
	compareRows  = 50_000
	deployRounds = 5
	lostAtOnce   = 300
)
