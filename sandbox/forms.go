package sandbox

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// former writes an answer in the form of its world: it goes once through the JSON
// tree of what the sandbox means, and changes how that looks.
type former struct{ assume *Assumptions }

// value returns nil for a member that is left out.
func (f former) value(name string, v any) any {
	switch v := v.(type) {
	case members:
		return f.object(name, v)
	case []any:
		for i := range v {
			v[i] = f.value("", v[i])
		}
		if len(v) == 0 && name == "links" {
			return f.noLinks()
		}
		return v
	case json.RawMessage:
		if string(v) == "null" {
			return f.null(name)
		}
		return f.scalar(name, v)
	default:
		return nil
	}
}

func (f former) object(name string, m members) any {
	isAmount := len(m) == 3 && m[0].name == "currency" && m[1].name == "amount"
	isTransaction := m.get("receiptNumber") != nil && m.get("transactionType") != nil
	merchants := name == "metadata" || name == "errors" // whose names are not the service's
	out := make(members, 0, len(m))
	for _, one := range m {
		switch {
		case merchants:
			one.value = f.merchantsText(one.value)
		case isAmount && one.name == "currency" && f.assume.AmountForm == "noCurrency",
			isTransaction && f.assume.AmountForm == "absent" && slices.Contains(transactionAmounts, one.name):
			continue
		case isTransaction && f.assume.AmountForm == "principalAsTotal" && one.name == "principalAmount":
			one.value = m.get("totalAmount")
		}
		if !merchants {
			one.value = f.value(one.name, one.value)
		}
		if one.value != nil {
			out = append(out, one)
		}
	}
	switch {
	case isAmount && f.assume.AmountForm == "number":
		return m.get("amount")
	case isAmount && f.assume.AmountForm == "text":
		return quoted(string(m.get("amount").(json.RawMessage))) //nolint:forcetypeassert // the sandbox's own amountBody
	case !merchants:
		out = append(out, unknownMembers(f.assume.UnknownMembers)...)
	}
	if f.assume.MemberOrder == "reversed" {
		slices.Reverse(out)
	}
	return out
}

//nolint:gochecknoglobals // immutable tables
var (
	transactionAmounts = []string{"principalAmount", "surchargeAmount", "totalAmount"}
	echoed             = []string{"customerReferenceNumber", "paymentReferenceNumber", "endToEndId"}
	times              = []string{"transactionTime", "respondByTime", "timestamp"}
	dates              = []string{
		"settlementDate", "startDate", "endDate", "firstPaymentDue", "lastPaymentDue", "nextPaymentDate", "expiryDate",
	}
	digitTexts = []string{
		"receiptNumber", "originalReceiptNumber", "summaryCode", "responseCode", "expiryDateMonth", "expiryDateYear", "surchargePercentage",
	}
	// applicable are the objects of which a transaction has those of its kind.
	applicable = []string{
		"merchantAccount", "directEntryAccount", "nzDirectEntryAccount", "creditCard", "bankAccount", "nzBankAccount",
		"payToData", "payToPayeeAccount", "payToPayerAccount",
	}
	// noTexts are further members that can be null and are no texts.
	noTexts = []string{
		"data", "errors", "metadata", "threeDS2", "address", "businessAddress", "numberOfPaymentsPermitted", "pointInTime",
		"firstPaymentAmount", "lastPaymentAmount", "paymentAmount", "maximumPaymentAmount",
	}
)

func (f former) noLinks() any {
	switch f.assume.EmptyLists {
	case "null":
		return json.RawMessage("null")
	case "object":
		return members{}
	case "absent":
		return nil
	default:
		return []any{}
	}
}

func (f former) null(name string) any {
	null := json.RawMessage("null")
	switch isObject := slices.Contains(applicable, name); {
	case isObject && f.assume.InapplicableMembers == "absent":
		return nil
	case isObject || name == "" || name == "data":
		return null
	case f.assume.OptionalMembers == "absent":
		return nil
	case f.assume.OptionalMembers == "empty" && !slices.Contains(noTexts, name) && !slices.Contains(dates, name):
		return json.RawMessage(`""`)
	default:
		return null
	}
}

