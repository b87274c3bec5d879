package csvreport

import (
	"errors"
	"io"
	"math/bits"
	"unicode/utf8"
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

// record scans the next record into spans, which lie relative to its start. It
// returns kindEnd when there is none, and a Kind or the source's error when the
// record is damaged or incomplete; the fields in spans are then those before the
// damage. Without grow a record has no more fields than spans has room for.
func (s *scanner) record(grow bool) error {
	s.start += s.size
	s.line += s.lines
	s.size, s.lines, s.wide = 0, 0, s.chunkWide
	spans := s.spans[:cap(s.spans)]
	s.spans = spans[:0]
	n, field := 0, 0
	for {
		// Nearly every mark is a comma behind a field without quotes.
		buf, base, start := s.buf, s.start, s.start+field
		marks, at, block := s.marks, s.at, s.block
		p := -1
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
			p = at + bits.TrailingZeros64(marks)
			if buf[p] != ',' || p-start > s.maxField {
				break
			}
			spans[n] = newSpan(start-base, p-base)
			n++
			start = p + 1
			marks &= marks - 1
		}
		s.marks, s.at, s.block = marks, at, block
		field = start - base
		s.spans = spans[:n]

		if field > s.maxRecord() {
			return KindRecordTooLong
		}
		if n == len(spans) { // and a comma that promises another field
			if !grow || n >= maxColumns {
				return KindLongRecord
			}
			spans = append(spans, span{})
			spans = spans[:cap(spans)]
			continue
		}
		if marks == 0 {
			err := s.more(field)
			if err == nil {
				continue
			}
			if !errors.Is(err, kindEnd) {
				return err
			}
			if n == 0 && s.start == s.end {
				if s.strict && s.separated {
					return KindSeparator
				}
				return kindEnd
			}
			end := s.end - s.start
			if end-field > s.maxField {
				return KindFieldTooLong
			}
			spans[n] = newSpan(field, end)
			s.spans = spans[:n+1]
			return s.finish(end)
		}

		end := p - base
		if end-field > s.maxField {
			return KindFieldTooLong
		}
		switch buf[p] {
		case '\r', '\n':
			spans[n] = newSpan(field, end)
			s.spans = spans[:n+1]
			return s.finish(end)
		case '"':
			if end != field {
				return KindBareQuote
			}
			s.take()
			var err error
			if spans[n], end, err = s.quoted(field); err != nil {
				return err
			}
			n++
			s.spans = spans[:n]
			if s.start+end == s.end || s.buf[s.start+end] != ',' {
				return s.finish(end)
			}
			s.take()
			field = end + 1
		default: // a control character that is part of the field
			s.take()
		}
	}
}

// quoted scans a field whose opening quote, at position field, has been taken.
// It returns the place of its content, with doubled quotes made single, and the
// position of what ends it: a comma, a separator or the end of the input.
func (s *scanner) quoted(field int) (content span, end int, err error) {
	// What has been scanned of the content ends at position to, once doubled quotes
	// have been made single; from is where the rest begins.
	to, from := field+1, field+1
	for {
		p := s.peek()
		if p < 0 {
			if err := s.more(field); errors.Is(err, kindEnd) {
				return span{}, 0, KindUnterminatedQuote
			} else if err != nil {
				return span{}, 0, err
			}
			continue
		}
		s.take()
		if s.buf[p] != '"' {
			if s.buf[p] == '\n' {
				s.lines++
			}
			continue
		}
		end = p + 1 - s.start
		if end-field > s.maxField {
			return span{}, 0, KindFieldTooLong
		}
		c, err := s.following(end)
		switch {
		case err != nil && !errors.Is(err, kindEnd):
			return span{}, 0, err
		case err == nil && c == '"':
			to += keep(s.buf[s.start:], to, from, end)
			from = end + 1
			s.take()
		case err == nil && c != ',' && c != '\r' && c != '\n':
			return span{}, 0, KindTextAfterQuote
		default:
			to += keep(s.buf[s.start:], to, from, end-1)
			return newSpan(field+1, to), end, nil
		}
	}
}

// keep moves what lies between from and end down to position to, and returns how
// much that is.
func keep(record []byte, to, from, end int) int {
	if to != from {
		copy(record[to:], record[from:end])
	}
	return end - from
}

// following returns the byte at position p if it has a mark, and 0 if it is
// text. That mark is then the next one. At the end of the input it returns
// kindEnd.
func (s *scanner) following(p int) (byte, error) {
	next := s.peek()
	for next < 0 {
		if s.masked > s.start+p {
			return 0, nil
		}
		if err := s.more(p); err != nil {
			return 0, err
		}
		next = s.peek()
	}
	if next != s.start+p {
		return 0, nil
	}
	return s.buf[next], nil
}

// finish takes the separator at position end, which may be the end of the input,
// and judges the record as a whole.
func (s *scanner) finish(end int) error {
	s.size = end
	s.separated = s.start+end < s.end
	if s.separated {
		if s.buf[s.start+end] == '\r' {
			s.take()
			s.size++
			if c, err := s.following(s.size); err != nil && !errors.Is(err, kindEnd) {
				return err
			} else if c != '\n' {
				return KindSeparator
			}
		} else if s.strict {
			return KindSeparator
		}
		s.take()
		s.size++
		s.lines++
	}
	if end > s.maxRecord() {
		return KindRecordTooLong
	}
	return nil
}

// checkText looks for text that is not UTF-8, and leaves the fields before it in
// spans.
func (s *scanner) checkText() error {
	if !s.wide {
		return nil
	}
	for i, at := range s.spans {
		if !utf8.Valid(s.buf[s.start:][at.start:at.end]) {
			s.spans = s.spans[:i]
			return KindEncoding
		}
	}
	return nil
}
