package sandbox

import (
	"slices"
	"strings"
)

// source is the account of a transaction, which is known to exist.
type source struct {
	instrument
	account *account
	token   *token
	payTo   *payToDetails
}

// The members that name a source.
const (
	sourceToken    = "singleUseTokenId"
	sourceCustomer = "customerId"
	sourceAccount  = "accountToken"
	sourceCard     = "creditCard"
	sourceBank     = "bankAccount"
	sourceNZBank   = "nzBankAccount"
	sourcePayTo    = "payToData"
)

//nolint:gochecknoglobals // an immutable table
var allSources = []string{sourceToken, sourceCustomer, sourceAccount, sourceCard, sourceBank, sourceNZBank, sourcePayTo}

// readSource reads the one source of a request, of those that its type allows. It returns nil
// if there is none that can be used.
func (b *Sandbox) readSource(f *fields, eci string, allowed ...string) *source {
	for _, name := range allSources {
		if !slices.Contains(allowed, name) {
			f.forbid("is not a source for this transactionType", name)
		}
	}
	switch name := f.onlyOne(allowed...); name {
	case "":
		return nil
	case sourceToken:
		return b.tokenSource(f)
	case sourceCustomer:
		return b.customerSource(f)
	case sourceAccount:
		return b.accountSource(f)
	case sourcePayTo:
		return b.payToSource(f)
	default:
		return b.detailsSource(f, name, eci == eciInternet)
	}
}

// onlyOne returns the member that is given if it is the only one; otherwise "".
func (f *fields) onlyOne(allowed ...string) string {
	given := slices.DeleteFunc(slices.Clone(allowed), func(name string) bool { return !f.has(name) })
	if len(given) == 1 {
		return given[0]
	}
	f.refuse(append(given, allowed[0])[0], "", "exactly one of "+strings.Join(allowed, ", ")+" must be given")
	return ""
}

// detailsSource reads an account that is given in full.
func (b *Sandbox) detailsSource(f *fields, name string, cvnRequired bool) *source {
	inner := f.object(name)
	if inner == nil {
		return nil
	}
	var details instrument
	switch name {
	case sourceCard:
		wallet := inner.text("walletProvider", oneOf("APPLE_PAY"))
		if details.card = b.readCard(inner, cvnRequired && wallet == ""); details.card != nil {
			details.card.walletProvider = wallet
		}
	case sourceBank:
		details.bank = b.readBankAccount(inner, inner.text)
	default:
		details.nz = b.readNZBankAccount(inner, inner.text)
	}
	if details == (instrument{}) {
		return nil
	}
	return &source{instrument: details}
}

// tokenSource finds a token that can still be used. The caller marks it as used if all else
// is valid.
func (b *Sandbox) tokenSource(f *fields) *source {
	id := f.text(sourceToken)
	tok := b.tokens.byID[id]
	switch {
	case tok == nil || !tok.live(f.c.now):
		f.refuse(sourceToken, id, "is not a valid token or has expired")
	case tok.used:
		f.refuse(sourceToken, id, "has been used")
	case tok.threeDS.status.failed():
		f.refuse(sourceToken, id, "has failed 3D Secure authentication")
	case tok.profile != nil && !tok.threeDS.status.passed():
		f.refuse(sourceToken, id, "needs 3D Secure authentication first")
	default:
		return &source{instrument: tok.source, token: tok}
	}
	return nil
}

func (b *Sandbox) customerSource(f *fields) *source {
	id := f.text(sourceCustomer)
	cust := b.customers.byID[id]
	switch {
	case cust == nil:
		f.refuse(sourceCustomer, id, "is not a customer")
	case !b.mayPay(cust):
		f.refuse(sourceCustomer, id, "is disabled")
	default:
		if a := b.accounts.defaultOf(id); a != nil {
			return &source{instrument: a.source, account: a}
		}
		f.refuse(sourceCustomer, id, "has no enabled default account")
	}
	return nil
}

func (b *Sandbox) accountSource(f *fields) *source {
	id := f.text(sourceAccount)
	a := b.accounts.byToken[id]
	switch {
	case a == nil:
		f.refuse(sourceAccount, id, "is not an account")
	case !a.enabled || !b.mayPay(a.customer):
		f.refuse(sourceAccount, id, "is disabled")
	default:
		return &source{instrument: a.source, account: a}
	}
	return nil
}
