// Command rss reads a report of 512 MB in the way that its argument names, borrowed or owned, and
// prints how many megabytes of memory that took at its peak. Command compare runs it.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/quickstream-go/quickstream/internal/bench/report"
)

func main() {
	read := map[string]report.Read{"borrowed": report.Borrowed, "owned": report.Owned}[os.Args[1]]
	generated := report.Generate(512_000_000)
	var t report.Tally
	check(read(generated.Reader(), &t))
	if t.Records != generated.Records {
		check(fmt.Errorf("%d records of %d", t.Records, generated.Records))
	}
	// Linux says it here. What getrusage says goes back to before exec, and so to the parent process.
	status, err := os.ReadFile("/proc/self/status")
	check(err)
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	var kibibytes float64
	_, err = fmt.Sscan(peak, &kibibytes)
	check(err)
	_, err = fmt.Fprintln(os.Stdout, kibibytes*1024/1_000_000)
	check(err)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
