//go:build !race

package wrongprograms

// orders are as many as were measured at commit 5284839.
const orders = 400
