package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
)

const (
	migratedDDR = "MIGRATED_DDR"

	frequencyAdhoc = "ADHO"
	kindBalloon    = "BALN"
	kindFixed      = "FIXE"

	mostRespondByMinutes = 7200
)

// pointInTimeLimits are the largest values of pointInTime by frequency. The smallest is 1.
//
//nolint:gochecknoglobals // an immutable table
var pointInTimeLimits = map[string]int64{
	frequencyAdhoc: 0, "DAIL": 24, "WEEK": 7, "FRTN": 14, "MNTH": 31, "QURT": 3, "MIAN": 6, "YEAR": 12,
}

// readAgreement reads a new agreement. The result is valid only if the call has no findings.
func (b *Sandbox) readAgreement(f *fields) *agreement {
	a := &agreement{created: f.c.now}
	a.respondBy = f.respondBy()
	creation := f.text("agreementCreationType", oneOf("AUTHORISED", migratedDDR, ""))
	migrated := creation == migratedDDR
	if migrated && !b.assume.MigratedDDRActive {
		f.refuse("agreementCreationType", creation, "is not active on this facility")
	}
	readReference := f.text
	if migrated {
		readReference = f.need
	}
	a.reference = readReference("payeeReference", atMost(35))
	a.shop = b.business(f.need("supplierBusinessCode", b.knownBusiness))
	if inner := f.needObject("paymentDetails"); inner != nil {
		a.purpose = b.readPurpose(inner, migrated)
	}
	if inner := f.needObject("paymentTerms"); inner != nil {
		a.terms = b.readTerms(inner)
	}
	if inner := f.needObject("payerDetails"); inner != nil {
		a.payer, a.fate = b.readPayer(inner)
	}
	return a
}

// respondBy reads the time until which the payer can answer.
func (f *fields) respondBy() time.Time {
	minutes := int64(mostRespondByMinutes)
	if n := f.integer("respondByTimeMinutes"); n != nil {
		if *n < 0 || *n > mostRespondByMinutes {
			f.refuse("respondByTimeMinutes", fmt.Sprint(*n), "must be 0 to 7200")
			return f.c.now
		}
		minutes = *n
	}
	return f.c.now.Add(time.Duration(minutes) * time.Minute)
}

func (b *Sandbox) readPurpose(f *fields, migrated bool) agreementPurpose {
	p := agreementPurpose{
		purpose:     b.readPurposeCode(f),
		description: f.text("description", atMost(140)),
		start:       f.text("startDate", dateForm),
	}
	today := calendar.Sydney(f.c.now).Format(time.DateOnly)
	switch {
	case p.start == "":
		p.start = today
	case p.start < today && !migrated && b.assume.PastStartRefused && dateForm(p.start) == "":
		f.refuse("startDate", p.start, "must not be in the past")
	}
	p.end, p.renews = f.readEnd()
	if migrated {
		p.information = f.need("additionalInformation", matching(apcaNumber, "must be the 6-digit APCA number of the direct debit"))
	} else {
		p.information = f.text("additionalInformation", atMost(140))
	}
	return p
}

func (b *Sandbox) readPurposeCode(f *fields) string {
	return b.code(f, "purpose", oneOf("MORT", "UTIL", "LOAN", "DEPD", "GAMP", "RETL", "SALA", "PERS", "GOVT", "PENS", "TAXS", "OTHR"))
}

// code reads one of the codes of an agreement.
func (b *Sandbox) code(f *fields, name string, known check) string {
	if b.assume.AgreementCodesRequired {
		return f.need(name, known)
	}
	return f.text(name, known)
}

// readEnd reads endDate and automaticRenewal. An agreement has exactly one of them.
func (f *fields) readEnd() (end string, renews bool) {
	end = f.text("endDate", dateForm)
	renews, given := f.flag("automaticRenewal")
	switch {
	case !f.has("automaticRenewal"):
		if end == "" {
			f.refuse("automaticRenewal", "", "or endDate is required")
		}
	case !given:
	case !renews && end == "":
		f.refuse("endDate", "", "is required when automaticRenewal is false")
	case renews && end != "":
		f.refuse("endDate", end, "must be absent when automaticRenewal is true")
	}
	return end, renews
}

func (b *Sandbox) readTerms(f *fields) agreementTerms {
	t := agreementTerms{
		frequency:   b.code(f, "frequency", oneOf(slices.Sorted(maps.Keys(pointInTimeLimits))...)),
		kind:        b.code(f, "agreementType", oneOf(kindBalloon, kindFixed, "USGB", "VARI")),
		permitted:   f.integer("numberOfPaymentsPermitted"),
		pointInTime: f.integer("pointInTime"),
		first:       b.money(f, "firstPaymentAmount"),
		last:        b.money(f, "lastPaymentAmount"),
		each:        b.money(f, "paymentAmount"),
		maximum:     b.money(f, "maximumPaymentAmount"),
		firstDue:    f.text("firstPaymentDue", dateForm),
		lastDue:     f.text("lastPaymentDue", dateForm),
	}
	f.text("currency", oneOf("AUD"))
	t.check(f)
	return t
}

