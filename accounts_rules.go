package quickstream

import "slices"

// accountRegisterRules are the rules of POST /customers/{customerId}/accounts.
//
//nolint:gochecknoglobals // an immutable table
var accountRegisterRules = slices.Concat(
	[]rule[AccountRegisterParams]{
		{
			"account.source.required", local, "(account)", "exactly one of a single-use token, a receipt number, a card and a bank account is required",
			func(p AccountRegisterParams) bool { return p.from() == newAccount{} },
		},
		{
			"account.walletProvider.none", local, "creditCard.walletProvider", "is for payments only, and so is the cryptogram",
			func(p AccountRegisterParams) bool {
				card := p.from().card
				return card != nil && (card.WalletProvider != "" || !card.Cryptogram.IsZero())
			},
		},
		{
			"account.threeDS2.token", local, "threeDS2", "is for single-use tokens of cards",
			func(p AccountRegisterParams) bool {
				return p.ThreeDS2 != nil && *p.ThreeDS2 && p.from() != newAccount{} && p.from().token == ""
			},
		},
		{"account.token.unused", service, "singleUseTokenId", "must be unused and not older than 10 minutes", nil},
		{"account.receipt.approved", service, "receiptNumber", "must be of a transaction whose account can be kept", nil},
	},
	within("creditCard", cardRules, func(p AccountRegisterParams) (CardDetails, bool) { return deref(p.from().card) }),
	within("bankAccount", bankAccountRules, func(p AccountRegisterParams) (BankAccountDetails, bool) { return deref(p.from().bank) }),
	within("nzBankAccount", nzBankAccountRules, func(p AccountRegisterParams) (NZBankAccountDetails, bool) { return deref(p.from().nzBank) }),
)
