package csvreport

// WithBuffer starts with a buffer of n bytes, so that small reports meet what
// large ones do: records that straddle reads, moves and growth.
func WithBuffer(n int) Option { return func(s *scanner) { s.buf = make([]byte, n) } }

// WithMaxField limits a field to n bytes, so that short ones can be too long.
func WithMaxField(n int) Option { return func(s *scanner) { s.maxField = n } }

// Reports whose form only these sizes can change are read in all of them.
const BufferSize = bufferSize
