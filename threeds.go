package quickstream

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// TransStatus is the result of a 3D Secure authentication. Use the service's answer to this server:
// never decide by one that came from a browser, such as after a challenge.
type TransStatus string

// The results.
const (
	TransStatusAuthenticated    TransStatus = "Y"
	TransStatusAttempted        TransStatus = "A" // the issuer could not authenticate but vouches for the attempt
	TransStatusChallenge        TransStatus = "C" // the cardholder has to answer first
	TransStatusNotAuthenticated TransStatus = "N"
	TransStatusRejected         TransStatus = "R"
	TransStatusUnavailable      TransStatus = "U"
)

// ThreeDSStep says what to do after an authentication.
type ThreeDSStep string

// The steps.
const (
	// ThreeDSStepProceed: pay or register the account with the token and ThreeDS2 true.
	ThreeDSStepProceed ThreeDSStep = "proceed"
	// ThreeDSStepChallenge: show the challenge in the cardholder's browser with the service's own
	// script, then authenticate again.
	ThreeDSStepChallenge ThreeDSStep = "show challenge"
	// ThreeDSStepStop: take no payment, register no account, and inform the cardholder.
	ThreeDSStepStop ThreeDSStep = "stop"
)

// Next returns what to do. An unknown or empty value means [ThreeDSStepStop].
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

// AuthenticateParams describes a 3D Secure authentication. Members are optional unless they say
// otherwise. The more the issuer sees, the less often the cardholder is challenged.
type AuthenticateParams struct {
	// MessageCategory says what the token is for. Required.
	MessageCategory ThreeDSMessageCategory `json:"messageCategory"`
	// Purpose is the member threeDSRequestorAuthenticationInd. Required.
	Purpose ThreeDSPurpose `json:"threeDSRequestorAuthenticationInd"`
	// PrincipalAmount is the amount before surcharge, with at most two decimals. Required for
	// payments, recurring payments and instalments.
	PrincipalAmount *decimal.Decimal `json:"principalAmount"`
	// Currency of the amount: [CurrencyAUD], also if empty.
	Currency Currency `json:"currency"`
	// RecurringExpiry is the last day of authorisations, RecurringFrequency the least days between
	// two, up to 9999. Required for recurring payments and instalments.
	RecurringExpiry    Date `json:"recurringExpiry"`
	RecurringFrequency *int `json:"recurringFrequency"`
	// Instalments is the member purchaseInstalData, up to 999. Required for instalments.
	Instalments *int `json:"purchaseInstalData"`
	// Email has up to 254 characters, a phone number up to 15, in international form such as
	// +61400000000. They are sent unchanged.
	Email       string `json:"email"`
	HomePhone   string `json:"homePhone"`
	MobilePhone string `json:"mobilePhone"`
	WorkPhone   string `json:"workPhone"`
	// BillingAddress is required for [ThreeDSMessageCategoryPayment]; the service does not publish
	// which members.
	BillingAddress  ThreeDSAddress `prefix:"billAddr"`
	ShippingAddress ThreeDSAddress `prefix:"shipAddr"`
	// AddressesMatch says whether the two addresses are the same.
	AddressesMatch *bool `json:"addrMatch"`
	Order          ThreeDSOrder
	Account        ThreeDSAccount
}

// wire returns the members of the body, all of them texts: the fields that are not zero, by the
// names in their tags, and those of an address with a prefix.
func (p AuthenticateParams) wire() map[string]any {
	if p.Currency == "" && p.PrincipalAmount != nil {
		p.Currency = CurrencyAUD
	}
	members := map[string]any{}
	eachMember("", reflect.ValueOf(p), func(name, format string, value reflect.Value) {
		if value.IsZero() {
			return
		}
		switch v := value.Interface().(type) {
		case Date:
			members[name] = fmt.Sprintf("%04d%02d%02d", v.Year, int(v.Month), v.Day)
		case *bool:
			members[name] = map[bool]string{true: "Y", false: "N"}[*v]
		case *int, *int64:
			members[name] = fmt.Sprintf(cmp.Or(format, "%d"), value.Elem())
		case *decimal.Decimal:
			members[name] = wire.NewText(*v)
		default:
			members[name] = value.String()
		}
	})
	return members
}

// eachMember calls do for each field that is a member of the body.
func eachMember(prefix string, of reflect.Value, do func(name, format string, value reflect.Value)) {
	for field, value := range of.Fields() {
		switch value.Interface().(type) {
		case ThreeDSAddress, ThreeDSOrder, ThreeDSAccount:
			eachMember(field.Tag.Get("prefix"), value, do)
		default:
			do(cmp.Or(field.Tag.Get("json"), prefix+field.Name), field.Tag.Get("format"), value)
		}
	}
}

// refuseKnown refuses members of WithExtraField that are the parameters'.
func (p *AuthenticateParams) refuseKnown(c *call) {
	eachMember("", reflect.ValueOf(p).Elem(), func(name, _ string, _ reflect.Value) {
		for _, extra := range c.config.extra {
			if strings.EqualFold(name, extra.path[0]) {
				c.refuse(fmt.Errorf("option WithExtraField: %q is set by the parameters", name))
			}
		}
	})
}

// ThreeDSMessageCategory says what an authenticated token is for.
type ThreeDSMessageCategory string

// The categories.
const (
	ThreeDSMessageCategoryPayment ThreeDSMessageCategory = "01"
	ThreeDSMessageCategoryStoring ThreeDSMessageCategory = "02"
)

// ThreeDSPurpose is the reason for an authentication.
type ThreeDSPurpose string

// The purposes.
const (
	ThreeDSPurposePayment      ThreeDSPurpose = "01"
	ThreeDSPurposeRecurring    ThreeDSPurpose = "02"
	ThreeDSPurposeInstalment   ThreeDSPurpose = "03"
	ThreeDSPurposeAddCard      ThreeDSPurpose = "04"
	ThreeDSPurposeMaintainCard ThreeDSPurpose = "05"
	// ThreeDSPurposeVerification verifies the cardholder before the card is tokenised.
	ThreeDSPurposeVerification ThreeDSPurpose = "06"
)

// ThreeDSAddress is a billing or shipping address.
type ThreeDSAddress struct {
	// Lines and City have up to 50 characters each.
	Line1, Line2, Line3 string
	City                string
	PostCode            string // up to 16 characters
	State               string // ISO 3166-2 subdivision, up to 3 characters, such as NSW
	Country             string // ISO 3166-1 numeric, such as 036 for Australia
}

// Authenticate authenticates the cardholder of an unused card token that was created with a
// [BrowserProfile]. It does not use the token up. Act on [TransStatus.Next]: a failed
// authentication is not an error.
//
// POST /single-use-tokens/{singleUseTokenId}/three-ds2-authentication. A token that is unknown or
// older than 10 minutes matches [ErrNotFound]. Others can match [ErrInvalid], [ErrUnauthorized] or
// [ErrRateLimited]. A 503 matches [ErrThreeDSNotEnabled], and [ErrUnavailable] as well if it is not
// in the service's own words: never pay without authentication because of it. After an
// [UnknownOutcomeError] authenticate again: it charges nothing.
func (s *SingleUseTokensService) Authenticate(ctx context.Context, singleUseTokenID string, params AuthenticateParams, opts ...CallOption) (*ThreeDSResult, error) {
	call := s.client.begin("SingleUseTokens.Authenticate", opts, singleUseTokenID)
	params.refuseKnown(call)
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
