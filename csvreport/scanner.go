package csvreport

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"slices"
	"unicode/utf8"
)

const (
	// blockSize is how many bytes one mask covers.
	blockSize = 64

	// chunkSize is how much is masked ahead: it fits into the fastest cache.
	chunkSize = 64 * blockSize

	// bufferSize is the size of the first buffer.
	bufferSize = 64 << 10

	// maxField limits a field, quotes included.
	maxField = 1 << 20

	// recordFactor limits a record, in lengths of maxField.
	recordFactor = 16

	// maxColumns limits the header.
	maxColumns = 1 << 14

	// maxEmptyReads is how often in a row a source may return nothing.
	maxEmptyReads = 100
)

// kindEnd is the orderly end of the input.
const kindEnd Kind = "end of the report"

// span is a field's place in its record.
type span struct{ start, end int32 }

// scanner finds the fields of records in two steps. For a chunk at a time, more makes masks of the
// bytes that can mean something, and record walks over their bits, the marks. A position that
// outlives a call of more or fill is relative to the record, because these may move it.
type scanner struct {
	src    io.Reader
	srcErr error // why src ended; kindEnd for an orderly end

	buf    []byte
	start  int   // of the record in buf
	end    int   // of the data in buf
	masked int   // end of the chunk in buf
	offset int64 // of buf in the input
	line   int64 // on which the record starts

	masks  [chunkSize / blockSize]uint64
	blocks int    // how many masks there are
	block  int    // the next one
	marks  uint64 // the rest of the mask before block
	at     int    // where the block of marks begins in buf

	header bool   // not read yet; it sets the number of fields
	spans  []span // the fields of the record; its capacity is their number
	size   int    // length of the record with its separator
	lines  int64  // line feeds in the record

	// The record, or the chunk, may have bytes outside ASCII.
	wide, chunkWide bool

	maxField  int
	strict    bool // about separators
	separated bool // a separator ended the last record
}

// record scans the next record into spans, relative to its start. It returns kindEnd at the end of
// the input. If the record is damaged or incomplete, it returns a Kind or the source's error, and
// spans has the fields before the damage.
func (s *scanner) record() error {
	s.start += s.size
	s.line += s.lines
	s.size, s.lines, s.wide = 0, 0, s.chunkWide
	s.spans = s.spans[:0]
	for field := 0; ; {
		field = s.plain(field)
		if field > recordFactor*s.maxField {
			return KindRecordTooLong
		}
		if len(s.spans) == cap(s.spans) { // a comma follows the last field
			if !s.header || len(s.spans) >= maxColumns {
				return KindTooManyFields
			}
			s.spans = slices.Grow(s.spans, 1)
		}
		end, err := s.next(field)
		content := span{int32(field), int32(end)} //nolint:gosec // the longest record is far shorter
		if err == nil && end == field && s.buf[s.start+end] == '"' {
			content, end, err = s.quoted(field)
		}
		mark := byte('\n') // the end of the input ends the record
		switch {
		case err == nil:
			mark = s.buf[s.start+end]
		case !errors.Is(err, kindEnd):
			return err
		case end == 0 && s.strict && s.separated:
			return KindSeparator
		case end == 0:
			return kindEnd
		}
		switch {
		case end-field > s.maxField:
			return KindFieldTooLong
		case mark == '"':
			return KindBareQuote
		case mark != ',' && mark != '\r' && mark != '\n':
			continue // a control character that is part of the field
		}
		n := len(s.spans) // the capacity is there, so append's check is not needed
		s.spans = s.spans[:n+1]
		s.spans[n] = content
		if mark != ',' {
			return s.finish(end)
		}
		field = end + 1
	}
}

