//go:build race

package wrongprograms

// orders are fewer where each takes four times as long: their figures are not to be
// held against the old ones.
const orders = 160
