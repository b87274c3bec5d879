package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

func (b *Sandbox) threeDSOperations() []operation {
	return []operation{{id: "POST /single-use-tokens/{singleUseTokenId}/three-ds2-authentication", handle: b.authenticateCard}}
}

// TransStatus is the result of a 3D Secure authentication.
type TransStatus string

// The results. A token with Y or A can be used. C needs the payer. With the others the
// authentication has failed.
const (
	ThreeDSAuthenticated    TransStatus = "Y"
	ThreeDSAttempted        TransStatus = "A"
	ThreeDSChallenge        TransStatus = "C"
	ThreeDSNotAuthenticated TransStatus = "N"
	ThreeDSRejected         TransStatus = "R"
	ThreeDSUnavailable      TransStatus = "U"
)

// The cards whose authentication has a result other than Y. They are public test cards whose
// payments are approved. The result of 3D Secure is the sandbox's own choice.
const (
	CardAttempted        = "4444333322221111" // A
	CardChallenge        = "4111111111111111" // C, until the payer answers
	CardNotAuthenticated = "4017950000000009" // N
	CardRejected         = "4041370000456459" // R
	CardUnavailable      = "4564000000000182" // U
)

// threeDS is the authentication of a token.
type threeDS struct {
	request threeDSRequest
	status  TransStatus // empty: not asked for
}

// failed reports an authentication that cannot succeed any more.
func (s TransStatus) failed() bool {
	return s == ThreeDSNotAuthenticated || s == ThreeDSRejected || s == ThreeDSUnavailable
}

func (s TransStatus) passed() bool { return s == ThreeDSAuthenticated || s == ThreeDSAttempted }

// WithoutThreeDS disables 3D Secure for the businesses with the codes, or for all without
// codes: authentication answers 503.
func WithoutThreeDS(codes ...string) Option {
	return func(s *settings) {
		s.noThreeDS = func(code string) bool { return len(codes) == 0 || slices.Contains(codes, code) }
	}
}

// Challenge is an authentication that waits for the payer.
type Challenge struct {
	SingleUseTokenID string `json:"singleUseTokenId"`
	CardNumber       string `json:"cardNumber"` // masked
	Amount           string `json:"amount"`     // with two decimals; empty if a card is to be stored
}

// Challenges returns the authentications that wait for their payers, oldest first.
func (b *Sandbox) Challenges() []Challenge {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []Challenge{}
	now := b.clock.Now()
	for _, tok := range b.tokens.ordered {
		if tok.threeDS.status != ThreeDSChallenge || !tok.live(now) {
			continue
		}
		ch := Challenge{SingleUseTokenID: tok.id, CardNumber: tok.source.card.firstSixLastThree()}
		if amount := tok.threeDS.request.amount; amount > 0 {
			ch.Amount = amount.String()
		}
		out = append(out, ch)
	}
	return out
}

