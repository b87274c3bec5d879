package quickstream

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
)

// CustomersService holds the operations on customers.
type CustomersService struct{ client *Client }

// CustomerStatus says whether a customer can be used.
type CustomerStatus string

// The statuses of a customer, known from public client code; unconfirmed.
const (
	CustomerStatusEnabled  CustomerStatus = "ENABLED"
	CustomerStatusDisabled CustomerStatus = "DISABLED"
)

// NotificationMedium says how a customer wants to be notified.
type NotificationMedium string

// The media of notification, known from public client code; unconfirmed.
const (
	NotificationMediumEmail       NotificationMedium = "EMAIL"
	NotificationMediumSMS         NotificationMedium = "SMS"
	NotificationMediumEmailAndSMS NotificationMedium = "EMAILANDSMS"
	NotificationMediumNone        NotificationMedium = "NONE"
)

// Address is a postal address. Its members are known from public client code
// and are unconfirmed.
type Address struct {
	Street1  string `json:"street1,omitempty"`
	Street2  string `json:"street2,omitempty"`
	Street3  string `json:"street3,omitempty"`
	City     string `json:"city,omitempty"`
	State    string `json:"state,omitempty"`
	Postcode string `json:"postcode,omitempty"`
	Country  string `json:"country,omitempty"`
}

// Customer is a customer of the merchant. The members other than CustomerID,
// CustomerNumber and CustomerName are known from public client code and are
// unconfirmed.
type Customer struct {
	// CustomerID is the service's identifier, for use in other operations.
	CustomerID string `json:"customerId,omitempty" wire:"identifies"`
	// CustomerNumber is the merchant's own unique identifier.
	CustomerNumber              string             `json:"customerNumber,omitempty" wire:"decides"`
	CustomerName                string             `json:"customerName,omitempty"`
	SupplierBusinessCode        string             `json:"supplierBusinessCode,omitempty"`
	Status                      CustomerStatus     `json:"status,omitempty" wire:"decides"`
	PhoneNumber                 string             `json:"phoneNumber,omitempty"`
	EmailAddress                string             `json:"emailAddress,omitempty"`
	PreferredNotificationMedium NotificationMedium `json:"preferredNotificationMedium,omitempty"`
	Address                     *Address           `json:"address,omitempty"`
	Links                       []Link             `json:"links,omitempty"`

	envelope
}

// UnmarshalJSON reads a customer.
func (c *Customer) UnmarshalJSON(data []byte) error { return decode(bytes.Clone(data), c) }

// MarshalJSON writes the customer with the members that this package does not
// model, so that it can be stored.
func (c Customer) MarshalJSON() ([]byte, error) {
	type plain Customer
	return encode(plain(c), c.envelope)
}

func (c *Customer) identifier() string { return c.CustomerID }

// CreateCustomerParams describes a new customer.
type CreateCustomerParams struct {
	// CustomerNumber is the merchant's own identifier. Required and unique.
	CustomerNumber string
	// CustomerName is required.
	CustomerName string
	// The other members are known from public client code; unconfirmed.
	SupplierBusinessCode        string
	PhoneNumber                 string // international or local form
	EmailAddress                string
	PreferredNotificationMedium NotificationMedium
	Address                     *Address
}

type customerJSON struct {
	CustomerNumber              *string             `json:"customerNumber,omitempty"`
	CustomerName                *string             `json:"customerName,omitempty"`
	SupplierBusinessCode        *string             `json:"supplierBusinessCode,omitempty"`
	PhoneNumber                 *string             `json:"phoneNumber,omitempty"`
	EmailAddress                *string             `json:"emailAddress,omitempty"`
	PreferredNotificationMedium *NotificationMedium `json:"preferredNotificationMedium,omitempty"`
	Address                     *Address            `json:"address,omitempty"`
	Enabled                     *bool               `json:"enabled,omitempty"`
}

func (p CreateCustomerParams) check(f *findings) {
	f.require(p.CustomerNumber != "", "customer.customerNumber.required", "customerNumber", "is required")
	f.require(p.CustomerName != "", "customer.customerName.required", "customerName", "is required")
}

