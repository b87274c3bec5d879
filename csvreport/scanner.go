package csvreport

import (
	"errors"
	"io"
	"math/bits"
)

const (
	// chunkSize is how much is masked ahead: few enough bytes that they are still
	// in the fastest cache when the record is put together.
	chunkSize = 64 * blockSize

	// bufferSize is how much is asked of the source at a time.
	bufferSize = 64 << 10

	// recordFactor limits a record, in lengths of the longest field.
	recordFactor = 16

	// maxColumns limits the header.
	maxColumns = 1 << 14

	// maxEmptyReads is how often in a row a source may return nothing.
	maxEmptyReads = 100
)

// kindEnd is the orderly end of the input.
const kindEnd Kind = "end of the report"

// span is a field's place in its record.
type span struct{ start, end uint32 }

func newSpan(start, end int) span {
	return span{uint32(start), uint32(end)} //nolint:gosec // maxFieldLimit keeps positions within 32 bits
}

// scanner finds the fields of one record after the other. It works in two
// steps: more makes masks of the bytes that can mean something, a chunk at a
// time, and record walks over their bits, the marks. A position that outlives a
// call of more is relative to the record, which more may move.
type scanner struct {
	src    io.Reader
	srcErr error // why src has no more, kindEnd for its end

	buf    []byte
	start  int   // of the record in buf
	end    int   // of the data in buf
	masked int   // end of the chunk in buf
	offset int64 // of buf in the input
	line   int64 // on which the record starts

	masks  [chunkSize / blockSize]uint64
	blocks int    // how many masks there are
	block  int    // the next one
	marks  uint64 // what is left of the one before it
	at     int    // where the block of marks begins in buf

	spans []span // the fields of the record
	size  int    // length of the record with its separator
	lines int64  // line feeds in the record

	// wide says that the record may have bytes outside ASCII, chunkWide that the
	// chunk has.
	wide, chunkWide bool

	maxField  int
	strict    bool // about separators
	separated bool // from what follows, as the last record was
}

// peek returns where the next mark is in buf, and -1 at the end of the chunk.
func (s *scanner) peek() int {
	for s.marks == 0 {
		if s.block == s.blocks {
			return -1
		}
		s.marks = s.masks[s.block]
		s.block++
		s.at += blockSize
	}
	return s.at + bits.TrailingZeros64(s.marks)
}

// take removes the mark that peek returned.
func (s *scanner) take() { s.marks &= s.marks - 1 }

// more masks the next chunk, reading if need be, while a field that began at
// position field of the record is incomplete. At the end of the input it returns
// kindEnd.
func (s *scanner) more(field int) error {
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
	blocks, wide := 0, false
	for ; len(chunk) >= blockSize; blocks++ {
		m, w := mask((*[blockSize]byte)(chunk))
		s.masks[blocks] = m
		wide = wide || w
		chunk = chunk[blockSize:]
	}
	if len(chunk) > 0 {
		// The block is filled up with bytes that get no mark.
		const blank = "----------------------------------------------------------------"
		block := [blockSize]byte([]byte(blank))
		copy(block[:], chunk)
		m, w := mask(&block)
		s.masks[blocks] = m
		wide = wide || w
		blocks++
	}
	s.block, s.blocks = 0, blocks
	s.wide, s.chunkWide = s.wide || wide, wide
	return nil
}

// fill reads more data behind what the record has so far.
func (s *scanner) fill() error {
	if s.srcErr != nil {
		return s.srcErr
	}
	if s.start > 0 {
		copy(s.buf, s.buf[s.start:s.end])
		s.offset += int64(s.start)
		s.end -= s.start
		s.masked -= s.start
		s.start = 0
	}
	if s.end == len(s.buf) {
		if s.end > s.maxRecord() {
			return KindRecordTooLong
		}
		grown := make([]byte, min(2*len(s.buf), s.maxRecord()+bufferSize))
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
		// Only io.EOF itself is the end. An error that wraps it tells of a connection
		// that was lost, and the report would pass for whole.
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

func (s *scanner) maxRecord() int { return recordFactor * s.maxField }

// skipByteOrderMark reads the byte order mark that may open the input.
func (s *scanner) skipByteOrderMark() error {
	const mark = "\xef\xbb\xbf"
	for s.end < len(mark) {
		if err := s.fill(); err != nil {
			if errors.Is(err, kindEnd) {
				return nil
			}
			return err
		}
	}
	if string(s.buf[:len(mark)]) == mark {
		s.start, s.masked = len(mark), len(mark)
	}
	return nil
}
