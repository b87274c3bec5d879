package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
)

func (b *Sandbox) threeDSOperations() []operation {
	return []operation{{id: "POST /single-use-tokens/{singleUseTokenId}/three-ds2-authentication", handle: b.authenticateCard}}
}

// TransStatus is the result of a 3D Secure authentication.
type TransStatus string

// The results. With Y and A the token can be used, C needs the payer, with the
// others the authentication has failed.
const (
	ThreeDSAuthenticated    TransStatus = "Y"
	ThreeDSAttempted        TransStatus = "A"
	ThreeDSChallenge        TransStatus = "C"
	ThreeDSNotAuthenticated TransStatus = "N"
	ThreeDSRejected         TransStatus = "R"
	ThreeDSUnavailable      TransStatus = "U"
)

// The cards whose authentication has a result other than Y. They are public test
// cards whose payments are approved; what 3D Secure does with them is the
// sandbox's own choice.
const (
	CardAttempted        = "4444333322221111" // A
	CardChallenge        = "4111111111111111" // C, until the payer answers
	CardNotAuthenticated = "4017950000000009" // N
	CardRejected         = "4041370000456459" // R
	CardUnavailable      = "4564000000000182" // U
)

// threeDS is how far the authentication of a token has come.
type threeDS struct {
	request threeDSRequest
	status  TransStatus // empty: not asked for yet
}

// failed reports an authentication that cannot succeed any more.
func (s TransStatus) failed() bool {
	return s == ThreeDSNotAuthenticated || s == ThreeDSRejected || s == ThreeDSUnavailable
}

func (s TransStatus) passed() bool { return s == ThreeDSAuthenticated || s == ThreeDSAttempted }

// NextThreeDS decides the results of the authentications to come, one each, in
// order, in place of what the test cards say.
func (b *Sandbox) NextThreeDS(statuses ...TransStatus) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.threeDSScript = append(b.threeDSScript, statuses...)
}

// WithoutThreeDS leaves 3D Secure disabled for the businesses named, or for all
// of them when none is: authentication answers 503.
func WithoutThreeDS(codes ...string) Option {
	return func(s *settings) {
		s.noThreeDS = func(code string) bool { return len(codes) == 0 || slices.Contains(codes, code) }
	}
}

// Challenge describes an authentication that waits for the payer.
type Challenge struct {
	SingleUseTokenID string
	CardNumber       string // masked
	Amount           string // with two decimals; empty when a card is to be stored
}

// Challenges lists the authentications that wait for their payers, oldest first.
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

// AnswerChallenge is the payer's answer to a challenge, with any result but C.
// Authenticating the token again reports it. It is an error when the token has no
// open challenge or has expired.
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

// authenticateCard does not use the token up. Once there is a result, asking
// again gives the same one.
func (b *Sandbox) authenticateCard(c *call) answer {
	tok := b.tokens.byID[c.params[sourceToken]]
	if tok == nil || !tok.live(c.now) || tok.used {
		return c.notFound("single-use token")
	}
	if b.noThreeDS(tok.shop.code) {
		return c.problem(http.StatusServiceUnavailable, "3D Secure is not enabled for this facility.")
	}
	f, refusal, ok := c.readBody()
	if !ok {
		return refusal
	}
	r := b.readThreeDS(f)
	if tok.profile == nil {
		f.refuse(sourceToken, "", "was not made with threeDS2 and a browser profile")
	}
	if !c.valid() {
		return c.invalid()
	}
	if tok.threeDS.status == "" {
		tok.threeDS = threeDS{request: r, status: b.threeDSResult(tok.source.card)}
	}
	return reply(http.StatusOK, threeDSBody{TransStatus: tok.threeDS.status})
}

func (b *Sandbox) threeDSResult(cd *card) TransStatus {
	if len(b.threeDSScript) > 0 {
		next := b.threeDSScript[0]
		b.threeDSScript = slices.Delete(b.threeDSScript, 0, 1)
		return next
	}
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

// checkThreeDS applies the rules on the use of tokens that may need, or have,
// authentication. What it is to be used for is a payment when tx is given.
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
