package quickstream

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// receiptForm and receiptDigits match receipt numbers. They are narrower than identifiers, because
// the answer is damaged.
var (
	receiptForm   = regexp.MustCompile(`^[A-Za-z0-9._-]{1,255}$`)
	receiptDigits = regexp.MustCompile(`^[0-9]{1,255}$`)
)

// receiptIn returns the receipt number of a success that could not be decoded, which may be cut
// off: a text or digits, in a member of the answer itself. Two different ones count as none. After
// an attempt without an answer it returns "", because the receipt may be another transaction's.
func receiptIn(r *transport.Result) string {
	if r.Status < 200 || r.Status > 299 || r.Unanswered {
		return ""
	}
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.UseNumber()
	receipt, depth, named, isName := "", 0, "", false
	for {
		token, err := decoder.Token()
		if err != nil {
			return receipt
		}
		value, form := "", receiptForm
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				depth++
			} else {
				depth--
			}
			isName = depth == 1
			continue
		case string:
			if depth == 1 && isName {
				named, isName = token, false
				continue
			}
			value = token
		case json.Number:
			if decoder.InputOffset() == int64(len(r.Body)) {
				return receipt // its last digits may be missing
			}
			value, form = token.String(), receiptDigits
		}
		if depth != 1 {
			continue
		}
		isName = true
		if named != "receiptNumber" || !form.MatchString(value) {
			continue
		}
		if receipt != "" && receipt != value {
			return ""
		}
		receipt = value
	}
}
