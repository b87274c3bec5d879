package quickstream

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// TransStatus is the result of a 3D Secure authentication.
//
// A value that comes from a browser, such as after a challenge, is whatever the
// browser says: pay on the strength of what the service answered to this server
// only.
type TransStatus string

// The results.
const (
	TransStatusAuthenticated    TransStatus = "Y"
	TransStatusAttempted        TransStatus = "A" // the issuer could not authenticate and vouches for the attempt
	TransStatusChallenge        TransStatus = "C" // the cardholder has to answer first
	TransStatusNotAuthenticated TransStatus = "N"
	TransStatusRejected         TransStatus = "R"
	TransStatusUnavailable      TransStatus = "U"
)

// ThreeDSStep is what to do after a 3D Secure authentication.
type ThreeDSStep string

// The steps.
const (
	// ThreeDSStepProceed: use the token, with ThreeDS2 true, to pay or to register the
	// account.
	ThreeDSStepProceed ThreeDSStep = "proceed"
	// ThreeDSStepChallenge: show the challenge in the cardholder's browser, with
	// the service's own script, and authenticate again afterwards.
	ThreeDSStepChallenge ThreeDSStep = "show challenge"
	// ThreeDSStepStop: tell the cardholder; take no payment and register no account.
	ThreeDSStepStop ThreeDSStep = "stop"
)

// Next returns what to do. A value that this package does not know, and none at
// all, mean [ThreeDSStepStop].
func (s TransStatus) Next() ThreeDSStep {
	switch s {
	case TransStatusAuthenticated, TransStatusAttempted:
		return ThreeDSStepProceed
	case TransStatusChallenge:
		return ThreeDSStepChallenge
	default:
		return ThreeDSStepStop
	}
}

// AuthenticateParams describes a 3D Secure authentication. Members beyond what the
// purpose requires are optional; the more of them the issuer sees, the less
// often the cardholder is challenged.
type AuthenticateParams struct {
	// MessageCategory says what the token will be used for. Required.
	MessageCategory ThreeDSMessageCategory `json:"messageCategory"`
	// Purpose is the member threeDSRequestorAuthenticationInd. Required.
	Purpose ThreeDSPurpose `json:"threeDSRequestorAuthenticationInd"`
	// PrincipalAmount is the amount before surcharge, with at most two decimals.
	// Required for a payment, a recurring payment and an instalment.
	PrincipalAmount *decimal.Decimal `json:"principalAmount"`
	// Currency is [CurrencyAUD] when there is an amount; there is no other.
	Currency Currency `json:"currency"`
	// RecurringExpiry is the last day of authorisations, and RecurringFrequency
	// the least days between two, up to 9999. Both are required for a recurring
	// payment and an instalment.
	RecurringExpiry    Date `json:"recurringExpiry"`
	RecurringFrequency *int `json:"recurringFrequency"`
	// Instalments is the most authorisations, up to 999: the member
	// purchaseInstalData. Required for an instalment.
	Instalments *int `json:"purchaseInstalData"`
	// Email has up to 254 characters, a phone number up to 15. The service asks for
	// the international form, such as +61400000000; a local one is sent as it is.
	Email       string `json:"email"`
	HomePhone   string `json:"homePhone"`
	MobilePhone string `json:"mobilePhone"`
	WorkPhone   string `json:"workPhone"`
	// BillingAddress is required for [ThreeDSMessageCategoryPayment], and recommended
	// otherwise. Which of its members are required only the service knows.
	BillingAddress  ThreeDSAddress `prefix:"billAddr"`
	ShippingAddress ThreeDSAddress `prefix:"shipAddr"`
	// AddressesMatch says whether the two addresses are the same.
	AddressesMatch *bool `json:"addrMatch"`
	Order          ThreeDSOrder
	Account        ThreeDSAccount
}

