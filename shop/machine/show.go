package machine

import (
	"fmt"
	"time"
)

// money shows an amount of cents.
func money(cents int64) string { return fmt.Sprintf("$%d.%02d", cents/100, cents%100) }

func shownTime(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04:05 UTC") }
