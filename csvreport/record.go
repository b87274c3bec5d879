package csvreport

import (
	"errors"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// record scans the next record into spans, which lie relative to its start. It
// returns kindEnd when there is none, and a Kind or the source's error when the
// record is damaged or incomplete; the fields in spans are then those before the
// damage. Without grow a record has no more fields than spans has room for.
func (s *scanner) record(grow bool) error {
	s.start += s.size
	s.line += s.lines
	s.size, s.lines, s.wide = 0, 0, s.chunkWide
	s.spans = s.spans[:0]
	for field := 0; ; {
		var p int
		p, field = s.plain(field)
		if field > s.maxRecord() {
			return KindRecordTooLong
		}
		if len(s.spans) == cap(s.spans) { // and a comma that promises another field
			if !grow || len(s.spans) >= maxColumns {
				return KindLongRecord
			}
			s.spans = slices.Grow(s.spans, 1)
			continue
		}
		if p < 0 {
			if err := s.more(field); errors.Is(err, kindEnd) {
				return s.last(field)
			} else if err != nil {
				return err
			}
			continue
		}

		end := p - s.start
		if end-field > s.maxField {
			return KindFieldTooLong
		}
		switch s.buf[p] {
		case '\r', '\n':
			s.add(newSpan(field, end))
			return s.finish(end)
		case '"':
			if end != field {
				return KindBareQuote
			}
			s.take()
			content, end, err := s.quoted(field)
			if err != nil {
				return err
			}
			s.add(content)
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

// plain takes fields without quotes that end with a comma, as nearly all do, while
// spans has room, beginning at position field. It returns where in buf the mark is
// that is no such comma, or is too far away, with -1 at the end of the chunk, and
// the position of the field that is left.
func (s *scanner) plain(field int) (p, rest int) {
	spans := s.spans[:cap(s.spans)]
	n, buf, base, start := len(s.spans), s.buf, s.start, s.start+field
	marks, at, block := s.marks, s.at, s.block
	for n < len(spans) {
		if marks == 0 {
			if block == s.blocks {
				p = -1
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
	s.spans = s.spans[:n]
	return p, start - base
}

// add takes a field for which spans has room. This is faster than append.
func (s *scanner) add(field span) {
	n := len(s.spans)
	s.spans = s.spans[:n+1]
	s.spans[n] = field
}

// last ends the record at the end of the input, unless nothing begins there.
func (s *scanner) last(field int) error {
	if len(s.spans) == 0 && s.start == s.end {
		if s.strict && s.separated {
			return KindSeparator
		}
		return kindEnd
	}
	end := s.end - s.start
	if end-field > s.maxField {
		return KindFieldTooLong
	}
	s.add(newSpan(field, end))
	return s.finish(end)
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
