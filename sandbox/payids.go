package sandbox

import "net/http"

// registerPayID accepts a PayID of a customer. It is newer than the specification: what the answer
// shows and how a payment to it appears are not published, so nothing follows from it.
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
