package sandbox

import (
	"net/http"
	"slices"
	"strings"
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
	Links              []link   `json:"links"`
	ID                 string   `json:"customerId"`
	Number             string   `json:"customerNumber"`
	Name               string   `json:"customerName"`
	Business           *string  `json:"supplierBusinessCode"`
	Status             string   `json:"status"`
	Phone              *string  `json:"phoneNumber"`
	Email              *string  `json:"emailAddress"`
	NotificationMedium *string  `json:"preferredNotificationMedium"`
	Address            *address `json:"address"`
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
	body.Links = c.links(get("self", c.href("customers", cust.ID)))
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
	changed := *cust
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
	f.update(&cust.Phone, "phoneNumber")
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
	if _, named := f.members[name]; !named {
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
		return strings.Contains(strings.ToLower(*whole), strings.ToLower(part))
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

// account is a payer's account that is kept for later payments.
type account struct {
	token     string
	customer  *customer
	source    instrument
	isDefault bool
	enabled   bool
}

type accountStore struct {
	byToken    map[string]*account
	byCustomer map[string][]*account // newest last
}

func newAccountStore() accountStore {
	return accountStore{byToken: make(map[string]*account), byCustomer: make(map[string][]*account)}
}

// registerAccount keeps an account for a customer. The first account is the default, and a
// new default replaces the old one. The caller holds mu.
func (b *Sandbox) registerAccount(cust *customer, source instrument, asDefault bool) *account {
	own := b.accounts.byCustomer[cust.ID]
	a := &account{token: b.newHandle(), customer: cust, source: source, enabled: true}
	a.isDefault = cust.ID != "" && (asDefault || b.accounts.defaultOf(cust.ID) == nil)
	if a.isDefault {
		for _, other := range own {
			other.isDefault = false
		}
	}
	b.accounts.byToken[a.token] = a
	b.accounts.byCustomer[cust.ID] = append(own, a)
	return a
}

// defaultOf returns the enabled default account of a customer, or nil.
func (s *accountStore) defaultOf(customerID string) *account {
	for _, a := range s.byCustomer[customerID] {
		if a.isDefault && a.enabled {
			return a
		}
	}
	return nil
}

func (b *Sandbox) accountOperations() []operation {
	return []operation{
		{id: "POST /accounts", handle: b.createAccountAlone},
		{id: "POST /customers/{customerId}/accounts", handle: found("customer", b.namedCustomer, b.createAccount)},
		{id: "GET /customers/{customerId}/accounts", query: paged(), handle: found("customer", b.namedCustomer, b.accountsOfCustomer)},
		{id: "GET /accounts/{accountToken}", handle: shown("account", b.namedAccount, b.accountBody)},
	}
}

// accountBody is flat, as public client code reads it: it has the members of the kind of
// account and the common ones.
type accountBody struct {
	keptBody
	*storedCardBody
	*tokenBankBody
	*nzBankBody
	DisplayName *string `json:"displayName,omitempty"`
	Currency    *string `json:"currency,omitempty"`
}

type storedCardBody struct {
	cardBody
	PANType        string  `json:"panType"`
	WalletProvider *string `json:"walletProvider"`
}

// cardBody is the card in tokens, kept accounts and transactions.
type cardBody struct {
	CardNumber              string  `json:"cardNumber"`
	ExpiryDateMonth         string  `json:"expiryDateMonth"`
	ExpiryDateYear          string  `json:"expiryDateYear"`
	CardScheme              string  `json:"cardScheme"`
	CardType                *string `json:"cardType"`
	CardholderName          *string `json:"cardholderName"`
	MaskedCardNumber4Digits string  `json:"maskedCardNumber4Digits"`
	SurchargePercentage     string  `json:"surchargePercentage"`
}

func (b *Sandbox) accountBody(c *call, a *account) accountBody {
	body := accountBody{keptBody: keptBody{
		Links: c.links(get("self", c.href("accounts", a.token))), AccountType: a.source.accountType(),
		AccountToken: &a.token, CustomerID: optional(a.customer.ID), DefaultAccount: a.isDefault,
	}}
	switch {
	case a.source.card != nil:
		body.storedCardBody = storedCard(a.source.card, b.shopOf(a.customer))
	case a.source.bank != nil:
		own := a.source.bank
		body.tokenBankBody = bankBody(own)
		body.DisplayName, body.Currency = optional(maskedAccount(own.bsb, own.number)), optional("AUD")
	default:
		body.nzBankBody = nzBody(a.source.nz)
		body.DisplayName, body.Currency = optional(body.nzBankBody.AccountNumber), optional("NZD")
	}
	return body
}

// storedCard returns the wire form of a card that is kept or was paid with.
func storedCard(cd *card, shop *business) *storedCardBody {
	body := &storedCardBody{cardBody: cardBodyOf(cd, shop), PANType: "FPAN", WalletProvider: optional(cd.walletProvider)}
	if cd.walletProvider != "" {
		body.PANType = "DPAN"
	}
	return body
}

func cardBodyOf(cd *card, shop *business) cardBody {
	return cardBody{
		CardNumber: cd.firstSixLastThree(), MaskedCardNumber4Digits: cd.firstSixLastFour(),
		ExpiryDateMonth: cd.month, ExpiryDateYear: cd.shortYear(), CardScheme: cd.scheme,
		CardType: optional(cd.cardType), CardholderName: optional(cd.holder),
		SurchargePercentage: percentage(shop.rate(cd.scheme, cd.cardType)),
	}
}

// shopOf returns a customer's business.
func (b *Sandbox) shopOf(cust *customer) *business {
	if cust.Business != nil {
		return b.business(*cust.Business)
	}
	return b.businesses[0]
}

// createAccountAlone keeps an account without a customer: as a public client does it, from a
// token. Unconfirmed.
func (b *Sandbox) createAccountAlone(c *call) answer {
	return b.createAccount(c, &customer{Status: customerEnabled})
}

func (b *Sandbox) createAccount(c *call, cust *customer) answer {
	f := c.readBody()
	allowed := []string{sourceToken, sourceReceipt, sourceCard, sourceBank, sourceNZBank}
	if cust.ID == "" {
		allowed = allowed[:1]
	}
	src := b.accountDetails(f, allowed...)
	b.checkThreeDS(f, src, nil)
	if !c.valid() {
		return c.invalid()
	}
	a := b.registerAccount(cust, src.instrument, false)
	if src.token != nil {
		src.token.used = true
	}
	return reply(http.StatusCreated, b.accountBody(c, a))
}

const sourceReceipt = "receiptNumber"

// accountDetails reads the one account that is to be kept; nil if there is none.
func (b *Sandbox) accountDetails(f *fields, allowed ...string) *source {
	switch name := f.onlyOne(allowed...); name {
	case "":
		return nil
	case sourceToken:
		return b.tokenSource(f)
	case sourceReceipt:
		return b.receiptSource(f)
	default:
		return b.detailsSource(f, name, false)
	}
}

// receiptSource finds the account of a transaction, approved or not.
func (b *Sandbox) receiptSource(f *fields) *source {
	receipt := f.text(sourceReceipt)
	tx := b.transactions.byReceipt[receipt]
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

// accountsOfCustomer lists the enabled accounts, newest first.
func (b *Sandbox) accountsOfCustomer(c *call, cust *customer) answer {
	found := slices.DeleteFunc(slices.Clone(b.accounts.byCustomer[cust.ID]), func(a *account) bool { return !a.enabled })
	slices.Reverse(found)
	return list(c, found, func(a *account) string { return a.token }, b.accountBody)
}

func (b *Sandbox) namedAccount(c *call) *account { return b.accounts.byToken[c.params["accountToken"]] }