func (f former) scalar(name string, raw json.RawMessage) any {
	text, isText := unquoted(raw)
	switch {
	case !isText:
		return raw
	case slices.Contains(echoed, name):
		return f.reference(text)
	case slices.Contains(times, name):
		return f.time(name, text)
	case slices.Contains(dates, name):
		return f.date(text)
	case slices.Contains(digitTexts, name) && f.assume.TextMembers == "number":
		if number, ok := numberOf(text); ok {
			return number
		}
	}
	return raw
}

func (f former) reference(text string) any {
	switch f.assume.EchoedReferences {
	case "upper":
		text = strings.ToUpper(text)
	case "lower":
		text = strings.ToLower(text)
	case "trimmed":
		text = strings.TrimSpace(text)
	case "none":
		return nil
	}
	return quoted(text)
}

func (f former) date(text string) any {
	switch f.assume.DateForm {
	case "text":
		return quoted(reformatDate(text, "02 Jan 2006"))
	case "absent":
		return nil
	default:
		return quoted(text)
	}
}

func (f former) time(name, text string) any {
	t, err := time.Parse(timestampLayout, text)
	if err != nil { // it is our own
		return nil
	}
	form := f.assume.TimeForm
	if name == "respondByTime" && f.assume.AgreementTerms == "noOffset" {
		form = "none"
	}
	switch form {
	case "+11:00":
		return quoted(t.Format("2006-01-02T15:04:05-07:00"))
	case "+11":
		return quoted(t.Format("2006-01-02T15:04:05-07"))
	case "Z":
		return quoted(t.UTC().Format("2006-01-02T15:04:05Z"))
	case "none":
		return quoted(t.Format("2006-01-02T15:04:05"))
	case "blank":
		return quoted(t.Format("2006-01-02 15:04:05-0700"))
	case "minutes":
		return quoted(t.Format("2006-01-02T15:04-0700"))
	case "fraction":
		return quoted(t.Format("2006-01-02T15:04:05.000-0700"))
	case "epoch":
		return json.RawMessage(strconv.FormatInt(t.UnixMilli(), 10))
	case "absent":
		return nil
	case "wrong":
		return quoted(t.Format("2006-01-02T15:04:05") + "+0000")
	default:
		return quoted(text)
	}
}

// merchantsText is a value of metadata.
func (f former) merchantsText(v any) any {
	raw, _ := v.(json.RawMessage)
	text, isText := unquoted(raw)
	if f.assume.TextMembers != "number" || !isText {
		return v
	}
	if number, ok := numberOf(text); ok && string(number) == text {
		return number // nothing of what the merchant sent is lost
	}
	return v
}

// numberOf returns a text of digits, or of digits with a point, as a number, which
// has no leading zeros.
func numberOf(text string) (json.RawMessage, bool) {
	whole, fraction, pointed := strings.Cut(text, ".")
	if !allDigits(whole) || pointed && !allDigits(fraction) {
		return nil, false
	}
	number := strings.TrimLeft(whole, "0")
	if number == "" {
		number = "0"
	}
	return json.RawMessage(number + text[len(whole):]), true
}

func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text) // a text can always be written
	return raw
}

func unquoted(raw json.RawMessage) (text string, ok bool) {
	return text, len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil
}

// unknownMember is what the service may add to an object without a new version of
// its interface.
const unknownMember = "addedLater"

// unknownNames are all names that members which nobody knows have.
//
//nolint:gochecknoglobals // an immutable table
var unknownNames = []string{unknownMember, "AddedLater", "addedlater"}

func unknownMembers(form string) (added members) {
	switch form {
	case "new":
		return members{{unknownMember, json.RawMessage(`{"values":[null,1.5,"text"]}`)}}
	case "caseVariants":
		for i, name := range unknownNames {
			added = append(added, member{name, json.RawMessage(strconv.Itoa(i))})
		}
	case "nested":
		known := `"receiptNumber":"1","status":"Declined","summaryCode":"1","principalAmount":{"amount":1}`
		return members{{unknownMember, json.RawMessage(`{` + known + `,"` + unknownMember + `":[{` + known + `}]}`)}}
	}
	return added
}