// check applies the rules between terms.
func (t *agreementTerms) check(f *fields) {
	switch n := t.permitted; {
	case n == nil && t.frequency == frequencyAdhoc && !f.has("numberOfPaymentsPermitted") && f.c.box.assume.AdhocNumberRequired:
		f.refuse("numberOfPaymentsPermitted", "", "is required for ADHO")
	case n != nil && (*n < 0 || *n > 999_999_999_999_999_999):
		f.refuse("numberOfPaymentsPermitted", fmt.Sprint(*n), "must be a number of at most 18 digits")
	}
	if n := t.pointInTime; n != nil {
		most, known := pointInTimeLimits[t.frequency]
		switch {
		case !known && f.has("frequency"): // already refused
		case !known && (*n < 1 || *n > 99):
			f.refuse("pointInTime", fmt.Sprint(*n), "must have at most two digits")
		case !known:
		case most == 0:
			f.refuse("pointInTime", fmt.Sprint(*n), "must be absent for ADHO")
		case *n < 1 || *n > most:
			f.refuse("pointInTime", fmt.Sprint(*n), fmt.Sprintf("must be 1 to %d for %s", most, t.frequency))
		}
	}
	if t.kind == kindBalloon && !f.has("lastPaymentAmount") {
		f.refuse("lastPaymentAmount", "", "is required for BALN")
	}
}

// readPayer reads the payer and their fate. It keeps only masked forms of the account and the
// PayID.
func (b *Sandbox) readPayer(f *fields) (payer, fate) {
	p := payer{
		kind:         b.code(f, "payerType", oneOf("ORGN", "PERS")),
		id:           f.text("payerId"),
		name:         f.text("payerName"),
		ultimateName: f.text("ultimatePayerName"),
		reference:    f.text("payerReference"),
		payIDType:    f.text("payIdType", oneOf(payIDEmail, payIDPhone, payIDABN, payIDOrganisation)),
	}
	if p.ultimateName == "" {
		p.ultimateName = p.name
	}
	bsb, number := f.text("bsb", digits(6, 6)), f.text("accountNumber", digits(6, 9))
	id := f.text("payId", filled)
	f.pair("bsb", bsb, "accountNumber", number)
	f.pair("payIdType", p.payIDType, "payId", id)
	switch byAccount, byPayID := bsb != "" || number != "", p.payIDType != "" || id != ""; {
	case !byAccount && !byPayID && b.assume.PayerRouteRequired:
		f.refuse("bsb", "", "bsb and accountNumber, or payIdType and payId, are required")
	case byAccount && byPayID && b.assume.OnePayerRoute:
		f.refuse("payIdType", p.payIDType, "must not be given together with bsb and accountNumber")
	}
	if id != "" && p.payIDType != "" {
		b.checkPayID(f, p.payIDType, id)
	}
	if number != "" {
		p.maskedAccount = maskedAccount(bsb, number)
	}
	if id != "" {
		p.maskedPayID = maskedPayID(id)
	}
	return p, fateOf(bsb, p.payIDType, id)
}

// pair refuses one of two members without the other.
func (f *fields) pair(first, one, second, other string) {
	if one != "" && !f.has(second) {
		f.refuse(second, "", "is required when "+first+" is given")
	}
	if other != "" && !f.has(first) {
		f.refuse(first, "", "is required when "+second+" is given")
	}
}

// checkPayID counts attempts with invalid PayIDs. Above the daily limit, valid ones are
// refused too.
func (b *Sandbox) checkPayID(f *fields, kind, id string) {
	switch {
	case !b.payIDsLeft():
		f.refuse("payId", "", "the daily limit of attempts with invalid PayIDs is exceeded")
	case !payIDExists(kind, id):
		b.agreements.invalidPayIDs++
		f.refuse("payId", "", "is not a registered PayID of this type")
	}
}

// maskedPayID shows the last characters of a PayID that is long enough.
func maskedPayID(id string) string {
	shown := ""
	if runes := []rune(id); len(runes) > 8 {
		shown = string(runes[len(runes)-3:])
	}
	return "xxxxxx" + shown
}

var apcaNumber = regexp.MustCompile(`^[0-9]{6}$`)

// needObject opens a required object.
func (f *fields) needObject(name string) *fields {
	if !f.has(name) {
		f.refuse(name, "", "is required")
		return nil
	}
	return f.object(name)
}

// integer reads an optional whole number.
func (f *fields) integer(name string) *int64 {
	if !f.has(name) {
		return nil
	}
	var n int64
	if json.Unmarshal(f.members[name], &n) != nil {
		f.refuse(name, "", "must be a whole number of at most 18 digits")
		return nil
	}
	return &n
}

// money reads an optional amount of an agreement, which is a string.
func (b *Sandbox) money(f *fields, name string) *cents {
	text := f.text(name, filled)
	if text == "" {
		return nil
	}
	value, err := parseCents(text)
	_, decimals, _ := strings.Cut(text, ".")
	switch {
	case err != nil:
		f.refuse(name, text, err.Error())
	case value < 0:
		f.refuse(name, text, "must not be negative")
	case len(decimals) != 2 && b.assume.TwoDecimalStrings:
		f.refuse(name, text, "must have two decimals")
	default:
		return &value
	}
	return nil
}

// payIDsLeft reports whether PayIDs may still be tried today. The caller holds mu.
func (b *Sandbox) payIDsLeft() bool {
	s, limit := &b.agreements, b.assume.InvalidPayIDLimit
	if today := calendar.Sydney(b.clock.Now()).Format(time.DateOnly); s.invalidPayIDDay != today {
		s.invalidPayIDDay, s.invalidPayIDs = today, 0
	}
	return limit <= 0 || s.invalidPayIDs < limit
}
