package quickstream

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// comparison names the members in which an agreement differs from the requested one.
type comparison struct {
	// another has the customer, amounts and type: it is another agreement.
	another []string
	// unlike has other members with other values. In the answer to the request the service may have
	// changed them; in a list they are another agreement's.
	unlike []string
	// changed has all members that differ and are not in another.
	changed []string
}

func (b agreementJSON) compare(a *Agreement, customerID string) comparison {
	var c comparison
	c.text("payeeReference", a.PayeeReference, b.PayeeReference)
	if p := a.PayeeDetails; p != nil {
		c.text("payeeDetails.supplierBusinessCode", p.SupplierBusinessCode, b.SupplierBusinessCode)
	}
	if d := a.PaymentDetails; d != nil {
		c.payment(d, b.PaymentDetails)
	}
	if t := a.PaymentTerms; t != nil {
		c.terms(t, b.PaymentTerms)
	}
	if p, asked := a.PayerDetails, b.PayerDetails; p != nil {
		c.fact("payerDetails.customerId", p.CustomerID != "", customerID != "", sameText(p.CustomerID, customerID), p.CustomerID == customerID)
		c.text("payerDetails.payerId", p.ID, asked.PayerID)
		c.text("payerDetails.paymentReference", p.Reference, asked.PayerReference)
		c.name("payerDetails.payerName", p.Name, asked.PayerName)
		c.name("payerDetails.ultimatePayerName", p.UltimateName, cmp.Or(asked.UltimatePayerName, asked.PayerName))
		c.name("payerDetails.payerType", string(p.Type), string(asked.PayerType))
	}
	return c
}

func (c *comparison) payment(d *AgreementPayment, asked agreementPaymentJSON) {
	c.text("paymentDetails.purpose", string(d.Purpose), string(asked.Purpose))
	c.text("paymentDetails.description", d.Description, asked.Description)
	c.text("paymentDetails.additionalInformation", d.AdditionalInformation, asked.AdditionalInformation)
	c.date("paymentDetails.startDate", d.StartDate, asked.StartDate)
	c.date("paymentDetails.endDate", d.EndDate, asked.EndDate)
	renews := asked.AutomaticRenewal != nil && *asked.AutomaticRenewal
	alike := !d.AutomaticRenewal && d.EndDate.IsZero() // it shows neither
	c.member("paymentDetails.automaticRenewal", true, true, alike, d.AutomaticRenewal == renews)
}

func (c *comparison) terms(t *AgreementTerms, asked agreementTermsJSON) {
	c.text("paymentTerms.frequency", string(t.Frequency), string(asked.Frequency))
	c.fact("paymentTerms.agreementType", t.Type != "", asked.AgreementType != "",
		sameText(string(t.Type), string(asked.AgreementType)), t.Type == asked.AgreementType)
	c.amount("paymentTerms.firstPaymentAmount", t.FirstPaymentAmount, asked.FirstPaymentAmount)
	c.amount("paymentTerms.lastPaymentAmount", t.LastPaymentAmount, asked.LastPaymentAmount)
	c.amount("paymentTerms.paymentAmount", t.PaymentAmount, asked.PaymentAmount)
	c.amount("paymentTerms.maximumPaymentAmount", t.MaximumPaymentAmount, asked.MaximumPaymentAmount)
	c.date("paymentTerms.firstPaymentDue", t.FirstPaymentDue, asked.FirstPaymentDue)
	c.date("paymentTerms.lastPaymentDue", t.LastPaymentDue, asked.LastPaymentDue)
	c.count("paymentTerms.numberOfPaymentsPermitted", t.NumberOfPaymentsPermitted, asked.NumberOfPaymentsPermitted)
	c.count("paymentTerms.pointInTime", t.PointInTime, asked.PointInTime)
}

// fact compares a member that decides if both have it.
func (c *comparison) fact(name string, answered, asked, alike, same bool) {
	if answered && asked && !alike && !same {
		c.another = append(c.another, name)
		return
	}
	c.member(name, answered, asked, alike, same)
}

// member compares a member that one of both may lack: the service may fill in and leave out terms.
func (c *comparison) member(name string, answered, asked, alike, same bool) {
	if !answered && !asked || same {
		return
	}
	c.changed = append(c.changed, name)
	if answered && asked && !alike {
		c.unlike = append(c.unlike, name)
	}
}

func (c *comparison) text(name, answered, asked string) {
	c.member(name, answered != "", asked != "", sameWords(answered, asked), answered == asked)
}

// name compares a text that the bank may know better.
func (c *comparison) name(name, answered, asked string) {
	c.member(name, answered != "", asked != "", true, answered == asked)
}

func (c *comparison) date(name string, answered, asked Date) {
	c.member(name, !answered.IsZero(), !asked.IsZero(), false, answered == asked)
}

func (c *comparison) amount(name string, answered *Amount, asked *wire.Text) {
	both := answered != nil && asked != nil
	c.fact(name, answered != nil, asked != nil, false, both && answered.Amount.Equal(asked.Decimal()))
}

func (c *comparison) count(name string, answered, asked *int64) {
	both := answered != nil && asked != nil
	c.member(name, answered != nil, asked != nil, false, both && *answered == *asked)
}

// folded returns a text without the blanks that a bank leaves out.
func folded(text string) string { return strings.Join(strings.Fields(text), " ") }

// sameWords compares texts in any case and with any blanks.
func sameWords(answered, sent string) bool { return sameText(folded(answered), folded(sent)) }

func reasonsFor(members []string) []string {
	var reasons []string
	for _, member := range members {
		reasons = append(reasons, "its "+member+" is another")
	}
	return reasons
}

// create sends the creation of an agreement. After an unknown outcome the candidates have every
// agreement that came back.
func (c *call) create(ctx context.Context, body agreementJSON, customerID string) (*Agreement, error) {
	var agreement *Agreement
	var seen []Candidate
	err := c.do(ctx, func(_ int, answer []byte) error {
		agreement = new(Agreement)
		if err := read(answer, agreement); err != nil {
			return err
		}
		found := body.compare(agreement, customerID)
		agreement.differences = found.changed
		if len(found.another) > 0 {
			seen = append(seen, Candidate{Agreement: agreement, Reasons: reasonsFor(found.another)})
			return errNotAsked
		}
		seen = append(seen, Candidate{Agreement: agreement, Matches: true, Reasons: []string{"the call failed after this answer"}})
		return nil
	})
	if err == nil {
		return agreement, nil
	}
	if lost, is := errors.AsType[*UnknownOutcomeError](err); is {
		lost.Candidates = seen
	}
	return nil, err
}
