// Package form writes the answers of the service in the forms that the public contract
// leaves open: of times, amounts, references, members without values, errors.
package form

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Format is the form of all answers. Each field is the assumption of the same name.
type Format struct {
	EchoedReferences, TimeForm, DateForm, TextMembers, AmountForm string
	OptionalMembers, InapplicableMembers, EmptyLists, MemberOrder string
	UnknownMembers, AgreementTerms, Metadata                      string
	TransactionAnswers, OtherAnswers, ErrorForm, StatusForm       string
	AgreementTexts                                                string
	ErrorStatusAsString, NullErrorList                            bool
}

// JSON writes a body, which is a struct of plain values.
func (f Format) JSON(body any) []byte {
	raw, err := json.Marshal(body)
	if err != nil { // no body of the sandbox can fail
		return nil
	}
	return appendTree(nil, f.value("", parseTree(raw)))
}

// value returns a value of the JSON tree in the form of the answers: nil for a member
// that is left out.
func (f Format) value(name string, v any) any {
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

func (f Format) object(name string, m members) any {
	f.agreementTerms(m)
	isAmount := len(m) == 3 && m[0].name == "currency" && m[1].name == "amount"
	isTransaction := m.get("receiptNumber") != nil && m.get("transactionType") != nil
	ofMerchant := name == "metadata" || name == "errors" // their names are not the service's
	out := make(members, 0, len(m))
	for _, one := range m {
		switch {
		case ofMerchant:
			one.value = f.metadataText(name, one.value)
		case isAmount && one.name == "currency" && f.AmountForm == "noCurrency",
			isTransaction && f.AmountForm == "absent" && slices.Contains(transactionAmounts, one.name):
			continue
		case isTransaction && f.AmountForm == "principalAsTotal" && one.name == "principalAmount":
			one.value = m.get("totalAmount")
		case isTransaction && one.name == "status":
			one.value = f.status(one.value)
		case isTransaction && f.Metadata == "dropped" && one.name == "metadata":
			one.value = null
		}
		if !ofMerchant {
			one.value = f.value(one.name, one.value)
		}
		if one.value != nil {
			out = append(out, one)
		}
	}
	switch {
	case isAmount && f.AmountForm == "number":
		return m.get("amount")
	case isAmount && f.AmountForm == "text":
		return quoted(string(m.get("amount").(json.RawMessage))) //nolint:forcetypeassert // an amount is a number
	case !ofMerchant:
		out = append(out, unknownMembers(f.UnknownMembers)...)
	}
	if f.MemberOrder == "reversed" {
		slices.Reverse(out)
	}
	return out
}

// status is the status of a transaction; nil is absent.
func (f Format) status(v any) any {
	raw, _ := v.(json.RawMessage)
	text, _ := unquoted(raw)
	word, final := unlisted[strings.TrimSuffix(text, "*")]
	switch {
	case f.StatusForm == "otherCase":
		return quoted(strings.ToUpper(text))
	case f.StatusForm == "unlisted" && final:
		return quoted(word)
	case f.StatusForm == "absent" && final && text != "Voided": // summary code 0 means approved too
		return nil
	default:
		return v
	}
}

// agreementTerms changes the terms of an agreement that is read back.
func (f Format) agreementTerms(agreement members) {
	terms, _ := agreement.get("paymentTerms").(members)
	details, _ := agreement.get("paymentDetails").(members)
	payer, _ := agreement.get("payerDetails").(members)
	switch f.AgreementTexts {
	case "folded":
		details.rewrite(folded, "description", "additionalInformation")
		payer.rewrite(folded, "payerName", "ultimatePayerName")
	case "bankNames":
		payer.rewrite(func(name string) string { return "MS " + strings.ToUpper(name) }, "payerName", "ultimatePayerName")
	}
	switch f.AgreementTerms {
	case "nullAmount":
		terms.set("paymentAmount", null)
	case "filled":
		if frequency, _ := terms.get("frequency").(json.RawMessage); string(frequency) != `"ADHO"` {
			terms.fill("pointInTime", json.RawMessage("1"))
		}
		terms.fill("firstPaymentDue", details.get("startDate"))
		terms.fill("lastPaymentDue", details.get("endDate"))
	}
}

//nolint:gochecknoglobals // immutable tables
var (
	null = json.RawMessage("null")

	// unlisted are other words for the final states.
	unlisted = map[string]string{"Approved": "Settled", "Declined": "Refused", "Voided": "Reversed"}

	transactionAmounts = []string{"principalAmount", "surchargeAmount", "totalAmount"}
	echoed             = []string{"customerReferenceNumber", "paymentReferenceNumber", "endToEndId"}
	times              = []string{"transactionTime", "respondByTime", "timestamp"}
	dates              = []string{
		"settlementDate", "startDate", "endDate", "firstPaymentDue", "lastPaymentDue", "nextPaymentDate", "expiryDate",
	}
	digitTexts = []string{
		"receiptNumber", "originalReceiptNumber", "summaryCode", "responseCode", "expiryDateMonth", "expiryDateYear", "surchargePercentage",
	}
	// applicable are the objects of a transaction that depend on its account.
	applicable = []string{
		"merchantAccount", "directEntryAccount", "nzDirectEntryAccount", "creditCard", "bankAccount", "nzBankAccount",
		"payToData", "payToPayeeAccount", "payToPayerAccount",
	}
	// noTexts are other members that can be null and are not texts.
	noTexts = []string{
		"data", "errors", "metadata", "threeDS2", "address", "businessAddress", "numberOfPaymentsPermitted", "pointInTime",
		"firstPaymentAmount", "lastPaymentAmount", "paymentAmount", "maximumPaymentAmount",
	}
)

func (f Format) noLinks() any {
	switch f.EmptyLists {
	case "null":
		return null
	case "object":
		return members{}
	case "absent":
		return nil
	default:
		return []any{}
	}
}

func (f Format) null(name string) any {
	switch isObject := slices.Contains(applicable, name); {
	case isObject && f.InapplicableMembers == "absent":
		return nil
	case isObject || name == "" || name == "data":
		return null
	case f.OptionalMembers == "absent":
		return nil
	case f.OptionalMembers == "empty" && !slices.Contains(noTexts, name) && !slices.Contains(dates, name):
		return json.RawMessage(`""`)
	default:
		return null
	}
}

func (f Format) scalar(name string, raw json.RawMessage) any {
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
	case slices.Contains(digitTexts, name) && f.TextMembers == "number":
		if number, ok := numberOf(text); ok {
			return number
		}
	}
	return raw
}

