package quickstream

import (
	"context"
)

// RecurringPaymentsService has the operations on recurring payments, which the service makes on a
// schedule.
type RecurringPaymentsService struct{ client *Client }

// RecurringPayment is a schedule of payments. Its members are from the vendor's public pages, which
// name no others: read those, such as the frequency, from Extra.
type RecurringPayment struct {
	PaymentScheduleID   string `json:"paymentScheduleId,omitempty" wire:"identifies"`
	PaymentScheduleCode string `json:"paymentScheduleCode,omitempty"`
	// Status is ACTIVE in the vendor's public pages, which name no other.
	Status string `json:"status,omitempty" wire:"decides"`
	Links  []Link `json:"links,omitempty"`

	envelope
}

func (p *RecurringPayment) identifier() string { return p.PaymentScheduleID }

// Get returns a recurring payment.
//
// GET /recurring-payments/{paymentScheduleId}. An unknown identifier matches [ErrNotFound]. From
// the vendor's public pages.
func (s *RecurringPaymentsService) Get(ctx context.Context, paymentScheduleID string, opts ...CallOption) (*RecurringPayment, error) {
	return get[RecurringPayment](ctx, s.client, "RecurringPayments.Get", opts, paymentScheduleID)
}

// List returns the recurring payments of a customer: active ones first, then by code.
//
// GET /customers/{customerId}/recurring-payments. An unknown customer matches [ErrNotFound];
// unconfirmed. From the vendor's public pages.
func (s *RecurringPaymentsService) List(customerID string, opts ...CallOption) List[RecurringPayment] {
	return list[RecurringPayment](s.client, "RecurringPayments.List", nil, nil, opts, customerID)
}

// Transactions returns the payments of a schedule.
//
// GET /recurring-payments/{paymentScheduleId}/transactions. An unknown identifier matches
// [ErrNotFound]; unconfirmed.
func (s *RecurringPaymentsService) Transactions(paymentScheduleID string, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "RecurringPayments.Transactions", nil, nil, opts, paymentScheduleID)
}
