package quickstream

import (
	"cmp"
	"context"
	"fmt"
)

// CustomersService has the operations on customers.
type CustomersService struct{ client *Client }

// Address is a postal address. Its members are from public client code; unconfirmed.
type Address struct {
	Street1  string `json:"street1,omitempty"`
	Street2  string `json:"street2,omitempty"`
	Street3  string `json:"street3,omitempty"`
	City     string `json:"city,omitempty"`
	State    string `json:"state,omitempty"`
	Postcode string `json:"postcode,omitempty"`
	Country  string `json:"country,omitempty"`
}

// Customer is a customer of the merchant. Members other than CustomerID, CustomerNumber and
// CustomerName are from public client code; unconfirmed.
type Customer struct {
	// CustomerID is the service's identifier, for other operations.
	CustomerID string `json:"customerId,omitempty" wire:"identifies"`
	// CustomerNumber is the merchant's unique identifier.
	CustomerNumber              string   `json:"customerNumber,omitempty" wire:"decides"`
	CustomerName                string   `json:"customerName,omitempty"`
	SupplierBusinessCode        string   `json:"supplierBusinessCode,omitempty"`
	Status                      string   `json:"status,omitempty" wire:"decides"` // ENABLED or DISABLED
	PhoneNumber                 string   `json:"phoneNumber,omitempty"`
	EmailAddress                string   `json:"emailAddress,omitempty"`
	PreferredNotificationMedium string   `json:"preferredNotificationMedium,omitempty"` // EMAIL, SMS, EMAILANDSMS or NONE
	Address                     *Address `json:"address,omitempty"`
	Links                       []Link   `json:"links,omitempty"`

	envelope
}

// UnmarshalJSON reads a customer.
func (c *Customer) UnmarshalJSON(data []byte) error { return decode(data, c) }

// MarshalJSON writes the customer with its unknown members.
func (c Customer) MarshalJSON() ([]byte, error) {
	type plain Customer
	return encode(plain(c), c.envelope)
}

func (c *Customer) identifier() string { return c.CustomerID }

// CreateCustomerParams describes a new customer. Members other than the first two are optional, and
// from public client code; unconfirmed.
type CreateCustomerParams struct {
	// CustomerNumber is the merchant's identifier, and unique. It and CustomerName are required.
	CustomerNumber              string   `json:"customerNumber,omitempty"`
	CustomerName                string   `json:"customerName,omitempty"`
	SupplierBusinessCode        string   `json:"supplierBusinessCode,omitempty"`
	PhoneNumber                 string   `json:"phoneNumber,omitempty"` // international or local form
	EmailAddress                string   `json:"emailAddress,omitempty"`
	PreferredNotificationMedium string   `json:"preferredNotificationMedium,omitempty"` // EMAIL, SMS, EMAILANDSMS or NONE
	Address                     *Address `json:"address,omitempty"`
}

func (p CreateCustomerParams) check(f *findings) {
	f.require(p.CustomerNumber != "", "customer.customerNumber.required", "customerNumber", "is required")
	f.require(p.CustomerName != "", "customer.customerName.required", "customerName", "is required")
}

// Create creates a customer.
//
// POST /customers. A customer number in use matches [ErrInvalid]. After an [UnknownOutcomeError]
// look it up with [CustomersService.GetByNumber].
func (s *CustomersService) Create(ctx context.Context, params CreateCustomerParams, opts ...CallOption) (*Customer, error) {
	call := s.client.begin("Customers.Create", opts)
	params.SupplierBusinessCode = cmp.Or(params.SupplierBusinessCode, call.config.business)
	call.check(params.check)
	call.reference = params.CustomerNumber
	call.body = params
	return sendChecked(ctx, call, func(c *Customer) error {
		if c.CustomerNumber != "" && !sameText(c.CustomerNumber, params.CustomerNumber) {
			return errNotAsked
		}
		return nil
	})
}

// Get returns a customer by the service's identifier.
//
// GET /customers/{customerId}. An unknown identifier matches [ErrNotFound]. From the vendor's
// public pages.
func (s *CustomersService) Get(ctx context.Context, customerID string, opts ...CallOption) (*Customer, error) {
	return get[Customer](ctx, s.client, "Customers.Get", opts, customerID)
}

// ListCustomersParams filters customers; the zero value lists all.
type ListCustomersParams struct {
	// CustomerNumber matches exactly. Optional.
	CustomerNumber string `url:"customerNumber,omitempty"`
	// CustomerName and EmailAddress match in part. Optional; from the vendor's public pages.
	CustomerName string `url:"customerName,omitempty"`
	EmailAddress string `url:"emailAddress,omitempty"`
}

// List returns the matching customers, sorted by identifier.
//
// GET /customers. A wrong key matches [ErrUnauthorized].
func (s *CustomersService) List(params ListCustomersParams, opts ...CallOption) List[Customer] {
	return list[Customer](s.client, "Customers.List", params, nil, opts)
}

// GetByNumber returns the customer with the merchant's customer number. If there is none, the error
// matches [ErrNotFound], which after an unknown outcome of Create means "not found yet".
//
// GET /customers.
func (s *CustomersService) GetByNumber(ctx context.Context, customerNumber string, opts ...CallOption) (*Customer, error) {
	const name Operation = "Customers.GetByNumber"
	if customerNumber == "" {
		return nil, s.client.refused(ctx, name, &ValidationError{Operation: name, Findings: []Finding{{
			Rule: "customer.customerNumber.required", Path: "customerNumber", Message: "is required",
		}}})
	}
	for customer, err := range s.List(ListCustomersParams{CustomerNumber: customerNumber}, madeBy(name).with(opts)...).All(ctx) {
		switch {
		case err != nil:
			return nil, err
		case customer.CustomerNumber == customerNumber:
			return customer, nil
		}
	}
	return nil, fmt.Errorf("quickstream: no customer has the number: %w", ErrNotFound)
}

// UpdateCustomerParams has the members to change. new("") empties a text. A nil member is not sent,
// and stays as it is unless the service's PUT replaces the whole customer, which is unconfirmed.
type UpdateCustomerParams struct {
	CustomerNumber              *string  `json:"customerNumber,omitempty"`
	CustomerName                *string  `json:"customerName,omitempty"`
	SupplierBusinessCode        *string  `json:"supplierBusinessCode,omitempty"`
	PhoneNumber                 *string  `json:"phoneNumber,omitempty"`
	EmailAddress                *string  `json:"emailAddress,omitempty"`
	PreferredNotificationMedium *string  `json:"preferredNotificationMedium,omitempty"`
	Address                     *Address `json:"address,omitempty"`
	// Enabled enables or disables the customer.
	Enabled *bool `json:"enabled,omitempty"`
}

// Update changes a customer. If the service answers without a body, only CustomerID is set in the
// result.
//
// PUT /customers/{customerId}. From the vendor's public pages; its members are from public client
// code, unconfirmed. An unknown identifier matches [ErrNotFound], a customer number in use
// [ErrInvalid]. After an [UnknownOutcomeError] read the customer with Get and compare.
func (s *CustomersService) Update(ctx context.Context, customerID string, params UpdateCustomerParams, opts ...CallOption) (*Customer, error) {
	call := s.client.begin("Customers.Update", opts, customerID)
	call.body = params
	customer := new(Customer)
	read := decoding(call, customer, identifiedBy[Customer](customerID))
	err := call.do(ctx, func(status int, body []byte) error {
		if len(body) == 0 {
			*customer = Customer{CustomerID: customerID}
			return nil
		}
		return read(status, body)
	})
	if err != nil {
		return nil, err
	}
	return customer, nil
}
