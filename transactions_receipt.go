package quickstream

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// receiptForm and receiptDigits match receipt numbers. They are narrower than identifiers, because
// the answer is damaged.
var (
	receiptForm   = regexp.MustCompile(`^[A-Za-z0-9._-]{1,255}$`)
	receiptDigits = regexp.MustCompile(`^[0-9]{1,255}$`)
)

// receiptIn returns the receipt number of a success that could not be decoded, from its body or its
// Location. Two different ones count as none. After an attempt without an answer it returns "",
// because the receipt may be another transaction's.
func (c *call) receiptIn(r *transport.Result) string {
	if r.Status < 200 || r.Status > 299 || r.Unanswered {
		return ""
	}
	inBody, located := textIn(r.Body, "receiptNumber"), c.receiptAt(r)
	if inBody != "" && located != "" && inBody != located {
		return ""
	}
	return cmp.Or(inBody, located)
}

// receiptAt returns the receipt number in the Location of a transaction that was created, if that
// is an address of this environment.
func (c *call) receiptAt(r *transport.Result) string {
	if r.Status != http.StatusCreated || c.op.method != http.MethodPost || c.op.route != "/transactions" {
		return ""
	}
	at, err := c.target.Parse(r.Header.Get("Location"))
	if err != nil || at.User != nil || strings.ToLower(at.Hostname()) != c.client.base.Hostname() {
		return ""
	}
	receipt, is := strings.CutPrefix(at.Path, c.target.Path+"/")
	if !is || !receiptForm.MatchString(receipt) {
		return ""
	}
	return receipt
}

// textIn returns a text or the digits of a member of the answer itself, which may be cut off. Two
// different ones count as none.
func textIn(body []byte, name string) string {
	body = wire.ValidUTF8(body)
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	found, depth, named, isName := "", 0, "", false
	for {
		token, err := decoder.Token()
		if err != nil {
			return found
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
			if decoder.InputOffset() == int64(len(body)) {
				return found // its last digits may be missing
			}
			value, form = token.String(), receiptDigits
		}
		if depth != 1 {
			continue
		}
		isName = true
		if named != name || !form.MatchString(value) {
			continue
		}
		if found != "" && found != value {
			return ""
		}
		found = value
	}
}