// plain scans fields without quotes that end with a comma, beginning at position field, while spans
// has room. It stops before any other mark and at the end of the chunk, and returns the position of
// the next field.
func (s *scanner) plain(field int) (rest int) {
	spans := s.spans[:cap(s.spans)]
	n, buf, base, start := len(s.spans), s.buf, s.start, s.start+field
	marks, at, block := s.marks, s.at, s.block
	for n < len(spans) {
		if marks == 0 {
			if block == s.blocks {
				break
			}
			marks = s.masks[block]
			block++
			at += blockSize
			continue
		}
		p := at + bits.TrailingZeros64(marks)
		if buf[p] != ',' || p-start > s.maxField {
			break
		}
		spans[n] = span{int32(start - base), int32(p - base)} //nolint:gosec // the longest record is far shorter
		n++
		start = p + 1
		marks &= marks - 1
	}
	s.marks, s.at, s.block = marks, at, block
	s.spans = s.spans[:n]
	return start - base
}

// quoted scans a quoted field after its opening quote at position field, and the mark that ends it.
// It returns the content, with doubled quotes made single, and its end; at the end of the input
// with kindEnd.
func (s *scanner) quoted(field int) (content span, end int, err error) {
	// The scanned content ends at to, with doubled quotes made single; the rest begins at from.
	to, from := field+1, field+1
	for {
		p, err := s.next(field)
		if err != nil {
			if errors.Is(err, kindEnd) {
				err = KindUnterminatedQuote
			}
			return span{}, 0, err
		}
		switch c := s.buf[s.start+p]; {
		case c == '\n':
			s.lines++
			continue
		case c != '"':
			continue
		case p+1-field > s.maxField:
			return span{}, 0, KindFieldTooLong
		}
		c, more := s.peek(p + 1)
		upTo := p
		if c == '"' {
			upTo++
		}
		if to != from {
			copy(s.buf[s.start+to:], s.buf[s.start+from:s.start+upTo])
		}
		to += upTo - from
		if more && c != '"' && c != ',' && c != '\r' && c != '\n' {
			return span{}, 0, KindTextAfterQuote
		}
		from, err = s.next(field)
		if c != '"' {
			return span{int32(field + 1), int32(to)}, from, err //nolint:gosec // the longest record is far shorter
		}
		from++
	}
}

// finish scans the rest of the separator at position end, which may be the end of the input, and
// checks the record.
func (s *scanner) finish(end int) error {
	var err error
	size := end
	s.separated = s.start+end < s.end
	if s.separated {
		if s.buf[s.start+end] == '\n' {
			if s.strict {
				return KindSeparator
			}
		} else if c, more := s.peek(end + 1); more && c != '\n' {
			return KindSeparator
		} else if size, err = s.next(end); errors.Is(err, kindEnd) {
			return KindSeparator
		} else if err != nil {
			return err
		}
		size++
		s.lines++
	}
	switch {
	case end > recordFactor*s.maxField:
		return KindRecordTooLong
	case !s.header && len(s.spans) < cap(s.spans):
		return KindTooFewFields
	case s.wide:
		for i, at := range s.spans {
			if !utf8.Valid(s.buf[s.start:][at.start:at.end]) {
				s.spans = s.spans[:i]
				return KindEncoding
			}
		}
	}
	s.size = size
	return nil
}

// next returns the position of the next mark, in a field that began at position field; at the end
// of the input the end and kindEnd.
func (s *scanner) next(field int) (p int, err error) {
	if s.marks == 0 {
		if err := s.more(field); err != nil {
			return s.end - s.start, err
		}
	}
	p = s.at - s.start + bits.TrailingZeros64(s.marks)
	s.marks &= s.marks - 1
	return p, nil
}

// peek returns the byte at position p, up to which everything was read, or false at the end; then
// next returns the reason.
func (s *scanner) peek(p int) (c byte, ok bool) {
	if s.start+p == s.end && s.fill() != nil {
		return 0, false
	}
	return s.buf[s.start+p], true
}

