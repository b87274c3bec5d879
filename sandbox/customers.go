package sandbox

import (
	"net/http"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox/internal/form"
)

func (b *Sandbox) customerOperations() []operation {
	return []operation{
		{id: "POST /customers", handle: b.createCustomer},
		{id: "GET /customers", query: paged("customerNumber", "customerName", "emailAddress"), handle: b.findCustomers},
		{id: "GET /customers/{customerId}", handle: shown("customer", b.namedCustomer, (*call).customerBody)},
		{id: "PUT /customers/{customerId}", handle: found("customer", b.namedCustomer, b.updateCustomer)},
	}
}

// customer is both the record and, with links, the wire form. Only the identifiers and the
// name are in the contract. The other members are those of public client code.
type customer struct {
	Links              []form.Link `json:"links"`
	ID                 string      `json:"customerId"`
	Number             string      `json:"customerNumber"`
	Name               string      `json:"customerName"`
	Business           *string     `json:"supplierBusinessCode"`
	Status             string      `json:"status"`
	Phone              *string     `json:"phoneNumber"`
	Email              *string     `json:"emailAddress"`
	NotificationMedium *string     `json:"preferredNotificationMedium"`
	Address            *address    `json:"address"`
}

type address struct {
	Street1  *string `json:"street1"`
	Street2  *string `json:"street2"`
	Street3  *string `json:"street3"`
	City     *string `json:"city"`
	State    *string `json:"state"`
	Postcode *string `json:"postcode"`
	Country  *string `json:"country"`
}

const (
	customerEnabled  = "ENABLED"
	customerDisabled = "DISABLED"
)

type customerStore struct {
	byID     map[string]*customer
	byNumber map[string]*customer
	ordered  []*customer // by customerId
}

func newCustomerStore() customerStore {
	return customerStore{byID: make(map[string]*customer), byNumber: make(map[string]*customer)}
}

func (s *customerStore) add(cust *customer) {
	s.byID[cust.ID] = cust
	s.byNumber[cust.Number] = cust
	at, _ := slices.BinarySearchFunc(s.ordered, cust.ID, func(c *customer, id string) int { return strings.Compare(c.ID, id) })
	s.ordered = slices.Insert(s.ordered, at, cust)
}

func (c *call) customerBody(cust *customer) any {
	body := *cust
	body.Links = c.related(get("self", c.href("customers", cust.ID)))
	return body
}

func (b *Sandbox) createCustomer(c *call) answer {
	f := c.readBody()
	cust := customer{Status: customerEnabled}
	b.readCustomer(f, f.need, &cust)
	if !c.valid() {
		return c.invalid()
	}
	cust.ID = newID(b.ids, b.customers.byID, 9)
	b.customers.add(&cust)
	return reply(http.StatusCreated, c.customerBody(&cust))
}

func (b *Sandbox) namedCustomer(c *call) *customer { return b.customers.byID[c.params["customerId"]] }

func (b *Sandbox) updateCustomer(c *call, cust *customer) answer {
	f := c.readBody()
	changed := b.updated(*cust)
	keep := func(name string, _ ...check) string { return f.text(name, filled) }
	b.readCustomer(f, keep, &changed)
	if !c.valid() {
		return c.invalid()
	}
	delete(b.customers.byNumber, cust.Number)
	*cust = changed
	b.customers.byNumber[cust.Number] = cust
	return reply(http.StatusOK, c.customerBody(cust))
}

// readCustomer sets the members that a request names. identity reads the two required ones.
func (b *Sandbox) readCustomer(f *fields, identity func(string, ...check) string, cust *customer) {
	if s := identity("customerNumber"); s != "" {
		if other := b.customers.byNumber[s]; other != nil && other.ID != cust.ID {
			f.refuse("customerNumber", s, "belongs to another customer")
		}
		cust.Number = s
	}
	if s := identity("customerName"); s != "" {
		cust.Name = s
	}
	f.update(&cust.Business, "supplierBusinessCode", b.knownBusiness)
	f.update(&cust.Phone, "phoneNumber", b.phone()...)
	f.update(&cust.Email, "emailAddress")
	f.update(&cust.NotificationMedium, "preferredNotificationMedium")
	if inner := f.object("address"); inner != nil {
		a := &address{}
		inner.update(&a.Street1, "street1")
		inner.update(&a.Street2, "street2")
		inner.update(&a.Street3, "street3")
		inner.update(&a.City, "city")
		inner.update(&a.State, "state")
		inner.update(&a.Postcode, "postcode")
		inner.update(&a.Country, "country")
		cust.Address = a
	}
	if enabled, given := f.flag("enabled"); given {
		cust.Status = customerDisabled
		if enabled {
			cust.Status = customerEnabled
		}
	}
}

// update sets an optional text if the request has the member. The empty text removes it.
func (f *fields) update(target **string, name string, checks ...check) {
	value, named := f.members[name]
	if !named {
		f.ignore(name)
		return
	}
	if string(value) == "null" && f.nullIgnored(name) {
		f.ignore(name)
		return
	}
	*target = nil
	if s := f.text(name, checks...); s != "" {
		*target = &s
	}
}

// findCustomers matches customerNumber exactly and the other filters in part. All filters
// must match; without filters all customers are listed.
func (b *Sandbox) findCustomers(c *call) answer {
	contains := func(whole *string, part string) bool {
		if part == "" {
			return true
		}
		if whole == nil {
			return false
		}
		if b.assume.SearchIgnoresCase {
			return strings.Contains(strings.ToLower(*whole), strings.ToLower(part))
		}
		return strings.Contains(*whole, part)
	}
	q := c.parameters()
	number, name, email := q.text("customerNumber", filled), q.text("customerName", filled), q.text("emailAddress", filled)
	if !q.valid() {
		return c.invalid()
	}
	var found []*customer
	for _, cust := range b.customers.ordered {
		if (number == "" || cust.Number == number) &&
			contains(&cust.Name, name) && contains(cust.Email, email) {
			found = append(found, cust)
		}
	}
	return list(c, found, func(cust *customer) string { return cust.ID }, (*call).customerBody)
}
