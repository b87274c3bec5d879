package main

import (
	"fmt"
	"strings"
)

// report says what needs attention, and counts. It is an error if anything does.
func report(results []result) (string, error) {
	var text strings.Builder
	counts := map[verdict]int{}
	var excepted, failures, untried int
	for _, r := range results {
		if r.err != nil {
			if untried++; untried == 1 {
				fmt.Fprintln(&text, r.line())
			}
			continue
		}
		counts[r.verdict]++
		_, isEquivalent := excuse(r.mutant)
		if r.verdict == survived && isEquivalent {
			excepted++
		}
		if (r.verdict == killed) == isEquivalent || r.verdict == invalid {
			failures++
			fmt.Fprintln(&text, r.line())
		}
	}
	fmt.Fprintf(&text, "%d mutants: %d killed, %d survived (%d of them equivalent), %d do not compile, %d not tried\n",
		len(results), counts[killed], counts[survived], excepted, counts[invalid], untried)
	switch {
	case failures > 0:
		return text.String(), fmt.Errorf("%d mutants need attention", failures)
	case untried > 0:
		return text.String(), fmt.Errorf("%d mutants were not tried", untried)
	}
	return text.String(), nil
}

// line tells about one mutant, with what is known about why.
func (r result) line() string {
	if r.err != nil {
		return fmt.Sprintf("not tried: %s: %v", r.mutant, r.err)
	}
	out := string(r.verdict) + ": " + r.String()
	if r.verdict != survived {
		out += ": " + reason(r.output)
	}
	if why, isEquivalent := excuse(r.mutant); isEquivalent {
		out += " (equivalent: " + why + ")"
	}
	return out
}

// reason is the first line of a failure that says something.
func reason(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "--- FAIL") && !strings.HasPrefix(line, "# ") {
			return line
		}
	}
	return ""
}

// excuse returns why a mutant may survive, if it may.
func excuse(m mutant) (why string, ok bool) {
	for _, e := range equivalents() {
		if e.mutants.MatchString(m.String()) {
			return e.why, true
		}
	}
	return "", false
}
