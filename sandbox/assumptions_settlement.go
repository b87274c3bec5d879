package sandbox

import (
	"net/http"
	"time"
)

// defaultSettlement sets what settlementRows describes.
func (a *Assumptions) defaultSettlement() {
	a.CutOffHour = 18
	a.SettlementDays = "every"
	a.VoidableTypes = []string{typePayment, typeCapture}
	a.NotVoidableStatus = http.StatusUnprocessableEntity
	a.VoidedSummaryCode = "0"
	a.CaptureLimitFollowsChanges = true
	a.SoftDeclineCodes = []string{"01"}
	a.RetrySchedule = []time.Duration{24 * time.Hour, 48 * time.Hour}
	a.BankReturnAfter = 24 * time.Hour
	a.ReportGeneration = 90 * time.Second
	a.ReportPendingText = true
	a.FileReports = "404"
	a.FileClearance = 3 * 24 * time.Hour
}

func (a *Assumptions) settlementRows() []assumption {
	return []assumption{
		row("CutOffHour", &a.CutOffHour, "vendor's public pages: 18:00 Sydney for cards", "as stated; used for all account types", "16", "20", "22"),
		row("SettlementDays", &a.SettlementDays, "nothing", "weekends and holidays are days like others", "weekdays", "business"),
		row("LateSettlementDate", &a.LateSettlementDate, "nothing", "the next date begins at the cut-off", "true"),
		row("RefundBeforeCutOff", &a.RefundBeforeCutOff, "vendor's public pages: a card payment can be voided until cut-off and refunded after", "a refund on the same day needs a void"),
		row("RefundsIncludeSurcharge", &a.RefundsIncludeSurcharge, "a refund is never above the payment; whether with its surcharge is not stated", "the smaller limit of the two"),
		row("VoidableTypes", &a.VoidableTypes, "vendor's public pages: a card payment can be voided until cut-off", "of other types nothing is known; a capture is the payment of a pre-authorisation"),
		row("NotVoidableStatus", &a.NotVoidableStatus, "only 401 and 404 are listed", "a status that the contract does not list"),
		row("VoidedSummaryCode", &a.VoidedSummaryCode, "the status Voided is known; third parties word summary code 3 as rejected or voided", "reading summaryCode alone would report a voided payment as approved"),
		row("CaptureLimitFollowsChanges", &a.CaptureLimitFollowsChanges, "at most double the pre-authorised amount", "a part that was cancelled cannot be captured twice over"),
		row("SoftDeclineCodes", &a.SoftDeclineCodes, "vendor's public pages mark codes as soft declines; 01 is one", "the only one that is known", "none", "01,05,51,91"),
		row("RetrySchedule", &a.RetrySchedule, "soft declines are retried manually or on a schedule; no figures", "a declined payment can still succeed by itself: look before paying again", "2h,6h"),
		row("BankReturnAfter", &a.BankReturnAfter, "vendor's public pages: the customer's bank may decline for up to 3 banking days", "approved is not final for bank accounts", "0s", "72h"),
		row("ReportGeneration", &a.ReportGeneration, "202 until it is made; ask again after a minute", "longer than the minute"),
		row("ReportPendingText", &a.ReportPendingText, "nothing", "a client that saves the body of any success saves this"),
		row("FileReports", &a.FileReports, "nothing", "404 until complete", "202", "ready"),
		row("FileClearance", &a.FileClearance, "vendor's public pages: bank accounts take up to 5 business days", "a file is not complete on the day it was sent"),
	}
}
