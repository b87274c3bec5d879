package quickstream

import (
	"slices"
	"strconv"
)

// singleUseTokenRules are the rules of POST /single-use-tokens.
//
//nolint:gochecknoglobals // an immutable table
var singleUseTokenRules = slices.Concat(
	[]rule[SingleUseTokenParams]{
		{
			"token.supplierBusinessCode.required", local, "supplierBusinessCode", "is required",
			func(p SingleUseTokenParams) bool { return p.SupplierBusinessCode == "" },
		},
		{
			"token.account.required", local, "accountType", "an account is required: a value of CardDetails, BankAccountDetails or NZBankAccountDetails",
			func(p SingleUseTokenParams) bool {
				switch p.Account.(type) {
				case CardDetails, BankAccountDetails, NZBankAccountDetails:
					return false
				}
				return true // a pointer to one of them is a TokenAccount too, and may be nil
			},
		},
		{
			"token.threeDS2.card", local, "threeDS2", "is for cards only",
			func(p SingleUseTokenParams) bool {
				switch p.Account.(type) {
				case BankAccountDetails, NZBankAccountDetails:
					return p.ThreeDS != nil
				}
				return false
			},
		},
		{
			"token.walletProvider.none", local, "walletProvider", "is for payments only, and so is the cryptogram",
			func(p SingleUseTokenParams) bool {
				card, ok := p.Account.(CardDetails)
				return ok && (card.WalletProvider != "" || !card.Cryptogram.IsZero())
			},
		},
		{"token.quota", service, "(account)", "the facility's quota of tokens must not be used up", nil},
	},
	within("", cardRules, accountOf[CardDetails]),
	within("", bankAccountRules, accountOf[BankAccountDetails]),
	within("", nzBankAccountRules, accountOf[NZBankAccountDetails]),
	within("browserProfile", browserProfileRules, func(p SingleUseTokenParams) (BrowserProfile, bool) {
		if p.ThreeDS == nil {
			return BrowserProfile{}, false
		}
		return *p.ThreeDS, true
	}),
)

func accountOf[A TokenAccount](p SingleUseTokenParams) (A, bool) {
	account, ok := p.Account.(A)
	return account, ok
}

//nolint:gochecknoglobals // an immutable table
var browserProfileRules = []rule[BrowserProfile]{
	{
		"browserProfile.browserLanguage", local, "browserLanguage", "must be a language tag of 1 to 8 characters",
		func(b BrowserProfile) bool { return lengthOutside(b.Language, 1, 8) },
	},
	{
		"browserProfile.browserScreenHeight", local, "browserScreenHeight", "must be a number of 1 to 6 digits",
		func(b BrowserProfile) bool { return b.ScreenHeight < 1 || b.ScreenHeight > 999999 },
	},
	{
		"browserProfile.browserScreenWidth", local, "browserScreenWidth", "must be a number of 1 to 6 digits",
		func(b BrowserProfile) bool { return b.ScreenWidth < 1 || b.ScreenWidth > 999999 },
	},
	{
		"browserProfile.browserColorDepth", local, "browserColorDepth", "must be one of 1, 4, 8, 15, 16, 24, 32 and 48",
		func(b BrowserProfile) bool {
			switch b.ColorDepth {
			case 1, 4, 8, 15, 16, 24, 32, 48:
				return false
			}
			return true
		},
	},
	{
		"browserProfile.browserTZ", local, "browserTZ", "must be an offset in minutes of at most 5 characters",
		func(b BrowserProfile) bool { return len(strconv.Itoa(b.TZ)) > 5 },
	},
}
