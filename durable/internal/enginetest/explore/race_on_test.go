//go:build race

package explore

const quick = true
