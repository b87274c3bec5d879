package sandbox

import (
	"net/http"
	"time"
)

// defaultRequests sets what requestsRows describes.
func (a *Assumptions) defaultRequests() {
	a.KeyLifetime = 5 * time.Minute
	a.KeyMismatch = "422"
	a.ReplayedStatuses = []int{http.StatusOK, http.StatusCreated, http.StatusNoContent, http.StatusUnprocessableEntity}
	a.UnavailableSpendsKey = true
	a.RefuseUnknownMembers = true
	a.TokenQuota = 100
	a.DeclineConsumesToken = true
	a.DisabledCustomers = "register"
	a.ThreeDSFlagRequired = true
	a.ThreeDSBindsUse = true
	a.LatestKey = "new"
}

func (a *Assumptions) requestsRows() []assumption {
	return []assumption{
		row("KeyLifetime", &a.KeyLifetime, "vendor's public pages: resend with the same key after a network error; for how long is not stated", "a resend after a pause is not safe for ever", "24h", "2m", "0s"),
		row("KeyMismatch", &a.KeyMismatch, "nothing", "a key stands for one request", "409", "replay"),
		row("ReplayHeader", &a.ReplayHeader, "nothing", "a replay cannot be told from a first answer"),
		row("ReplayedStatuses", &a.ReplayedStatuses, "nothing", "a refused request burns its key: the corrected one needs another"),
		row("UnavailableSpendsKey", &a.UnavailableSpendsKey, "vendor's public pages: after 503 use a new key", "the old key never works again"),
		row("RefuseUnknownMembers", &a.RefuseUnknownMembers, "nothing", "finds misspelt members, which a lenient service would silently drop"),
		row("TokenQuota", &a.TokenQuota, "429 exists, no figure", "a limit that a loop reaches"),
		row("QuotaRetryAfter", &a.QuotaRetryAfter, "nothing", "the client must choose its own wait"),
		row("DeclineConsumesToken", &a.DeclineConsumesToken, "a token is used once to take a payment", "a second try needs a new token"),
		row("HyphenatedBSB", &a.HyphenatedBSB, "bank-state-branch, form not stated; the public test BSBs are printed with a hyphen, PayTo wants six digits", "what the contract does not forbid is taken", "true"),
		row("PutRemovesOmitted", &a.PutRemovesOmitted, "public client code sends only enabled to change the status", "that call must work"),
		row("NewAccountIsDefault", &a.NewAccountIsDefault, "the default account is used when only the customer is named", "the payer's new card is not the one that is charged"),
		row("DisabledCustomers", &a.DisabledCustomers, "nothing", "accounts can be kept for later", "pay", "all", "nothing"),
		row("ThreeDSFlagRequired", &a.ThreeDSFlagRequired, "an authenticated token is used with threeDS2=true; what happens without is not stated", "an authentication that is not declared protects nobody"),
		row("ThreeDSBindsUse", &a.ThreeDSBindsUse, "an authentication names a use and an amount", "another amount was not authenticated"),
		row("LatestKey", &a.LatestKey, "public client code renews a Secret key with the one it has", "an old key that is kept in a cache stops working", "latest"),
		row("AllowedOrigins", &a.AllowedOrigins, "vendor's public pages: cross-origin calls by browsers are not supported", "as stated"),
	}
}
