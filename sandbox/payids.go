package sandbox

import "net/http"

// registerPayID accepts a PayID of a customer, without any effect. The operation is newer than the
// specification: its answer, and how a payment to the PayID appears, are not published.
func (b *Sandbox) registerPayID(c *call, _ *customer) answer {
	f := c.readBody()
	f.need("payId", filled)
	single := f.need("type", oneOf("STATIC", "SINGLE")) == "SINGLE"
	f.text("supplierBusinessCode", b.knownBusiness)
	if amount := f.text("paymentAmount", moneyText); amount != "" && !single {
		f.refuse("paymentAmount", amount, "is for a PayID of type SINGLE")
	}
	if !c.valid() {
		return c.invalid()
	}
	return reply(http.StatusCreated, nil)
}