// wire returns the members of the body, which are all texts: the fields that are not zero,
// by the names in their tags, and those of an address by a prefix and their own.
func (p AuthenticateParams) wire() map[string]any {
	if p.Currency == "" && p.PrincipalAmount != nil {
		p.Currency = CurrencyAUD
	}
	members := map[string]any{}
	addMembers(members, "", reflect.ValueOf(p))
	return members
}

func addMembers(members map[string]any, prefix string, of reflect.Value) {
	for field, value := range of.Fields() {
		name := cmp.Or(field.Tag.Get("json"), prefix+field.Name)
		if value.IsZero() {
			continue
		}
		switch v := value.Interface().(type) {
		case ThreeDSAddress, ThreeDSOrder, ThreeDSAccount:
			addMembers(members, field.Tag.Get("prefix"), value)
		case Date:
			members[name] = fmt.Sprintf("%04d%02d%02d", v.Year, int(v.Month), v.Day)
		case *bool:
			members[name] = map[bool]string{true: "Y", false: "N"}[*v]
		case *int, *int64:
			members[name] = fmt.Sprintf(cmp.Or(field.Tag.Get("format"), "%d"), value.Elem())
		case *decimal.Decimal:
			members[name] = wire.NewText(*v)
		default:
			members[name] = value.String()
		}
	}
}

// ThreeDSMessageCategory says what a token that is authenticated will be used
// for.
type ThreeDSMessageCategory string

// The categories.
const (
	ThreeDSMessageCategoryPayment ThreeDSMessageCategory = "01"
	ThreeDSMessageCategoryStoring ThreeDSMessageCategory = "02"
)

// ThreeDSPurpose is why a cardholder is authenticated.
type ThreeDSPurpose string

// The purposes.
const (
	ThreeDSPurposePayment      ThreeDSPurpose = "01"
	ThreeDSPurposeRecurring    ThreeDSPurpose = "02"
	ThreeDSPurposeInstalment   ThreeDSPurpose = "03"
	ThreeDSPurposeAddCard      ThreeDSPurpose = "04"
	ThreeDSPurposeMaintainCard ThreeDSPurpose = "05"
	// ThreeDSPurposeVerification verifies the cardholder for tokenising the card.
	ThreeDSPurposeVerification ThreeDSPurpose = "06"
)

// ThreeDSAddress is a billing or shipping address.
type ThreeDSAddress struct {
	// The lines and City have up to 50 characters each.
	Line1, Line2, Line3 string
	City                string
	PostCode            string // up to 16 characters
	State               string // ISO 3166-2 subdivision, up to 3 characters, such as NSW
	Country             string // ISO 3166-1 numeric, such as 036 for Australia
}

// Authenticate authenticates the cardholder behind a single-use token of a card
// that was made with a browser profile and not used yet. It does not use the token
// up.
//
// POST /single-use-tokens/{singleUseTokenId}/three-ds2-authentication. Read what to do
// from [TransStatus.Next]: a failed authentication is
// not an error. A token that is unknown or older than 10 minutes is an [APIError]
// that matches [ErrNotFound]. A 503 in the service's own words is one that matches
// [ErrThreeDSNotEnabled]: the facility has no 3D Secure. Any other 503 matches
// [ErrUnavailable] too, because it is one of the two. Neither is a reason to pay
// without authentication.
// After an [UnknownOutcomeError] authenticate again: that charges nothing.
func (s *SingleUseTokensService) Authenticate(ctx context.Context, singleUseTokenID string, params AuthenticateParams, opts ...CallOption) (*ThreeDSResult, error) {
	call := s.client.begin(OperationAuthenticate, opts, singleUseTokenID)
	call.check(params.check)
	call.body = params.wire()
	return send[ThreeDSResult](ctx, call)
}

// ThreeDSResult is the answer to an authentication.
type ThreeDSResult struct {
	TransStatus TransStatus `json:"transStatus,omitempty" wire:"decides"`
	Links       []Link      `json:"links,omitempty"`

	envelope
}

func (r *ThreeDSResult) identifier() string { return string(r.TransStatus) }
