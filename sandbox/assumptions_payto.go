package sandbox

import "time"

// defaultPayTo sets what payToRows describes.
func (a *Assumptions) defaultPayTo() {
	a.AgreementLookupLag = 2 * time.Second
	a.AgreementsPaginated = true
	a.PayerAnswersAfter = time.Second
	a.DelayedCreation = 30 * time.Minute
	a.CreationRetryAfter = time.Minute
	a.TwoDecimalStrings = true
	a.InvalidPayIDLimit = 3
	a.MaskedPayID = "xxxxxx%s"
	a.SameStatusRefused = true
	a.OneAmendmentAtATime = true
	a.TermsEnforced = true
	a.PayToApprovedAfter = time.Minute
	a.PendingSummaryCode = "0"
	a.EventsBeforeAnswer = true
	a.UnknownEvents = true
	a.WebhookTimeout = 10 * time.Second
	a.RedeliverAfter = []time.Duration{5 * time.Second, 30 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour}
}

// payToRows describes what is assumed about PayTo and webhooks.
func (a Assumptions) payToRows(row func(name string, value any, known, why string) Assumption) []Assumption {
	return []Assumption{
		row("AgreementLookupLag", a.AgreementLookupLag, "nothing", "an agreement that cannot be found yet may exist all the same"),
		row("AgreementsPaginated", a.AgreementsPaginated, "the list is not marked as paginated; others are", "a reader of the first page only misses agreements"),
		row("AutoConfirm", a.AutoConfirm, "vendor's public pages: payers of all but the test BSBs approve; the contract has one PayID that does", "in production nobody confirms by himself"),
		row("PayerAnswersAfter", a.PayerAnswersAfter, "nothing", "the event is here before the agreement can be read"),
		row("DelayedCreation", a.DelayedCreation, "vendor's public pages: about 30 minutes", "as stated"),
		row("CreationRetryAfter", a.CreationRetryAfter, "vendor's public pages: retried automatically; no figure", "the answer to the creation is CREATED"),
		row("MigratedDDRActive", a.MigratedDDRActive, "MIGRATED_DDR only if active on the facility", "whoever uses it must have arranged it"),
		row("TwoDecimalStrings", a.TwoDecimalStrings, "decimal strings, for example with two decimals", "10 and 10.5 are amounts as well, for a lenient service"),
		row("PastStartRefused", a.PastStartRefused, "startDate is the first day on which payments may be initiated", "what the contract does not forbid is taken"),
		row("OnePayerRoute", a.OnePayerRoute, "bsb goes with accountNumber and payIdType with payId; whether both pairs may be given is not stated", "what the contract does not forbid is taken"),
		row("InvalidPayIDLimit", a.InvalidPayIDLimit, "a daily limit exists; no figure", "a limit that a few typing errors reach"),
		row("MaskedPayID", a.MaskedPayID, "masked, form not stated", "cannot be sent as a PayID"),
		row("SameStatusRefused", a.SameStatusRefused, "nothing", "a change that is sent again after a lost answer gets 422 although it was done"),
		row("OneAmendmentAtATime", a.OneAmendmentAtATime, "nothing", "an amendment sent again after a lost answer gets 422 although it is pending"),
		row("TermsEnforced", a.TermsEnforced, "nothing", "a payment that the payer did not agree to is refused"),
		row("EndToEndIDLength", a.EndToEndIDLength, "nothing; ISO 20022 has 35 characters", "what the contract does not forbid is taken"),
		row("PayToSynchronous", a.PayToSynchronous, "an event tells that a payment was approved; whether the answer may do so is not stated", "code that waits for approval in the answer shows"),
		row("PayToApprovedAfter", a.PayToApprovedAfter, "nothing", "longer than a caller waits"),
		row("PendingSummaryCode", a.PendingSummaryCode, "the status Pending is known from public client code, its summaryCode is not", "reading summaryCode alone would report a payment as approved that may yet be declined"),
		row("EventsBeforeAnswer", a.EventsBeforeAnswer, "nothing", "an event about an agreement or a payment whose token or receipt the caller does not have yet"),
		row("UnknownEvents", a.UnknownEvents, "other kinds of event exist, their names are not public", "closed sets of event types break here first"),
		row("WebhookTimeout", a.WebhookTimeout, "each request is to be acknowledged immediately", "a receiver that works before it answers is told again"),
		row("RedeliverAfter", a.RedeliverAfter, "vendor's public pages: handle duplicates; no schedule", "anything but 200 is told again, and some day no more"),
	}
}
