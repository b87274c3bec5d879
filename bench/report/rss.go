package report

import (
	"errors"
	"os"
	"strconv"
	"strings"
)

// PeakRSS returns the most memory that this process has occupied so far, in
// bytes. It asks Linux: what getrusage says there goes back to before exec, and so
// to the process that started this one.
func PeakRSS() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kilobytes, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 64)
			return kilobytes << 10, err
		}
	}
	return 0, errors.New("the system does not tell the peak of memory")
}
