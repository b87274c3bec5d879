//go:build !race

package wrongprograms

// orders is how many orders each program is run with.
const orders = 400