// AnswerChallenge answers a challenge for the payer, with any result but C. The next
// authentication of the token returns it. It is an error if the token has no open challenge
// or has expired.
func (b *Sandbox) AnswerChallenge(singleUseTokenID string, status TransStatus) error {
	if !status.passed() && !status.failed() {
		return fmt.Errorf("sandbox: %q is no answer to a challenge", status)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	tok := b.tokens.byID[singleUseTokenID]
	if tok == nil || !tok.live(b.clock.Now()) || tok.threeDS.status != ThreeDSChallenge {
		return errors.New("sandbox: the token has no open challenge")
	}
	tok.threeDS.status = status
	return nil
}

type threeDSBody struct {
	TransStatus TransStatus `json:"transStatus"`
}

// authenticateCard does not use up the token. A second call returns the same result.
func (b *Sandbox) authenticateCard(c *call) answer {
	tok := b.tokens.byID[c.params[sourceToken]]
	if tok == nil || !tok.live(c.now) || tok.used {
		return c.notFound("single-use token")
	}
	if b.noThreeDS(tok.shop.code) {
		return c.problem(http.StatusServiceUnavailable, "3D Secure is not enabled for this facility.")
	}
	f := c.readBody()
	r := b.readThreeDS(f)
	if tok.profile == nil {
		f.refuse(sourceToken, "", "was not made with threeDS2 and a browser profile")
	}
	if !c.valid() {
		return c.invalid()
	}
	if tok.threeDS.status == "" {
		tok.threeDS = threeDS{request: r, status: threeDSResult(tok.source.card)}
	}
	return reply(http.StatusOK, threeDSBody{TransStatus: tok.threeDS.status})
}

func threeDSResult(cd *card) TransStatus {
	switch cd.number {
	case CardAttempted:
		return ThreeDSAttempted
	case CardChallenge:
		return ThreeDSChallenge
	case CardNotAuthenticated:
		return ThreeDSNotAuthenticated
	case CardRejected:
		return ThreeDSRejected
	case CardUnavailable:
		return ThreeDSUnavailable
	default:
		return ThreeDSAuthenticated
	}
}

// checkThreeDS applies the rules for tokens that need or have an authentication. tx is the
// payment, or nil if the account is to be kept.
func (b *Sandbox) checkThreeDS(f *fields, src *source, tx *transaction) {
	done, given := f.flag("threeDS2")
	var tok *token
	if src != nil {
		tok = src.token
	}
	switch {
	case tok == nil || tok.profile == nil:
		if done && (src != nil || !f.has(sourceToken)) {
			f.refuse("threeDS2", "true", "needs a single-use token that was authenticated by 3D Secure")
		}
		return
	case (!given || !done) && b.assume.ThreeDSFlagRequired:
		f.refuse("threeDS2", "", "must be true for a token that was authenticated by 3D Secure")
	}
	if r := tok.threeDS.request; b.assume.ThreeDSBindsUse {
		switch {
		case tx == nil && r.category != forStoring:
			f.refuse(sourceToken, "", "was authenticated for a payment and not to store the card")
		case tx != nil && tx.kind != typeVerification && r.category != forPayment:
			f.refuse(sourceToken, "", "was authenticated to store the card and not for a payment")
		case tx != nil && tx.kind != typeVerification && r.amount > 0 && (r.amount != tx.principal || r.currency != tx.currency):
			f.refuse("principalAmount", tx.principal.String(), "is not the amount that was authenticated")
		}
	}
}

// threeDSRequest is the use that an authentication is for.
type threeDSRequest struct {
	category string
	amount   cents
	currency string
}

// The values of messageCategory.
const (
	forPayment = "01"
	forStoring = "02"
)

// threeDSOptional returns the optional members of an authentication, with their checks.
func (b *Sandbox) threeDSOptional() map[string][]check {
	var (
		line    = []check{atMost(50)}
		post    = []check{atMost(16)}
		state   = []check{atMost(3)}
		numeric = []check{digits(3, 3)}
		email   = []check{atMost(254)}
		phone   = append(b.phone(), atMost(15))
		day     = []check{compactDate}
		upTo999 = []check{digits(1, 3)}
		between = func(last int) []check {
			codes := make([]string, 0, last)
			for i := range last {
				codes = append(codes, fmt.Sprintf("%02d", i+1))
			}
			return []check{oneOf(codes...)}
		}
	)
	return map[string][]check{
		"deliveryEmailAddress": email, "deliveryTimeframe": between(4),
		"giftCardAmount": {digits(1, 15)}, "giftCardCount": {digits(2, 2)}, "giftCardCurr": numeric,
		"preOrderDate": day, "preOrderPurchaseInd": between(2), "reorderItemsInd": between(2), "shipIndicator": between(7),
		"email": email, "homePhone": phone, "mobilePhone": phone, "workPhone": phone,
		"billAddrLine1": line, "billAddrLine2": line, "billAddrLine3": line, "billAddrCity": line,
		"billAddrPostCode": post, "billAddrState": state, "billAddrCountry": numeric, "addrMatch": {oneOf("Y", "N")},
		"shipAddrLine1": line, "shipAddrLine2": line, "shipAddrLine3": line, "shipAddrCity": line,
		"shipAddrPostCode": post, "shipAddrState": state, "shipAddrCountry": numeric,
		"acctID": {atMost(64)}, "chAccAgeInd": between(5), "chAccChange": day, "chAccChangeInd": between(4), "chAccDate": day,
		"chAccPwChange": day, "chAccPwChangeInd": between(5), "nbPurchaseAccount": {digits(1, 4)},
		"paymentAccAge": day, "paymentAccInd": between(5), "provisionAttemptsDay": upTo999,
		"shipAddressUsage": day, "shipAddressUsageInd": between(4), "shipNameIndicator": between(2),
		"suspiciousAccActivity": between(2), "txnActivityDay": upTo999, "txnActivityYear": upTo999,
	}
}

// moneyText checks an amount that is a string.
func (b *Sandbox) moneyText(s string) string {
	if amount, err := parseCents(s); err != nil || amount < 0 || b.assume.TwoDecimalStrings && s != amount.String() {
		return "must be an amount with two decimals"
	}
	return ""
}

// readThreeDS reads the body of an authentication.
func (b *Sandbox) readThreeDS(f *fields) threeDSRequest {
	r := threeDSRequest{category: f.need("messageCategory", oneOf(forPayment, forStoring))}
	indicator := f.need("threeDSRequestorAuthenticationInd", oneOf("01", "02", "03", "04", "05", "06"))
	requiredFor := func(indicators ...string) func(string, ...check) string {
		if slices.Contains(indicators, indicator) {
			return f.need
		}
		return f.text
	}
	amount := requiredFor("01", "02", "03")("principalAmount", b.moneyText)
	r.amount, _ = parseCents(amount)
	r.currency = requiredFor("01", "02", "03")("currency", oneOf("AUD"))
	requiredFor("02", "03")("recurringExpiry", compactDate)
	requiredFor("02", "03")("recurringFrequency", digits(1, 4))
	requiredFor("03")("purchaseInstalData", digits(1, 3))
	optional, addressed := b.threeDSOptional(), false
	for _, name := range slices.Sorted(maps.Keys(optional)) {
		checks := optional[name]
		addressed = addressed || strings.HasPrefix(name, "billAddr") && f.has(name)
		if r.category == forPayment && slices.Contains(b.assume.BillingAddressMembers, name) {
			f.need(name, checks...)
			continue
		}
		f.text(name, checks...)
	}
	if r.category == forPayment && !addressed {
		f.refuse("billAddrLine1", "", "or another member of the billing address is required for a payment")
	}
	return r
}
