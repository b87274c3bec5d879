package sandbox

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// customer is a customer of the facility. Only the identifiers and the name are in the contract. The
// other members are those of public client code.
type customer struct {
	id, number, name string
	disabled         bool
	optional         map[string]string // by member
	address          map[string]string // by member; nil without one
	defaultAccount   *account          // of payments that name only the customer
}

//nolint:gochecknoglobals // immutable tables
var (
	customerMembers = []string{"phoneNumber", "emailAddress", "preferredNotificationMedium"}
	addressMembers  = []string{"street1", "street2", "street3", "city", "state", "postcode", "country"}
)

func (c *call) customerBody(cust *customer) object {
	body := object{
		"links":      c.links(get("self", c.href("customers", cust.id))),
		"customerId": cust.id, "customerNumber": cust.number, "customerName": cust.name,
		"status": "ENABLED", "supplierBusinessCode": optional(cust.optional["supplierBusinessCode"]), "address": nil,
	}
	if cust.disabled {
		body["status"] = "DISABLED"
	}
	for _, name := range customerMembers {
		body[name] = optional(cust.optional[name])
	}
	if cust.address != nil {
		body["address"] = addressOf(cust.address)
	}
	return body
}

func addressOf(given map[string]string) object {
	body := object{}
	for _, name := range addressMembers {
		body[name] = optional(given[name])
	}
	return body
}

func (b *Sandbox) customerNumbered(number string) *customer {
	return b.customers.first(func(cust *customer) bool { return cust.number == number })
}

// saveCustomer creates or changes a customer. A change may leave out the number and the name.
func (b *Sandbox) saveCustomer(c *call, cust *customer) answer {
	f, changed, status := c.readBody(), *cust, http.StatusOK
	identity := func(name string, _ ...check) string { return f.text(name, filled) }
	if cust.id == "" {
		identity, status = f.need, http.StatusCreated
	}
	b.readCustomer(f, identity, &changed)
	if !c.valid() {
		return c.invalid()
	}
	if cust.id == "" {
		changed.id = newID(b.ids, b.customers.byID, 9)
		b.customers.add(changed.id, cust)
	}
	*cust = changed
	return reply(status, c.customerBody(cust))
}

// readCustomer sets the members that a request names. identity reads the two required ones.
func (b *Sandbox) readCustomer(f *fields, identity func(string, ...check) string, cust *customer) {
	if s := identity("customerNumber"); s != "" {
		if other := b.customerNumbered(s); other != nil && other.id != cust.id {
			f.refuse("customerNumber", s, "belongs to another customer")
		}
		cust.number = s
	}
	if s := identity("customerName"); s != "" {
		cust.name = s
	}
	cust.optional = maps.Clone(cust.optional)
	f.update(&cust.optional, "supplierBusinessCode", b.knownBusiness)
	for _, name := range customerMembers {
		f.update(&cust.optional, name)
	}
	if inner := f.object("address"); inner != nil {
		cust.address = map[string]string{}
		for _, name := range addressMembers {
			inner.update(&cust.address, name)
		}
	}
	if enabled, given := f.flag("enabled"); given {
		cust.disabled = !enabled
	}
}

// update sets an optional text if the request has the member. The empty text removes it.
func (f *fields) update(members *map[string]string, name string, checks ...check) {
	if _, named := f.members[name]; !named {
		f.ignore(name)
		return
	}
	if *members == nil {
		*members = make(map[string]string)
	}
	(*members)[name] = f.text(name, checks...)
}

// findCustomers lists customers by their identifiers. It matches customerNumber exactly, and the other filters as a part in any case.
// All filters must match; without filters all customers are listed.
func (b *Sandbox) findCustomers(c *call) answer {
	contains := func(whole, part string) bool { return strings.Contains(strings.ToLower(whole), strings.ToLower(part)) }
	number, name, email := c.query.Get("customerNumber"), c.query.Get("customerName"), c.query.Get("emailAddress")
	found := b.customers.where(func(cust *customer) bool {
		return (number == "" || cust.number == number) && contains(cust.name, name) && contains(cust.optional["emailAddress"], email)
	})
	slices.SortFunc(found, func(a, b *customer) int { return strings.Compare(a.id, b.id) })
	return list(c, found, (*call).customerBody)
}

// account is a payer's account that is kept for later payments.
type account struct {
	token    string
	customer *customer
	source   instrument
}

func (a *account) isDefault() bool { return a.customer.defaultAccount == a }

// accountBody is flat, as public client code reads it: it has the members of the kind of
// account and the common ones.
func (b *Sandbox) accountBody(c *call, a *account) object {
	body := object{
		"links": c.links(get("self", c.href("accounts", a.token))), "accountType": a.source.accountType(),
		"accountToken": a.token, "customerId": optional(a.customer.id), "defaultAccount": a.isDefault(),
	}
	currency := "AUD"
	if a.source.nz != nil {
		currency = "NZD"
	}
	a.source.describe(body, b.business(cmp.Or(a.customer.optional["supplierBusinessCode"], DefaultBusiness)), currency)
	return body
}

// createAccount keeps an account of a customer. Without a customer it takes only a token, as a public
// client does. Unconfirmed.
func (b *Sandbox) createAccount(c *call, cust *customer) answer {
	f := c.readBody()
	allowed := []string{sourceToken, sourceReceipt, sourceCard, sourceBank, sourceNZBank}
	if cust.id == "" {
		allowed = allowed[:1]
	}
	src := b.readSource(f, "", allowed...)
	b.checkThreeDS(f, src, nil)
	if !c.valid() {
		return c.invalid()
	}
	a := &account{token: b.newHandle(), customer: cust, source: src.instrument}
	b.accounts.add(a.token, a)
	if cust.id != "" && cust.defaultAccount == nil {
		cust.defaultAccount = a
	}
	if src.token != nil {
		src.token.used = true
	}
	return reply(http.StatusCreated, b.accountBody(c, a))
}

// receiptSource finds the account of a transaction, approved or not.
func (b *Sandbox) receiptSource(f *fields) *source {
	receipt := f.text(sourceReceipt)
	tx := b.transactions.byID[receipt]
	switch {
	case tx == nil:
		f.refuse(sourceReceipt, receipt, "is not a transaction")
	case tx.source.card == nil && tx.source.bank == nil && tx.source.nz == nil:
		f.refuse(sourceReceipt, receipt, "has no account that can be kept")
	default:
		return &source{instrument: tx.source}
	}
	return nil
}

func (b *Sandbox) accountsOfCustomer(c *call, cust *customer) answer {
	found := b.accounts.where(func(a *account) bool { return a.customer == cust })
	slices.Reverse(found)
	return list(c, found, b.accountBody)
}
