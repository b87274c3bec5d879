package sandbox

import (
	"regexp"
	"slices"

	"github.com/quickstream-go/quickstream/sandbox/internal/form"
)

// This file holds the assumptions about requests: what the sandbox accepts or refuses where
// the contract is silent.

// refusesUnknown reports whether a request with parts that are not in the contract is
// refused.
func (c *call) refusesUnknown() bool { return c.box.assume.RefuseUnknownMembers }

// ignoreAdded accepts the members that answers add to those of the contract.
func (f *fields) ignoreAdded() {
	if f.c.box.addsMembers() {
		f.ignore(form.UnknownNames()...)
	}
}

// nullIgnored reports whether a null in an update changes nothing. It may refuse the null.
func (f *fields) nullIgnored(name string) bool {
	switch f.c.box.assume.NullInPut {
	case "removes":
		return false
	case "refused":
		f.refuse(name, "", "must not be null")
	}
	return true
}

// updated returns the customer that an update starts from.
func (b *Sandbox) updated(cust customer) customer {
	if b.assume.PutRemovesOmitted {
		return customer{ID: cust.ID, Number: cust.Number, Name: cust.Name, Status: cust.Status}
	}
	return cust
}

func (b *Sandbox) mayPay(cust *customer) bool {
	return cust.Status == customerEnabled || slices.Contains([]string{"all", "pay"}, b.assume.DisabledCustomers)
}

func (b *Sandbox) mayRegister(cust *customer) bool {
	return cust.Status == customerEnabled || slices.Contains([]string{"all", "register"}, b.assume.DisabledCustomers)
}

func (f *fields) metadata() map[string]string {
	texts := f.texts("metadata")
	if f.c.box.assume.Metadata == "refused" && f.has("metadata") {
		f.refuse("metadata", "", "is not taken by this facility")
	}
	return texts
}

var (
	hyphenatedBSB      = regexp.MustCompile(`^[0-9]{3}-[0-9]{3}$`)
	plainBSB           = regexp.MustCompile(`^[0-9]{6}$`)
	eitherBSB          = regexp.MustCompile(`^[0-9]{3}-?[0-9]{3}$`)
	internationalPhone = regexp.MustCompile(`^\+[0-9]{6,14}$`)
)

func (b *Sandbox) bsb(s string) string {
	switch b.assume.BSBForm {
	case "dash":
		return matching(hyphenatedBSB, "must be a BSB in the form nnn-nnn")(s)
	case "digits":
		return matching(plainBSB, "must be a BSB in the form nnnnnn")(s)
	}
	return matching(eitherBSB, "must be a BSB of six digits")(s)
}

// phone returns the checks of a phone number.
func (b *Sandbox) phone() []check {
	if b.assume.InternationalPhones {
		return []check{matching(internationalPhone, "must be in international form")}
	}
	return nil
}

// usage returns the checks of storedCredentialData.usage.
func (b *Sandbox) usage() []check {
	if known := b.assume.StoredCredentialUsages; len(known) > 0 {
		return []check{oneOf(known...)}
	}
	return nil
}

func (b *Sandbox) usageRequired(eci string) bool { return slices.Contains(b.assume.UsageRequired, eci) }

func (b *Sandbox) endToEndID() []check {
	if most := b.assume.EndToEndIDLength; most > 0 {
		return []check{atMost(most)}
	}
	return nil
}

// captureLimit returns the most that can be captured of a pre-authorisation.
func (b *Sandbox) captureLimit(preauth *transaction, held cents) cents {
	if b.assume.CaptureLimitFollowsChanges {
		return 2 * held
	}
	return 2 * preauth.principal
}
