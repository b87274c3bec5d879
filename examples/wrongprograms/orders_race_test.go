//go:build race

package wrongprograms

// orders is smaller with the race detector, with which each takes four times as long.
const orders = 160