// more finds the next mark in a field that began at position field. It masks another chunk, and
// reads if necessary. At the end of the input it returns kindEnd.
func (s *scanner) more(field int) error {
	for s.marks == 0 {
		if s.block < s.blocks {
			s.marks = s.masks[s.block]
			s.block++
			s.at += blockSize
			continue
		}
		if s.masked-s.start-field > s.maxField {
			return KindFieldTooLong
		}
		if s.masked == s.end {
			if err := s.fill(); err != nil {
				return err
			}
		}
		chunk := s.buf[s.masked:min(s.end, s.masked+chunkSize)]
		s.at = s.masked - blockSize
		s.masked += len(chunk)
		s.block, s.blocks, s.chunkWide = 0, 0, false
		for len(chunk) > 0 {
			block := chunk
			if len(chunk) < blockSize {
				// Pad with bytes that get no mark.
				const blank = "----------------------------------------------------------------"
				block = []byte(blank)
				copy(block, chunk)
			}
			special, wide := mask((*[blockSize]byte)(block))
			s.masks[s.blocks] = special
			s.blocks++
			s.chunkWide = s.chunkWide || wide
			chunk = chunk[min(len(chunk), blockSize):]
		}
		s.wide = s.wide || s.chunkWide
	}
	return nil
}

// mask returns which bytes of a block are a comma, a double quote or a control character, the first
// byte in the lowest bit, and whether the block has bytes outside ASCII. It handles eight bytes in
// one word: ones puts a value into each byte, low keeps the seven lower bits and high the top bits.
func mask(b *[blockSize]byte) (special uint64, wide bool) {
	const (
		ones = 0x0101010101010101
		low  = 0x7f * ones
		high = 0x80 * ones
	)
	marks := func(w uint64) uint64 {
		// Every sum stays within its byte. Its top bit is off for a byte that gets a mark.
		text := w & low
		comma := text ^ ','*ones + low
		quote := text ^ '"'*ones + low
		control := text + (0x80-0x20)*ones
		// The product gathers the eight top bits in its highest byte.
		return (^(comma&quote&control | w) & high) * 0x0002040810204081 >> 56
	}
	w0 := binary.LittleEndian.Uint64(b[0:8])
	w1 := binary.LittleEndian.Uint64(b[8:16])
	w2 := binary.LittleEndian.Uint64(b[16:24])
	w3 := binary.LittleEndian.Uint64(b[24:32])
	w4 := binary.LittleEndian.Uint64(b[32:40])
	w5 := binary.LittleEndian.Uint64(b[40:48])
	w6 := binary.LittleEndian.Uint64(b[48:56])
	w7 := binary.LittleEndian.Uint64(b[56:64])
	special = marks(w0) | marks(w1)<<8 | marks(w2)<<16 | marks(w3)<<24 |
		marks(w4)<<32 | marks(w5)<<40 | marks(w6)<<48 | marks(w7)<<56
	return special, (w0|w1|w2|w3|w4|w5|w6|w7)&high != 0
}

// fill reads more data after the data of the record.
func (s *scanner) fill() error {
	if s.srcErr != nil {
		return s.srcErr
	}
	if s.start > 0 {
		copy(s.buf, s.buf[s.start:s.end])
		s.offset += int64(s.start)
		s.end -= s.start
		s.masked -= s.start
		s.at -= s.start
		s.start = 0
	}
	if s.end == len(s.buf) {
		limit := recordFactor * s.maxField
		if s.end > limit {
			return KindRecordTooLong
		}
		grown := make([]byte, min(2*len(s.buf), limit+bufferSize))
		copy(grown, s.buf)
		s.buf = grown
	}
	for range maxEmptyReads {
		room := s.buf[s.end:]
		n, err := s.src.Read(room)
		if n < 0 || n > len(room) {
			n, err = 0, errors.New("the source returned an impossible count")
		}
		s.end += n
		// Only io.EOF itself is the end. An error that wraps it means a lost connection, and the
		// report would pass for complete.
		if err == io.EOF { //nolint:errorlint // see above
			err = kindEnd
		}
		s.srcErr = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	s.srcErr = io.ErrNoProgress
	return s.srcErr
}

// skipByteOrderMark skips a byte order mark at the start of the input.
func (s *scanner) skipByteOrderMark() error {
	mark := []byte("\xef\xbb\xbf")
	for s.end < len(mark) {
		if err := s.fill(); err != nil {
			if errors.Is(err, kindEnd) {
				return nil
			}
			return err
		}
	}
	if bytes.HasPrefix(s.buf, mark) {
		s.start, s.masked = len(mark), len(mark)
	}
	return nil
}
