package quickstream

import (
	"regexp"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// receiptMember finds the receipt number, a text or a number, in a body that need not
// be whole.
var receiptMember = regexp.MustCompile(`"receiptNumber"\s*:\s*(?:"([A-Za-z0-9._-]{1,255})"|([0-9]{1,255})\s*[,}])`)

// receiptIn returns the receipt number of a success that could not be decoded.
// Two different ones are none: the body cannot be relied on at all. So is one that
// comes after an attempt without an answer: it may be another transaction's.
func receiptIn(r *transport.Result) string {
	if r.Status < 200 || r.Status > 299 || r.Unanswered {
		return ""
	}
	receipt := ""
	for _, match := range receiptMember.FindAllSubmatch(r.Body, 2) {
		found := string(match[1]) + string(match[2])
		if receipt != "" && receipt != found {
			return ""
		}
		receipt = found
	}
	return receipt
}
