package transport

import (
	"crypto/rand"
	"fmt"
)

// NewKey returns a random idempotency key. It is a UUID (version 4), because a service may take no
// other form.
func NewKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
