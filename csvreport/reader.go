package csvreport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
)

// maxFieldLimit keeps positions in the longest record within 32 bits.
const maxFieldLimit = 64 << 20

// Reader reads a report record by record. Its memory does not grow with the
// report. A Reader is not safe for concurrent use.
type Reader struct {
	scan     scanner
	table    *table
	row      Row
	records  int64
	err      error // why there are no more, kindEnd for the end
	anyBytes bool
}

// Option changes how NewReader reads.
type Option func(*settings)

type settings struct {
	assumptions Assumptions
	report      Report
	maxField    int
	buffer      int
	strict      bool
	anyBytes    bool
}

// WithAssumptions replaces what is assumed about column names and formats; see
// DefaultAssumptions.
func WithAssumptions(a Assumptions) Option { return func(s *settings) { s.assumptions = a } }

// WithReport says which report it is, for a header that does not tell: one that
// was requested with its own choice of columns.
func WithReport(report Report) Option { return func(s *settings) { s.report = report } }

// WithMaxField limits a field to n bytes, counted with its quotes as it stands
// in the report, and a record to 16 times as much. The default is 1 MiB, the
// greatest limit 64 MiB.
func WithMaxField(n int) Option { return func(s *settings) { s.maxField = n } }

// WithStrictSeparators takes the documented form of a report at its word: CR LF
// between records and nothing behind the last one. A report that was cut off right
// behind a separator is then damage. Without this option a line feed alone
// separates records too, and one separator may follow the last record, as in
// files that other programs have saved.
func WithStrictSeparators() Option { return func(s *settings) { s.strict = true } }

// WithAnyBytes lets fields through that are not UTF-8, byte for byte. They are
// damage otherwise.
func WithAnyBytes() Option { return func(s *settings) { s.anyBytes = true } }

// NewReader reads the header of a report from src. It buffers, so that it may
// read more of src than the header. Closing src, and cancelling what it waits for,
// remain the caller's business; nothing is read twice.
func NewReader(src io.Reader, opts ...Option) (*Reader, error) {
	set := settings{assumptions: DefaultAssumptions(), maxField: 1 << 20, buffer: bufferSize}
	for _, opt := range opts {
		opt(&set)
	}
	if set.maxField < 1 || set.maxField > maxFieldLimit {
		return nil, errors.New("csv report: the limit of a field is not between 1 byte and 64 MiB")
	}
	if set.report != "" && !slices.ContainsFunc(set.assumptions.Layouts, func(l Layout) bool { return l.Report == set.report }) {
		return nil, fmt.Errorf("csv report: the assumptions have no layout of %q", string(set.report))
	}
	f, err := newFormats(&set.assumptions)
	if err != nil {
		return nil, err
	}
	r := &Reader{anyBytes: set.anyBytes, scan: scanner{
		src: src, buf: make([]byte, set.buffer), line: 1, maxField: set.maxField, strict: set.strict,
	}}
	names, err := r.header()
	if err != nil {
		return nil, r.damage(err, 0)
	}
	r.table = newTable(names, &set, f)
	r.row.table = r.table
	return r, nil
}

func (r *Reader) header() ([]string, error) {
	s := &r.scan
	err := s.skipByteOrderMark()
	if err == nil {
		err = s.record(true)
	}
	if errors.Is(err, kindEnd) {
		err = KindNoHeader
	}
	if err == nil {
		err = r.checkText()
	}
	if err != nil {
		return nil, err
	}
	names := make([]string, len(s.spans))
	for i, at := range s.spans {
		names[i] = string(s.buf[s.start:][at.start:at.end])
	}
	s.spans = make([]span, 0, len(names)) // has room for as many in each record
	return names, nil
}

// Rows returns the records behind the header, one by one. The row is borrowed:
// it, and what its Bytes returns, changes with the next one. Damage is yielded
// once, as an *Error without a row, and ends the iteration.
//
// Rows goes on where an earlier iteration was left. After damage there is nothing
// to go on with, and it yields the same error again.
func (r *Reader) Rows() iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		for r.advance() {
			if !yield(&r.row, nil) {
				return
			}
		}
		if !errors.Is(r.err, kindEnd) {
			yield(nil, r.err)
		}
	}
}

// advance puts the next record into row. Without one it leaves the reason in err.
func (r *Reader) advance() bool {
	if r.err != nil {
		return false
	}
	s := &r.scan
	err := s.record(false)
	if err == nil && len(s.spans) < cap(s.spans) {
		err = KindShortRecord
	}
	if err == nil {
		err = r.checkText()
	}
	if err != nil {
		if !errors.Is(err, kindEnd) {
			err = r.damage(err, r.records+1)
		}
		r.err = err
		return false
	}
	r.records++
	row := &r.row
	row.data, row.spans = s.buf[s.start:s.end], s.spans
	row.record, row.line, row.offset = r.records, s.line, s.offset+int64(s.start)
	return true
}

func (r *Reader) checkText() error {
	if r.anyBytes {
		return nil
	}
	return r.scan.checkText()
}

// damage describes what record has returned.
func (r *Reader) damage(cause error, record int64) error {
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
	if r.err != nil {
		return s.offset + int64(s.start)
	}
	return s.offset + int64(s.start+s.size)
}
