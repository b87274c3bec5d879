package sandbox

import (
	"net/http"
	"time"
)

// What the public contract leaves open and what is the same in every world: nothing
// that a merchant does depends on it, or the vendor's public pages say it.
const (
	recentLimit         = 20 // as stated; the list is not paginated
	malformedBodyStatus = http.StatusBadRequest
	keyInFlightStatus   = http.StatusConflict
	noCSRFHeaderStatus  = http.StatusForbidden
	tokenQuotaWindow    = time.Minute

	// Printf formats for the last three digits or characters.
	maskedBSB       = "xxx-%s"
	maskedAccountNo = "xxxxxx%s"
	maskedPayID     = "xxxxxx%s"

	erredStatus          = "Declined" // reading status alone would report as failed what may yet succeed
	suspendedSummaryCode = "1"        // and summaryCode alone as declined what may yet be completed
	pendingSummaryCode   = "0"        // or as approved what may yet be declined
	portalCancelCode     = "17"       // customer cancellation
	preauthLifetime      = 5 * 24 * time.Hour

	reportKept       = time.Hour // a report of today does not show what happened since
	reportDateLayout = "02-Jan-2006"
	reportTimeLayout = "02-Jan-2006 15:04:05"

	fileQueuedFor    = time.Minute
	fileProcessedFor = 2 * time.Minute
	fileSource       = "FILE"      // RESTAPI is the only source code known
	scheduleSource   = "RECURRING" //

	keyRenewalOverlap  = time.Hour
	renewedKeyLifetime = 90 * 24 * time.Hour

	payerAnswersAfter  = time.Second // the event is here before the agreement can be read
	delayedCreation    = 30 * time.Minute
	creationRetryAfter = time.Minute

	timestampLayout = "2006-01-02T15:04:05-0700" // of the samples
)
