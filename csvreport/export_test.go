package csvreport

// WithBuffer starts with a buffer of n bytes, so that small reports meet what
// large ones do: records that straddle reads, moves and growth.
func WithBuffer(n int) Option { return func(s *settings) { s.buffer = n } }

// Reports whose form only these sizes can change are read in all of them.
const BufferSize = bufferSize
