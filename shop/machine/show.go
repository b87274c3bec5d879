package machine

import (
	"fmt"
	"strings"
	"time"
)

// money shows an amount of cents.
func money(cents int64) string { return fmt.Sprintf("$%d.%02d", cents/100, cents%100) }

func shownTime(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04:05 UTC") }

// lower shows a word of the service, such as ACCOUNT_VERIFICATION, as a text.
func lower(word string) string { return strings.ToLower(strings.ReplaceAll(word, "_", " ")) }
