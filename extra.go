package quickstream

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// extraField is a member of WithExtraField.
type extraField struct {
	path     []string
	value    json.RawMessage
	model    reflect.Type // of the body that setFields has seen; nil for others
	replaces bool         // a member of the body, which cannot hold the value
}

// WithExtraField adds a member without a Go field to the request. Name is its path, such as
// "creditCard.newMember". It cannot be a known name in another case.
//
// In transactions, registrations, tokens, customers, 3D Secure, agreements and their changes it can
// also replace a text, number or boolean of the parameters, such as "creditCard.expiryDateYear", if
// the service wants another form. If the type stays the same, the rules judge the new value (not of
// a token or customer), and an intent holds it. What decides cannot be replaced: types, amounts,
// currency, references, receipts, tokens, customers, payers, businesses, metadata, the numbers of
// cards and accounts, PayIDs, and the purpose, dates and terms of agreements.
func WithExtraField(name string, value any) CallOption {
	return callOption(func(c *callConfig) error {
		path := strings.Split(name, ".")
		for _, part := range path {
			if part == "" {
				return errors.New("WithExtraField: the name is empty or has an empty part")
			}
		}
		encoded, err := wire.Encode(value)
		if err = cmp.Or(wire.CheckText(name), err); err != nil {
			return fmt.Errorf("WithExtraField: %w", err)
		}
		c.extra = append(c.extra[:len(c.extra):len(c.extra)], extraField{path: path, value: encoded})
		return nil
	})
}

// decides reports whether a member says what is done, with whose account, or how it is found again.
func decides(name string) bool {
	switch name {
	case "transactionType", "authorisationType", "cancellationType", "accountType", "principalAmount", "currency",
		"customerReferenceNumber", "paymentReferenceNumber", "endToEndId", "customerNumber", "originalReceiptNumber", "receiptNumber",
		"singleUseTokenId", "accountToken", "customerId", "agreementToken", "cardNumber", "accountNumber", "nzAccountNumber", "payId", "payIdType",
		// The members by which agreements are compared, and those that say what a change does.
		"supplierBusinessCode", "agreementCreationType", "payeeReference", "payerId", "payerReference",
		"purpose", "startDate", "endDate", "automaticRenewal", "frequency", "numberOfPaymentsPermitted", "pointInTime", "agreementType",
		"firstPaymentAmount", "lastPaymentAmount", "paymentAmount", "maximumPaymentAmount", "firstPaymentDue", "lastPaymentDue",
		"updateType", "statusCode", "recallPayToAgreement", "statusAmendment", "unilateralAmendment", "bilateralAmendment",
		"messageCategory", "threeDSRequestorAuthenticationInd": // of 3D Secure
		return true
	default:
		return false
	}
}

func errDecides(path []string) error {
	return fmt.Errorf("option WithExtraField: %q can only be set by the parameters", strings.Join(path, "."))
}

// setFields replaces members of a body by those of WithExtraField, before the rules judge it and
// the intent keeps it.
func setFields[T any](c *call, body *T) {
	var rest []extraField
	model := reflect.TypeFor[T]()
	for _, field := range c.config.extra {
		name := field.path[len(field.path)-1]
		if decides(name) && wire.Models(model, field.path) {
			c.refuse(errDecides(field.path))
			return
		}
		plain, err := wire.Encode(body)
		if err != nil {
			c.refuse(err)
			return
		}
		wanted, is := wire.Replace(plain, field.path, field.value, model)
		if !is && decides(field.path[0]) && wire.Models(model, field.path) { // a part of another change
			c.refuse(errDecides(field.path))
			return
		}
		var read T
		if is && json.Unmarshal(wanted, &read) == nil {
			if written, err := wire.Encode(read); err == nil && wire.Same(written, wanted) {
				*body = read
				continue
			}
		}
		field.model, field.replaces = model, is
		rest = append(rest, field)
	}
	c.config.extra = rest
}