func (f Format) reference(text string) any {
	switch f.EchoedReferences {
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

func (f Format) date(text string) any {
	switch f.DateForm {
	case "text":
		return quoted(Date(text, "02 Jan 2006"))
	case "absent":
		return nil
	default:
		return quoted(text)
	}
}

// TimeLayout is the layout of times in the contract's samples.
const TimeLayout = "2006-01-02T15:04:05-0700"

// Date writes a date, given as YYYY-MM-DD, in another layout.
func Date(date, layout string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil { // the sandbox wrote it
		return date
	}
	return day.Format(layout)
}

func (f Format) time(name, text string) any {
	t, err := time.Parse(TimeLayout, text)
	if err != nil { // the sandbox wrote it
		return nil
	}
	form := f.TimeForm
	if name == "respondByTime" && f.AgreementTerms == "noOffset" {
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
		return quoted(t.Format("2006-01-02T15:04:05Z"))
	default:
		return quoted(text)
	}
}

// metadataText is a value of metadata, or of errors by field. It becomes a number only if
// nothing is lost.
func (f Format) metadataText(name string, v any) any {
	raw, _ := v.(json.RawMessage)
	text, isText := unquoted(raw)
	if isText && name == "metadata" {
		text = f.altered(text)
		v = quoted(text)
	}
	if f.TextMembers != "number" || !isText {
		return v
	}
	if number, ok := numberOf(text); ok && string(number) == text {
		return number
	}
	return v
}

func (f Format) altered(text string) string {
	switch f.Metadata {
	case "blank":
		return text + " "
	case "otherCase":
		if upper := strings.ToUpper(text); upper != text {
			return upper
		}
		return strings.ToLower(text)
	case "cut":
		return text[:min(len(text), 16)]
	case "quoted":
		return strconv.Quote(text)
	case "masked":
		shown := max(len(text)-4, 0)
		return strings.Repeat("x", shown) + text[shown:]
	default:
		return text
	}
}

func folded(text string) string { return strings.Join(strings.Fields(text), " ") }

// numberOf returns a text of digits, with or without a decimal point, as a number
// without leading zeros.
func numberOf(text string) (json.RawMessage, bool) {
	whole, fraction, pointed := strings.Cut(text, ".")
	if !isDigits(whole) || pointed && !isDigits(fraction) {
		return nil, false
	}
	number := strings.TrimLeft(whole, "0")
	if number == "" {
		number = "0"
	}
	return json.RawMessage(number + text[len(whole):]), true
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text) // a text can always be written
	return raw
}

func unquoted(raw json.RawMessage) (text string, ok bool) {
	return text, len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil
}

const unknownMember = "addedLater"

// UnknownNames returns the names of the members that UnknownMembers adds.
func UnknownNames() []string { return []string{unknownMember, "AddedLater", "addedlater"} }

func unknownMembers(form string) (added members) {
	switch form {
	case "new":
		return members{{unknownMember, json.RawMessage(`{"values":[null,1.5,"text"]}`)}}
	case "caseVariants":
		for i, name := range UnknownNames() {
			added = append(added, member{name, json.RawMessage(strconv.Itoa(i))})
		}
	case "nested":
		known := `"receiptNumber":"1","status":"Declined","summaryCode":"1","principalAmount":{"amount":1}`
		return members{{unknownMember, json.RawMessage(`{` + known + `,"` + unknownMember + `":[{` + known + `}]}`)}}
	}
	return added
}
