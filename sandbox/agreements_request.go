package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
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
var pointInTimeLimits = map[string]int64{ //nolint:gochecknoglobals // an immutable table
	frequencyAdhoc: 0, "DAIL": 24, "WEEK": 7, "FRTN": 14, "MNTH": 31, "QURT": 3, "MIAN": 6, "YEAR": 12,
}

// readAgreement reads a new agreement. The result is valid only if the call has no findings.
func (b *Sandbox) readAgreement(f *fields) *agreement {
	a := &agreement{created: f.c.now}
	a.respondBy = f.respondBy()
	migrated := f.text("agreementCreationType", oneOf("AUTHORISED", migratedDDR, "")) == migratedDDR
	a.reference = f.read(migrated, "payeeReference", atMost(35))
	a.shop = b.business(f.need("supplierBusinessCode", b.knownBusiness))
	a.purpose = b.readPurpose(f.needObject("paymentDetails"), migrated)
	a.terms = b.readTerms(f.needObject("paymentTerms"))
	a.payer, a.fate = b.readPayer(f.needObject("payerDetails"))
	return a
}

func (f *fields) respondBy() time.Time {
	minutes := int64(mostRespondByMinutes)
	if n := f.integer("respondByTimeMinutes", mostRespondByMinutes); n != nil {
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
	if p.start == "" {
		p.start = calendar.Sydney(f.c.now).Format(time.DateOnly)
	}
	p.end, p.renews = f.readEnd()
	if migrated {
		p.information = f.need("additionalInformation", digits(6, 6)) // the APCA number of the direct debit
	} else {
		p.information = f.text("additionalInformation", atMost(140))
	}
	return p
}

func (b *Sandbox) readPurposeCode(f *fields) string {
	return f.text("purpose", oneOf("MORT", "UTIL", "LOAN", "DEPD", "GAMP", "RETL", "SALA", "PERS", "GOVT", "PENS", "TAXS", "OTHR"))
}

// readEnd reads endDate and automaticRenewal. An agreement has exactly one of them.
func (f *fields) readEnd() (end string, renews bool) {
	end = f.text("endDate", dateForm)
	renews, given := f.flag("automaticRenewal")
	switch {
	case end == "" && !f.has("automaticRenewal"):
		f.refuse("automaticRenewal", "", "or endDate is required")
	case end == "" && given && !renews:
		f.refuse("endDate", "", "is required when automaticRenewal is false")
	case renews && end != "":
		f.refuse("endDate", end, "must be absent when automaticRenewal is true")
	}
	return end, renews
}

func (b *Sandbox) readTerms(f *fields) agreementTerms {
	t := agreementTerms{
		frequency:   f.text("frequency", oneOf(slices.Sorted(maps.Keys(pointInTimeLimits))...)),
		kind:        f.text("agreementType", oneOf(kindBalloon, kindFixed, "USGB", "VARI")),
		permitted:   f.integer("numberOfPaymentsPermitted", 999_999_999_999_999_999),
		pointInTime: f.integer("pointInTime", 99),
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

func (t *agreementTerms) check(f *fields) {
	if t.frequency == frequencyAdhoc && !f.has("numberOfPaymentsPermitted") {
		f.refuse("numberOfPaymentsPermitted", "", "is required for ADHO")
	}
	if n := t.pointInTime; n != nil {
		most, known := pointInTimeLimits[t.frequency]
		if !f.has("frequency") {
			most, known = 99, true
		}
		if known && (*n < 1 || *n > most) { // another frequency is refused already
			f.refuse("pointInTime", fmt.Sprint(*n), fmt.Sprintf("must be 1 to %d, and absent for ADHO", most))
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
		kind:         f.text("payerType", oneOf("ORGN", "PERS")),
		id:           f.text("payerId"),
		name:         f.text("payerName"),
		ultimateName: f.text("ultimatePayerName"),
		reference:    f.text("payerReference"),
		payIDType:    f.text("payIdType", oneOf("EMAL", "TELI", "AUBN", "ORGN")),
	}
	if p.ultimateName == "" {
		p.ultimateName = p.name
	}
	bsb, number := f.text("bsb", digits(6, 6)), f.text("accountNumber", digits(6, 9))
	id := f.text("payId", filled)
	f.pair("bsb", bsb, "accountNumber", number)
	f.pair("payIdType", p.payIDType, "payId", id)
	if strings.EqualFold(id, invalidPayID) || strings.HasPrefix(id, "test_error") {
		f.refuse("payId", "", "is not a registered PayID")
	}
	if number != "" {
		p.maskedAccount = maskedAccount(bsb, number)
	}
	if id != "" {
		p.maskedPayID = maskedNumber(id)
	}
	if p.payIDType == "EMAL" && strings.EqualFold(id, ConfirmingPayID) {
		return p, fate{atOnce: true, silent: true}
	}
	return p, fates[bsb]
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

// needObject opens a required object, which is empty if it is not given.
func (f *fields) needObject(name string) *fields {
	if !f.has(name) {
		f.refuse(name, "", "is required")
	}
	return cmp.Or(f.object(name), &fields{c: f.c, path: f.path + name + ".", asked: make(map[string]bool)})
}

func (f *fields) integer(name string, most int64) *int64 {
	if !f.has(name) {
		return nil
	}
	var n int64
	if json.Unmarshal(f.members[name], &n) != nil || n < 0 || n > most {
		f.refuse(name, "", fmt.Sprintf("must be a whole number from 0 to %d", most))
		return nil
	}
	return &n
}

// money reads an optional amount of an agreement, which is a string.
func (b *Sandbox) money(f *fields, name string) *cents {
	text := f.text(name, filled, moneyText)
	if value, wrong := parseCents(text); wrong == "" {
		return &value
	}
	return nil
}

const memberBilateral = "bilateralAmendment"

// amendAgreement selects the update by updateType. Each update reads all of its members
// before it checks the agreement, so that one answer lists all findings.
func (b *Sandbox) amendAgreement(c *call, a *agreement) answer {
	f := c.readBody()
	updates := map[string]struct {
		member string // with the content
		read   func(*fields, *agreement) (commit func())
	}{
		"RECALL_PAYTO_AGREEMENT": {"recallPayToAgreement", b.recallAgreement}, "STATUS_AMENDMENT": {"statusAmendment", b.amendStatus},
		"UNILATERAL_AMENDMENT": {"unilateralAmendment", b.amendUnilaterally}, "BILATERAL_AMENDMENT": {memberBilateral, b.amendBilaterally},
		"RECALL_BILATERAL_AMENDMENT": {"", b.recallAmendment},
	}
	kind := f.need("updateType", oneOf(slices.Sorted(maps.Keys(updates))...))
	update, known := updates[kind]
	if !known {
		return c.invalid() // the type decides which other members are allowed
	}
	inner := f
	if update.member != "" {
		inner = f.needObject(update.member)
	}
	commit := update.read(inner, a)
	if !c.valid() {
		return c.invalid()
	}
	commit()
	return answer{status: http.StatusNoContent}
}

func (b *Sandbox) recallAgreement(f *fields, a *agreement) func() {
	f.need("statusCode", oneOf(string(agreementCancelled)))
	f.c.needStatus(a, agreementPending)
	return func() { b.recall(a) }
}

func (c *call) needStatus(a *agreement, allowed ...agreementStatus) {
	if slices.Contains(allowed, a.status) {
		return
	}
	c.refuse("status", string(a.status), fmt.Sprint("the agreement must be one of ", allowed))
}

// reasonCodes are the codes with the statuses that they may lead to.
var reasonCodes = map[string][]agreementStatus{ //nolint:gochecknoglobals // an immutable table
	"AC04": {agreementCancelled, agreementSuspended},
	"MD17": {agreementActive, agreementCancelled, agreementSuspended},
	"MD20": {agreementCancelled, agreementSuspended},
	"CTAM": {agreementActive, agreementCancelled, agreementSuspended},
	"CTCA": {agreementCancelled, agreementSuspended},
	"CTEX": {agreementCancelled, agreementSuspended},
	"MCFC": {agreementSuspended},
	"MCOC": {agreementSuspended},
	"MSUC": {agreementSuspended},
	"NOAS": {agreementActive, agreementCancelled, agreementSuspended},
}

func (b *Sandbox) amendStatus(f *fields, a *agreement) func() {
	to := agreementStatus(f.need("statusCode", oneOf(string(agreementActive), string(agreementSuspended), string(agreementCancelled))))
	f.read(to != agreementActive, "reasonCode", func(code string) string {
		allowed, known := reasonCodes[code]
		switch {
		case !known:
			return "is not a reason code"
		case !slices.Contains(allowed, to):
			return "cannot be used when the status becomes " + string(to)
		}
		return ""
	})
	f.text("reasonDescription", atMost(256))
	f.c.needStatus(a, agreementActive, agreementSuspended)
	return func() {
		if a.status != to {
			b.move(a, to, eventAgreementUnknown)
		}
	}
}

// amendUnilaterally changes the agreement without the payer. Members that are left out are removed.
func (b *Sandbox) amendUnilaterally(f *fields, a *agreement) func() {
	description := f.text("description", atMost(140))
	reference := f.text("payeeReference", atMost(35))
	f.need("supplierBusinessCode", func(code string) string {
		if code != a.shop.code {
			return "must be the agreement's"
		}
		return ""
	})
	f.c.needStatus(a, agreementActive, agreementSuspended)
	return func() {
		a.purpose.description, a.reference = description, reference
		b.emitAgreement(eventAgreementUnknown, a)
	}
}

// amendBilaterally asks the payer. The agreement changes when the payer accepts. A part that is left out
// stays as it is. Members that answers have added may be sent back.
func (b *Sandbox) amendBilaterally(f *fields, a *agreement) func() {
	m := &amendment{respondBy: f.respondBy()}
	part := func(name string) *fields {
		inner := f.object(name)
		if inner != nil {
			inner.ignore(addedMember) // answers may have added it
		}
		return inner
	}
	if inner := part("paymentDetails"); inner != nil {
		m.purpose = &agreementPurpose{information: inner.text("additionalInformation", atMost(140))}
		m.purpose.end, m.purpose.renews = inner.readEnd()
	}
	if inner := part("paymentTerms"); inner != nil {
		m.terms = new(b.readTerms(inner))
	}
	if !f.has("paymentDetails") && !f.has("paymentTerms") {
		f.refuse("paymentDetails", "", "paymentDetails or paymentTerms is required")
	}
	f.c.needStatus(a, agreementActive, agreementSuspended)
	if a.amendment != nil {
		f.c.refuse(memberBilateral, "", "another bilateral amendment is pending")
	}
	return func() { b.propose(a, m) }
}

func (b *Sandbox) recallAmendment(f *fields, a *agreement) func() {
	f.c.needStatus(a, agreementActive, agreementSuspended)
	if a.amendment == nil && a.amendable() {
		f.c.refuse("updateType", f.text("updateType"), "no bilateral amendment is pending")
	}
	return func() { b.dropAmendment(a) }
}
