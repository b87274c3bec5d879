package csvreport

import (
	"bytes"
	"errors"
	"io"
	"iter"
)

// Reader reads a report record by record. Its memory does not grow with the report. It is not safe
// for concurrent use.
type Reader struct {
	scan    scanner
	header  *header
	row     Row
	records int64
	err     error // the reason for the end: damage, or kindEnd
}

// Option configures [NewReader].
type Option func(*scanner)

// WithStrictSeparators accepts only the documented form: CR LF between records and nothing after
// the last. A report that was cut off after a separator is then damage. By default a line feed
// alone separates records too, and one separator may follow the last record, as in files saved by
// other programs.
func WithStrictSeparators() Option { return func(s *scanner) { s.strict = true } }

// NewReader reads the header of a report from src. It buffers, so it may read more of src than the
// header. The caller closes src. The error is an [*Error].
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

// Rows yields the records. The row, and bytes that its Bytes returns, are valid until the next one.
// Damage is yielded once, as an *Error without a row, and ends the iteration. Rows continues where
// an earlier iteration stopped; after damage it yields the same error again.
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

// damage describes the failure; kindEnd means that the input has ended.
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

// InputOffset returns the length of the complete records read so far, in bytes, with the header and
// all separators.
func (r *Reader) InputOffset() int64 {
	s := &r.scan
	return s.offset + int64(s.start+s.size)
}
