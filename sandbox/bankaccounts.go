package sandbox

import (
	"fmt"
	"regexp"
	"strings"
)

type bankAccount struct{ name, bsb, number string }

type nzBankAccount struct{ name, bank, branch, number, suffix string }

var (
	hyphenatedBSB = regexp.MustCompile(`^[0-9]{3}-[0-9]{3}$`)
	eitherBSB     = regexp.MustCompile(`^[0-9]{3}-?[0-9]{3}$`)
)

func (b *Sandbox) bsb(s string) string {
	if b.assume.HyphenatedBSB {
		return matching(hyphenatedBSB, "must be a BSB in the form nnn-nnn")(s)
	}
	return matching(eitherBSB, "must be a BSB of six digits")(s)
}

// readBankAccount returns nil unless all members are in order.
func (b *Sandbox) readBankAccount(f *fields) *bankAccount {
	before := len(f.c.findings)
	out := &bankAccount{
		name:   f.need("accountName"),
		bsb:    strings.Replace(f.need("bsb", b.bsb), "-", "", 1),
		number: f.need("accountNumber"),
	}
	if len(f.c.findings) > before {
		return nil
	}
	return out
}

// readNZBankAccount reads the members that public client code names.
func (b *Sandbox) readNZBankAccount(f *fields) *nzBankAccount {
	before := len(f.c.findings)
	out := &nzBankAccount{
		name:   f.need("nzAccountName"),
		bank:   f.need("nzBankCode"),
		branch: f.need("nzBranchCode"),
		number: f.need("nzAccountNumber"),
		suffix: f.need("nzAccountSuffix"),
	}
	if len(f.c.findings) > before {
		return nil
	}
	return out
}

func (b *Sandbox) maskedBSB(bsb string) string {
	return fmt.Sprintf(maskedBSB, lastThree(bsb))
}

func (b *Sandbox) maskedNumber(number string) string {
	return fmt.Sprintf(maskedAccountNo, lastThree(number))
}

func (a *nzBankAccount) masked() string { return hideAllButLast(a.number, 3) }

// outcome follows the public test BSBs; the account number does not matter,
// because the public tables disagree on some. Codes are those of the vendor's
// sibling products. Except for one, which is stopped at once, declines come
// after the payment was taken as approved.
func (b *Sandbox) bankOutcome(a *bankAccount) Outcome {
	last, isTest := strings.CutPrefix(a.bsb, "03205")
	switch {
	case !isTest:
		return Approved()
	case last == "0":
		return Rejected("R")
	case b.assume.BankReturnAfter <= 0:
		return Declined(last)
	default:
		return Approved().ThenAfter(b.assume.BankReturnAfter, Declined(last))
	}
}
