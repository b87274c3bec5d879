package sandbox

import (
	"net/url"
	"regexp"
	"slices"
)

// testAccounts are the vendor's public test numbers of Australian bank accounts.
//
//nolint:gochecknoglobals // an immutable table
var testAccounts = []string{
	"999994", "123465", "111119", "111111", "111110", "111112", "111114", "111116", "111118", "222223", "111113", "111115",
}

var (
	accountMember = regexp.MustCompile(`("(?:a|nzA)ccountNumber"\s*:\s*"?)([^",}]*)`)
	payIDMember   = regexp.MustCompile(`("payId"\s*:\s*"?)((?:[^"\\]|\\.)*)`)
)

// maskAccounts blanks out account numbers and PayIDs in a body, in place. Like
// maskCards it works on text.
func maskAccounts(body []byte) []byte {
	blank := func(pattern *regexp.Regexp, open []string) {
		for _, at := range pattern.FindAllSubmatchIndex(body, -1) {
			value := body[at[4]:at[5]]
			if slices.Contains(open, string(value)) {
				continue
			}
			for i := range value {
				value[i] = 'x'
			}
		}
	}
	blank(accountMember, testAccounts)
	blank(payIDMember, []string{ConfirmingPayID, InvalidPayID})
	return body
}

// maskQuery is a copy of a query with the account numbers blanked out.
func maskQuery(q url.Values) url.Values {
	out := cloneQuery(q)
	for name, values := range out {
		for i, value := range values {
			if sensitiveField(name) && !slices.Contains(testAccounts, value) {
				values[i] = "xxx"
			}
		}
	}
	return out
}
