package webhooks

// EventType is the kind of event that a notification tells about. There are
// more kinds than this package knows; they are delivered like the others.
type EventType string

// The known event types. The first and the last stand in the service's
// contract; the others are known from the vendor's public pages.
const (
	// EventTypePayToAgreementConfirmed: the payer confirmed. Carries an Agreement.
	EventTypePayToAgreementConfirmed EventType = "payto.agreement.confirmed"
	// EventTypePayToAgreementDeclined: the payer declined. Carries an Agreement.
	EventTypePayToAgreementDeclined EventType = "payto.agreement.declined"
	// EventTypePayToAgreementExpired: the payer did not answer in time. Carries an
	// Agreement.
	EventTypePayToAgreementExpired EventType = "payto.agreement.expired"
	// EventTypePayToAgreementRecalled: the merchant recalled the agreement before
	// the payer answered. Carries an Agreement.
	EventTypePayToAgreementRecalled EventType = "payto.agreement.recalled"
	// EventTypePayToPaymentApproved: a payment was approved. Carries a Transaction.
	EventTypePayToPaymentApproved EventType = "payto.payment.approved"
)

// payload is what the data of a notification describes.
type payload uint8

const (
	payloadUnknown payload = iota
	payloadAgreement
	payloadTransaction
)

func (t EventType) payload() payload {
	switch t {
	case EventTypePayToAgreementConfirmed, EventTypePayToAgreementDeclined,
		EventTypePayToAgreementExpired, EventTypePayToAgreementRecalled:
		return payloadAgreement
	case EventTypePayToPaymentApproved:
		return payloadTransaction
	default:
		return payloadUnknown
	}
}

// label is the event type as it may be printed: a type that this package does
// not know is text from outside.
func (t EventType) label() string {
	if t.payload() == payloadUnknown {
		return "unknown"
	}
	return string(t)
}
