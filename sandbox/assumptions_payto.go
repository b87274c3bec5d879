package sandbox

import (
	"time"
)

// defaultPayTo sets what payToRows describes.
func (a *Assumptions) defaultPayTo() {
	a.TwoDecimalStrings = true
	a.PastStartRefused = true
	a.OnePayerRoute = true
	a.InvalidPayIDLimit = 3
	a.SameStatusRefused = true
	a.OneAmendmentAtATime = true
	a.TermsEnforced = true
	a.AgreementTerms = "sent"
	a.PayToApprovedAfter = time.Minute
	a.Events = "before"
	a.UnknownEvents = true
	a.WebhookTimeout = 10 * time.Second
	a.RedeliveredBody = "same"
	a.SignatureHeader = "plain"
	a.RedeliverAfter = []time.Duration{5 * time.Second, 30 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour}
}

func (a *Assumptions) payToRows() []assumption {
	return []assumption{
		row("AutoConfirm", &a.AutoConfirm, "vendor's public pages: payers of all but the test BSBs approve; the contract has one PayID that does", "in production nobody confirms by himself"),
		row("MigratedDDRActive", &a.MigratedDDRActive, "MIGRATED_DDR only if active on the facility", "whoever uses it must have arranged it"),
		row("TwoDecimalStrings", &a.TwoDecimalStrings, "decimal strings, for example with two decimals", "10 and 10.5 are amounts as well, for a lenient service"),
		row("PastStartRefused", &a.PastStartRefused, "startDate is the first day on which payments may be initiated", "a date from a template or in another time zone shows"),
		row("OnePayerRoute", &a.OnePayerRoute, "bsb goes with accountNumber and payIdType with payId; whether both pairs may be given is not stated", "which of the two would count is not known"),
		row("InvalidPayIDLimit", &a.InvalidPayIDLimit, "a daily limit exists; no figure", "a limit that a few typing errors reach"),
		row("SameStatusRefused", &a.SameStatusRefused, "nothing", "a change that is sent again after a lost answer gets 422 although it was done"),
		row("OneAmendmentAtATime", &a.OneAmendmentAtATime, "nothing", "an amendment sent again after a lost answer gets 422 although it is pending"),
		row("TermsEnforced", &a.TermsEnforced, "nothing", "a payment that the payer did not agree to is refused"),
		row("AgreementTerms", &a.AgreementTerms, "nothing", "as sent", "filled", "noOffset", "nullAmount"),
		row("PayToSynchronous", &a.PayToSynchronous, "an event tells that a payment was approved; whether the answer may do so is not stated", "code that waits for approval in the answer shows", "true"),
		row("PayToApprovedAfter", &a.PayToApprovedAfter, "nothing", "longer than a caller waits", "15m", "119h"),
		row("Events", &a.Events, "nothing", "an event about an agreement or a payment whose token or receipt the caller does not have yet", "after", "twice", "never"),
		row("UnknownEvents", &a.UnknownEvents, "other kinds of event exist, their names are not public", "closed sets of event types break here first", "false"),
		row("WebhookTimeout", &a.WebhookTimeout, "each request is to be acknowledged immediately", "a receiver that works before it answers is told again"),
		row("RedeliverAfter", &a.RedeliverAfter, "vendor's public pages: handle duplicates; no schedule", "anything but 200 is told again, and some day no more"),
		row("RedeliverySignedAnew", &a.RedeliverySignedAnew, "nothing", "a receiver with a short tolerance refuses for good what it failed on first", "true"),
		row("RedeliveredBody", &a.RedeliveredBody, "nothing", "as made the first time", "reordered", "member", "fresher"),
		row("SignatureHeader", &a.SignatureHeader, "t=<timestamp_ms>,v1=<signature>", "as stated", "blanks", "swapped", "several"),
	}
}
