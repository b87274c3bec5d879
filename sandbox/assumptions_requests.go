package sandbox

// What an update of a customer makes of a member that is null.
const (
	NullRemoves = "removes"
	NullIgnored = "ignored"
	NullRefused = "refused"
)

// defaultRequests sets what requestRows describes.
func (a *Assumptions) defaultRequests() {
	a.NullInPut = NullRemoves
	a.DisabledCustomersRegister = true
	a.LatestKeyIsNew = true
}

// requestRows describe what is assumed about requests.
func (a Assumptions) requestRows(row func(name string, value any, known, why string) Assumption) []Assumption {
	return []Assumption{
		row("IgnoreUnknownQuery", a.IgnoreUnknownQuery, "nothing", "a misspelt filter that is ignored lists everything"),
		row("BareKeys", a.BareKeys, "the key is the user name of HTTP Basic; a public client sends it without a colon", "credentials without a colon are not HTTP Basic"),
		row("DisabledCustomersPay", a.DisabledCustomersPay, "a customer has a status; what it stops is not stated", "a customer is disabled so that nothing is charged"),
		row("DisabledCustomersRegister", a.DisabledCustomersRegister, "a customer has a status; what it stops is not stated", "an account that is kept and cannot be used"),
		row("NullInPut", a.NullInPut, "nothing", "a model that writes null for what it does not know empties the customer"),
		row("InternationalPhones", a.InternationalPhones, "international format for 3D Secure, nothing for customers", "what the contract does not forbid is taken"),
		row("LatestKeyIsNew", a.LatestKeyIsNew, "public client code renews a Secret key with the one it has", "whoever asks for the key replaces it"),
	}
}
