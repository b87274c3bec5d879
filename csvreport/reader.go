package csvreport

import (
	"bytes"
	"errors"
	"io"
	"iter"
)

// Reader reads a report record by record. Its memory does not grow with the
// report. A Reader is not safe for concurrent use.
type Reader struct {
	scan    scanner
	header  *header
	row     Row
	records int64
	err     error // why there are no more, kindEnd for the end
}

// Option changes how [NewReader] reads.
type Option func(*scanner)

// WithStrictSeparators takes the documented form of a report at its word: CR LF
// between records and nothing behind the last one. A report that was cut off right
// behind a separator is then damage. Without this option a line feed alone
// separates records too, and one separator may follow the last record, as in
// files that other programs have saved.
func WithStrictSeparators() Option { return func(s *scanner) { s.strict = true } }

// NewReader reads the header of a report from src. It buffers, so that it may
// read more of src than the header. Closing src, and cancelling what it waits for,
// remain the caller's business; nothing is read twice.
func NewReader(src io.Reader, opts ...Option) (*Reader, error) {
	r := &Reader{scan: scanner{src: src, buf: make([]byte, bufferSize), line: 1, header: true, maxField: maxField}}
	s := &r.scan
	for _, opt := range opts {
		opt(s)
	}
	err := s.skipByteOrderMark()
	if err == nil {
		err = s.record()
	}
	if errors.Is(err, kindEnd) {
		err = KindNoHeader
	}
	if err != nil {
		return nil, r.damage(err, 0)
	}
	r.header = &header{names: make([]string, len(s.spans))}
	r.row.header = r.header
	for i, at := range s.spans {
		r.header.names[i] = string(s.buf[s.start:][at.start:at.end])
	}
	s.header, s.spans = false, make([]span, 0, len(s.spans)) // room for as many in each record
	return r, nil
}

// Rows returns the records behind the header, one by one. The row is borrowed:
// it, and what its Bytes returns, changes with the next one. Damage is yielded
// once, as an *Error without a row, and ends the iteration.
//
// Rows goes on where an earlier iteration was left. After damage there is nothing
// to go on with, and it yields the same error again.
func (r *Reader) Rows() iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		s, row := &r.scan, &r.row
		for r.err == nil {
			if err := s.record(); err != nil {
				r.err = r.damage(err, r.records+1)
				break
			}
			r.records++
			row.data, row.spans = s.buf[s.start:s.end], s.spans
			row.record, row.line, row.offset = r.records, s.line, s.offset+int64(s.start)
			if !yield(row, nil) {
				return
			}
		}
		if !errors.Is(r.err, kindEnd) {
			yield(nil, r.err)
		}
	}
}

// damage describes why there is no such record; kindEnd means that the input has ended.
func (r *Reader) damage(cause error, record int64) error {
	if errors.Is(cause, kindEnd) {
		return cause
	}
	s := &r.scan
	e := &Error{Kind: KindRead, Record: record, Line: s.line, Offset: s.offset + int64(s.start)}
	for _, at := range s.spans {
		e.Line += int64(bytes.Count(s.buf[s.start:][at.start:at.end], []byte{'\n'}))
	}
	kind, ok := cause.(Kind) //nolint:errorlint // the scanner's own, never wrapped
	if !ok {
		e.Err = cause
		return e
	}
	e.Kind = kind
	switch kind {
	case KindNoHeader, KindSeparator, KindRecordTooLong:
	default:
		e.Column = len(s.spans) + 1
	}
	return e
}

// Records returns how many records have been read, without the header.
func (r *Reader) Records() int64 { return r.records }

// InputOffset returns how many bytes of the report have been read as whole
// records with their separators, the header among them: in the end, all.
func (r *Reader) InputOffset() int64 {
	s := &r.scan
	return s.offset + int64(s.start+s.size)
}
