//go:build !go1.27 || !goexperiment.jsonv2

package wire

// marshalText encodes as [Marshal] does. What methods write is not judged.
func marshalText(v any) ([]byte, error) { return Marshal(v) }
