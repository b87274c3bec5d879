//go:build race

package enginetest

// many rows take ten times as long under the race detector.
const (
	compareRows  = 5_000
	deployRounds = 2
	lostAtOnce   = 60
)