// Create registers a customer.
//
// POST /customers. A customer number that is taken is refused with an [APIError]
// that matches [ErrInvalid]. When the answer is lost the error is an
// [UnknownOutcomeError]: ask GetByNumber for the customer number.
func (s *CustomersService) Create(ctx context.Context, params CreateCustomerParams, opts ...CallOption) (*Customer, error) {
	call := s.client.begin(OperationCreateCustomer, opts)
	params.SupplierBusinessCode = cmp.Or(params.SupplierBusinessCode, call.config.business)
	call.check(params.check)
	call.reference = params.CustomerNumber
	call.body = customerJSON{
		CustomerNumber: optional(params.CustomerNumber), CustomerName: optional(params.CustomerName),
		SupplierBusinessCode: optional(params.SupplierBusinessCode), PhoneNumber: optional(params.PhoneNumber),
		EmailAddress: optional(params.EmailAddress), PreferredNotificationMedium: optional(params.PreferredNotificationMedium),
		Address: params.Address,
	}
	return send[Customer](ctx, call)
}

// Get returns a customer by the service's identifier.
//
// GET /customers/{customerId}. An unknown identifier is an [APIError] that matches
// [ErrNotFound]. The operation is described in the vendor's public pages.
func (s *CustomersService) Get(ctx context.Context, customerID string, opts ...CallOption) (*Customer, error) {
	return get[Customer](ctx, s.client, "Customers.Get", opts, customerID)
}

// ListCustomersParams narrows a list of customers; the zero value lists all.
type ListCustomersParams struct {
	// CustomerNumber matches exactly.
	CustomerNumber string `url:"customerNumber,omitempty"`
	// CustomerName and EmailAddress match in part. They are described in the
	// vendor's public pages.
	CustomerName string `url:"customerName,omitempty"`
	EmailAddress string `url:"emailAddress,omitempty"`
}

// List returns the customers that match, sorted by identifier.
//
// GET /customers, page by page.
func (s *CustomersService) List(params ListCustomersParams, opts ...CallOption) List[Customer] {
	return list[Customer](s.client, "Customers.List", params, nil, opts)
}

// GetByNumber returns the customer with the merchant's own customer number, or the one
// whose number differs in case only, and an error that matches [ErrNotFound] when there
// is none.
//
// GET /customers. After an unknown outcome of Create, "not found" means "not found
// yet".
func (s *CustomersService) GetByNumber(ctx context.Context, customerNumber string, opts ...CallOption) (*Customer, error) {
	const name Operation = "Customers.GetByNumber"
	if customerNumber == "" {
		return nil, s.client.refused(ctx, name, &ValidationError{Operation: name, Findings: []Finding{{
			Rule: "customer.customerNumber.required", Path: "customerNumber", Message: "is required",
		}}})
	}
	var alike []*Customer
	for customer, err := range s.List(ListCustomersParams{CustomerNumber: customerNumber}, named(name).with(opts)...).All(ctx) {
		switch {
		case err != nil:
			return nil, err
		case customer.CustomerNumber == customerNumber:
			return customer, nil
		case sameText(customer.CustomerNumber, customerNumber):
			alike = append(alike, customer)
		}
	}
	if len(alike) == 1 {
		return alike[0], nil
	}
	return nil, fmt.Errorf("quickstream: no customer has the number: %w", ErrNotFound)
}

// UpdateCustomerParams holds the members to change. A nil member is left as it
// is; new("") empties a text.
type UpdateCustomerParams struct {
	CustomerNumber              *string
	CustomerName                *string
	SupplierBusinessCode        *string
	PhoneNumber                 *string
	EmailAddress                *string
	PreferredNotificationMedium *NotificationMedium
	Address                     *Address
	// Enabled disables or enables the customer.
	Enabled *bool
}

func (p UpdateCustomerParams) check(f *findings) {
	f.require(p != UpdateCustomerParams{}, "customer.update.empty", "(body)", "must change something")
}

// Update changes a customer.
//
// PUT /customers/{customerId}. The operation is described in the vendor's public
// pages, its members in public client code; unconfirmed. When the answer is lost
// the error is an [UnknownOutcomeError]: Get shows whether the customer is as
// desired. Where the service answers without a body, the customer has its
// CustomerID alone.
func (s *CustomersService) Update(ctx context.Context, customerID string, params UpdateCustomerParams, opts ...CallOption) (*Customer, error) {
	call := s.client.begin(OperationUpdateCustomer, opts, customerID)
	call.check(params.check)
	call.body = customerJSON(params)
	customer := new(Customer)
	read := about(customer, identifiedBy[Customer](customerID))
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

// optional returns nil for a zero value, so that omitempty leaves it out.
func optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
