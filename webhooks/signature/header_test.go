package signature

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// FuzzParse compares the parser with the grammar written as expressions.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"",
		"t=1707312770123,v1=c46e76422fce898b",
		"t=1707312770123,v0=x,v1=a==,v1=b",
		"v1=a,t=946684800000",
		"t=1707312770123,t=1707312770123,v1=a",
		"t=1707312770,v1=a",
		"t=-1707312770123,v1=a",
		"t=1.707312770e12,v1=a",
		"t=1707312770123, v1=a",
		"\tv1=a , x, =1,\u00e9=1,t=1707312770123 ,",
		"t=1707312770123,v1=a,",
		"t=1707312770123,v1=a,v1",
		"t=1707312770123,v1=a,t",
		"t=1707312770123,v1=",
		"t=1707312770123" + strings.Repeat(",v1=a", maxValues),
		"t=1707312770123" + strings.Repeat(",v1=a", maxValues+1),
		"t=1707312770123,v1=!~",
		"t=1707312770123,v1=" + strings.Repeat("a", maxHeaderLength-len("t=1707312770123,v1=")),
		"t=1707312770123,v1=" + strings.Repeat("a", maxHeaderLength-len("t=1707312770123,v1=")+1),
	} {
		f.Add(seed)
	}
	visible := regexp.MustCompile(`^[!-~]+$`)
	blanks := regexp.MustCompile(`^[ \t]+|[ \t]+$`)
	timestamp := regexp.MustCompile(`^[1-9][0-9]{11,12}$`)

	f.Fuzz(func(t *testing.T, s string) {
		var stamps, values []string
		for element := range strings.SplitSeq(s, ",") {
			element = blanks.ReplaceAllString(element, "")
			if value, ok := strings.CutPrefix(element, "t="); ok || element == "t" {
				stamps = append(stamps, strings.TrimSuffix(value, element))
			}
			if value, ok := strings.CutPrefix(element, "v1="); ok || element == "v1" {
				values = append(values, strings.TrimSuffix(value, element))
			}
		}
		want := len(s) <= maxHeaderLength &&
			len(stamps) == 1 && timestamp.MatchString(stamps[0]) &&
			len(values) >= 1 && len(values) <= maxValues &&
			!slices.ContainsFunc(values, func(v string) bool { return !visible.MatchString(v) })

		// What is left of an earlier header must not show.
		p := parsed{timestamp: "1", ms: 1, values: []string{"left", "over"}}
		if got := p.parse(s); got != want {
			t.Fatalf("parse(%q) = %v, want %v", s, got, want)
		}
		if !want {
			return
		}
		if p.timestamp != stamps[0] || strconv.FormatInt(p.ms, 10) != stamps[0] {
			t.Errorf("parse(%q): t %q, read as %d", s, p.timestamp, p.ms)
		}
		if !slices.Equal(p.values, values) {
			t.Errorf("parse(%q): v1 %q, want %q", s, p.values, values)
		}
	})
}
