package sandbox

import (
	"slices"
	"strings"
)

// The values of updateType, and the members with their contents.
const (
	updateRecall          = "RECALL_PAYTO_AGREEMENT"
	updateStatus          = "STATUS_AMENDMENT"
	updateUnilateral      = "UNILATERAL_AMENDMENT"
	updateBilateral       = "BILATERAL_AMENDMENT"
	updateRecallBilateral = "RECALL_BILATERAL_AMENDMENT"

	memberRecall     = "recallPayToAgreement"
	memberStatus     = "statusAmendment"
	memberUnilateral = "unilateralAmendment"
	memberBilateral  = "bilateralAmendment"
)

// amendAgreement selects the update by updateType. Each update reads all of its members
// before it checks the agreement, so that one answer lists all findings.
func (b *Sandbox) amendAgreement(c *call, a *agreement) answer {
	f := c.readBody()
	kind := f.need("updateType", oneOf(updateRecall, updateStatus, updateUnilateral, updateBilateral, updateRecallBilateral))
	var member string
	var update func(*fields, *agreement) (commit func())
	switch kind {
	case updateRecall:
		member, update = memberRecall, b.recallAgreement
	case updateStatus:
		member, update = memberStatus, b.amendStatus
	case updateUnilateral:
		member, update = memberUnilateral, b.amendUnilaterally
	case updateBilateral:
		member, update = memberBilateral, b.amendBilaterally
	case updateRecallBilateral:
		update = b.recallAmendment
	default:
		return c.invalid() // the type decides which other members belong
	}
	inner := f
	if member != "" {
		inner = f.needObject(member)
	}
	for _, other := range []string{memberRecall, memberStatus, memberUnilateral, memberBilateral} {
		if other != member {
			f.forbid("does not belong to updateType "+kind, other)
		}
	}
	if inner == nil {
		return c.invalid()
	}
	commit := update(inner, a)
	if !c.valid() {
		return c.invalid()
	}
	commit()
	return c.amended(b.agreementBody(c, a))
}

func (b *Sandbox) recallAgreement(f *fields, a *agreement) func() {
	f.need("statusCode", oneOf(string(agreementCancelled)))
	f.c.needStatus(a, agreementPending)
	return func() { b.recall(a) }
}

// needStatus checks the agreement's status before an update.
func (c *call) needStatus(a *agreement, allowed ...agreementStatus) {
	if slices.Contains(allowed, a.status) {
		return
	}
	c.refuse("status", string(a.status), "the agreement must be "+listed(allowed))
}

func listed(states []agreementStatus) string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = string(s)
	}
	return strings.Join(names, " or ")
}

// reasonCodes are the codes with the statuses that they may lead to.
//
//nolint:gochecknoglobals // an immutable table
var reasonCodes = map[string][]agreementStatus{
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
	readReason := f.need
	if to == agreementActive {
		readReason = f.text
	}
	readReason("reasonCode", func(code string) string {
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
	if a.status == to && b.assume.SameStatusRefused {
		f.refuse("statusCode", string(to), "is the status already")
	}
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
		b.emit(eventAgreementUnknown, b.agreementBody(b.background(), a))
	}
}

// amendBilaterally asks the payer. The agreement changes only with the payer's answer.
// A part that is left out stays as it is. Members that answers have added may be sent back:
// otherwise the amendment would remove them.
func (b *Sandbox) amendBilaterally(f *fields, a *agreement) func() {
	m := &amendment{respondBy: f.respondBy()}
	part := func(name string) *fields {
		inner := f.object(name)
		if inner != nil {
			inner.ignoreAdded()
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
	if a.amendment != nil && b.assume.OneAmendmentAtATime {
		f.c.refuse(memberBilateral, "", "another bilateral amendment is pending")
	}
	return func() { b.propose(a, m) }
}

func (b *Sandbox) recallAmendment(f *fields, a *agreement) func() {
	f.c.needStatus(a, agreementActive, agreementSuspended)
	if a.amendment == nil && a.amendable() {
		f.c.refuse("updateType", updateRecallBilateral, "no bilateral amendment is pending")
	}
	return func() { b.dropAmendment(a) }
}
