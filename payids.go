package quickstream

import (
	"cmp"
	"context"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// PayIDsService registers PayIDs to which customers pay from their own bank. It is newer than the
// specification, and from the vendor's public pages; unconfirmed.
type PayIDsService struct{ client *Client }

// PayIDUse says how often a PayID can be paid to.
type PayIDUse string

// The uses of a PayID. A single one is deregistered after one payment.
const (
	PayIDUseStatic PayIDUse = "STATIC"
	PayIDUseSingle PayIDUse = "SINGLE"
)

// RegisterPayIDParams describes a PayID. Add unpublished members, such as registrationPriority, with
// [WithExtraField].
type RegisterPayIDParams struct {
	// PayID is an email address in a domain that was agreed with the bank. Required.
	PayID Secret
	// Use is type. Required.
	Use PayIDUse
	// SupplierBusinessCode is the business that is paid. Optional here: the service may require it.
	SupplierBusinessCode string
	// PaymentAmount is the amount that a single PayID expects, in dollars with at most two decimals:
	// the service sends any other amount back to the payer. Optional, and for a single PayID only.
	PaymentAmount *decimal.Decimal
}

type payIDJSON struct {
	PayID                string     `json:"payId"`
	Type                 PayIDUse   `json:"type"`
	SupplierBusinessCode string     `json:"supplierBusinessCode,omitempty"`
	PaymentAmount        *wire.Text `json:"paymentAmount,omitempty"`
}

func (b payIDJSON) check(f *findings) {
	f.require(b.PayID != "", "payId.payId.required", "payId", "is required")
	f.require(b.Type == PayIDUseStatic || b.Type == PayIDUseSingle, "payId.type.known", "type", "must be STATIC or SINGLE")
	f.require(b.PaymentAmount == nil || b.Type == PayIDUseSingle, "payId.paymentAmount.single", "paymentAmount", "is for a single PayID only")
	f.require(isAmount(b.PaymentAmount), "payId.paymentAmount.money", "paymentAmount", "must not be negative or have more than two decimals or 32 digits")
}

// Register submits a PayID of a customer for registration. The answer does not show whether and
// when it is registered, and its members are not published.
//
// POST /customers/{customerId}/payids. A PayID that cannot be registered matches [ErrInvalid], an
// unknown customer [ErrNotFound]; unconfirmed. After an [UnknownOutcomeError] it may be registered:
// look in the service's portal.
func (s *PayIDsService) Register(ctx context.Context, customerID string, params RegisterPayIDParams, opts ...CallOption) error {
	call := s.client.begin("PayIDs.Register", opts, customerID)
	body := payIDJSON{params.PayID.text(), params.Use, cmp.Or(params.SupplierBusinessCode, call.config.business), wire.OptionalText(params.PaymentAmount)}
	call.check(body.check)
	call.body = body
	return call.do(ctx, func(_ int, answer []byte) error {
		if len(answer) > 0 && !wire.IsObject(answer) {
			return errNotObject
		}
		return nil
	})
}
