package sandbox

import (
	"net/http"
	"time"
)

// defaultFollowUps sets what followUpRows describes.
func (a *Assumptions) defaultFollowUps() {
	a.NotFoundByFilter = true
	a.FollowUpsKeepBusiness = true
	a.VoidableTypes = []string{typePayment, typeCapture}
	a.NotVoidableStatus = http.StatusUnprocessableEntity
	a.VoidedSummaryCode = "0"
	a.PreauthLifetime = 5 * 24 * time.Hour
	a.CaptureLimitFollowsChanges = true
	a.PortalCancelCode = "17"
	a.SoftDeclineCodes = []string{"01"}
	a.RetrySchedule = []time.Duration{24 * time.Hour, 48 * time.Hour}

	a.ThreeDSFlagRequired = true
	a.ThreeDSBindsUse = true
	a.AccountCreatedStatus = http.StatusCreated

	a.ReportGeneration = 90 * time.Second
	a.ReportKept = time.Hour
	a.ReportPendingText = true
	a.ReportDateLayout = "02-Jan-2006"
	a.ReportTimeLayout = "02-Jan-2006 15:04:05"
	a.UploadedStatus = http.StatusCreated
	a.NoCSRFHeaderStatus = http.StatusForbidden
	a.FileQueued = time.Minute
	a.FileProcessing = 2 * time.Minute
	a.FileClearance = 3 * 24 * time.Hour
	a.FileSource = "FILE"
	a.ScheduleSource = "RECURRING"
	a.KeyRenewalOverlap = time.Hour
	a.RenewedKeyLifetime = 90 * 24 * time.Hour
}

// followUpRows describe the assumptions about what follows a payment, and about
// the resources beside transactions.
func (a Assumptions) followUpRows(row func(name string, value any, known, why string) Assumption) []Assumption {
	return []Assumption{
		row("NotFoundByFilter", a.NotFoundByFilter, "404 is listed for both look-ups, its cause is not", "404 and an empty list both mean that there is nothing yet"),
		row("FollowUpsKeepBusiness", a.FollowUpsKeepBusiness, "the code is required for payments and pre-authorisations only", "a refund through another business is a mistake"),
		row("RefundsIncludeSurcharge", a.RefundsIncludeSurcharge, "a refund is never above the payment; whether with its surcharge is not stated", "the smaller limit of the two"),
		row("VoidableTypes", a.VoidableTypes, "vendor's public pages: a card payment can be voided until cut-off", "of other types nothing is known; a capture is the payment of a pre-authorisation"),
		row("NotVoidableStatus", a.NotVoidableStatus, "only 401 and 404 are listed", "a status that the contract does not list"),
		row("VoidedSummaryCode", a.VoidedSummaryCode, "the status Voided is known; third parties word summary code 3 as rejected or voided", "reading summaryCode alone would report a voided payment as approved"),
		row("PreauthLifetime", a.PreauthLifetime, "pre-authorisations expire; no figure", "shorter than the week that many count on"),
		row("CaptureLimitFollowsChanges", a.CaptureLimitFollowsChanges, "at most double the pre-authorised amount", "a part that was cancelled cannot be captured twice over"),
		row("PortalCancelCode", a.PortalCancelCode, "suspended transactions are completed or cancelled in the portal", "customer cancellation is a decline like others"),
		row("SoftDeclineCodes", a.SoftDeclineCodes, "vendor's public pages mark codes as soft declines; 01 is one", "the only one that is known"),
		row("RetrySchedule", a.RetrySchedule, "soft declines are retried manually or on a schedule; no figures", "a declined payment can still succeed by itself: look before paying again"),
		row("ThreeDSFlagRequired", a.ThreeDSFlagRequired, "an authenticated token is used with threeDS2=true; what happens without is not stated", "an authentication that is not declared protects nobody"),
		row("ThreeDSBindsUse", a.ThreeDSBindsUse, "an authentication names a use and an amount", "another amount was not authenticated"),
		row("BillingAddressMembers", a.BillingAddressMembers, "the billing address is required for payments; which members is not stated", "what the contract does not forbid is taken"),
		row("AccountCreatedStatus", a.AccountCreatedStatus, "public client code accepts 200, 201 and 204", "clients that want 200 show"),
		row("NewAccountIsDefault", a.NewAccountIsDefault, "the default account is used when only the customer is named", "the payer's new card is not the one that is charged"),

		row("ReportGeneration", a.ReportGeneration, "202 until it is made; ask again after a minute", "longer than the minute"),
		row("ReportKept", a.ReportKept, "nothing", "a report of today does not show what happened since it was made"),
		row("ReportPendingText", a.ReportPendingText, "nothing", "a client that saves the body of any success saves this"),
		row("ReportDateLayout", a.ReportDateLayout, "a related report has 20-Jun-2012", "not the form of the interface"),
		row("ReportTimeLayout", a.ReportTimeLayout, "nothing", "without an offset"),

		row("UploadedStatus", a.UploadedStatus, "public client code accepts 200, 201 and 204", "clients that want 200 show"),
		row("NoCSRFHeaderStatus", a.NoCSRFHeaderStatus, "vendor's public pages: the header is required", "a status that the contract does not list"),
		row("FileQueued", a.FileQueued, "vendor's public pages: wait a minute, ask again", "as advised"),
		row("FileProcessing", a.FileProcessing, "vendor's public pages: big files take longer", "longer than the advised wait"),
		row("FileClearance", a.FileClearance, "vendor's public pages: bank accounts take up to 5 business days", "a file is not complete on the day it was sent"),
		row("FileSource", a.FileSource, "RESTAPI is the only source code known", "a transaction of the facility that no caller made"),
		row("ScheduleSource", a.ScheduleSource, "RESTAPI is the only source code known", "a transaction of the facility that no caller made"),
		row("KeyRenewalOverlap", a.KeyRenewalOverlap, "public client code renews a Secret key with the one it has", "an old key that is kept in a cache stops working within the day"),
		row("RenewedKeyLifetime", a.RenewedKeyLifetime, "public client code reads an expiry date", "keys do expire"),
		row("AllowedOrigins", a.AllowedOrigins, "vendor's public pages: cross-origin calls by browsers are not supported", "as stated"),
	}
}
