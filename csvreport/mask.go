package csvreport

import "encoding/binary"

// Eight bytes are looked at in one word: ones puts a value into each of them,
// low keeps their seven lower bits and high their top bits.
const (
	ones = 0x0101010101010101
	low  = 0x7f * ones
	high = 0x80 * ones
)

// blockSize is how many bytes one mask covers.
const blockSize = 64

// mask returns which bytes of a block are a comma, a double quote or a control
// character, the first byte in the lowest bit, and whether the block has bytes
// outside ASCII.
func mask(b *[blockSize]byte) (special uint64, wide bool) {
	w0 := binary.LittleEndian.Uint64(b[0:8])
	w1 := binary.LittleEndian.Uint64(b[8:16])
	w2 := binary.LittleEndian.Uint64(b[16:24])
	w3 := binary.LittleEndian.Uint64(b[24:32])
	w4 := binary.LittleEndian.Uint64(b[32:40])
	w5 := binary.LittleEndian.Uint64(b[40:48])
	w6 := binary.LittleEndian.Uint64(b[48:56])
	w7 := binary.LittleEndian.Uint64(b[56:64])
	special = gather(specials(w0)) | gather(specials(w1))<<8 |
		gather(specials(w2))<<16 | gather(specials(w3))<<24 |
		gather(specials(w4))<<32 | gather(specials(w5))<<40 |
		gather(specials(w6))<<48 | gather(specials(w7))<<56
	return special, (w0|w1|w2|w3|w4|w5|w6|w7)&high != 0
}

// specials returns the top bit of each byte of w that is a comma, a double quote
// or a control character. Every sum stays within its byte, so that no byte is
// mistaken because of its neighbour.
func specials(w uint64) uint64 {
	text := w & low
	comma := text ^ ','*ones + low
	quote := text ^ '"'*ones + low
	control := text + (0x80-0x20)*ones
	return ^(comma&quote&control | w) & high
}

// gather moves the top bits of the eight bytes of m into the lowest byte, the
// first byte's into the lowest bit.
func gather(m uint64) uint64 { return m * 0x0002040810204081 >> 56 }
