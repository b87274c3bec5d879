//go:build !race

package explore

// quick runs few schedules: one goroutine acts at a time, and the race detector sees nothing more in all of them.
const quick = false
