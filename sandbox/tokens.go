package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

const tokenQuotaWindow = time.Minute

// tokenLifetime is stated in the contract.
const tokenLifetime = 10 * time.Minute

type token struct {
	id      string
	source  instrument
	profile object // the payer's browser, set if 3D Secure was asked for
	created time.Time
	used    bool
	shop    *business
	threeDS threeDS
}

func (t *token) live(now time.Time) bool { return now.Before(t.created.Add(tokenLifetime)) }

// instrument is a card, an account or an agreement: exactly one field is set.
type instrument struct {
	card  *card
	bank  *bankAccount
	nz    *nzBankAccount
	payTo *agreement
}

func (i instrument) details(body object, shop *business) {
	switch {
	case i.card != nil:
		cd := i.card
		maps.Copy(body, object{
			"cardNumber": cd.firstSixLastThree(), "maskedCardNumber4Digits": cd.number[:6] + "..." + cd.number[len(cd.number)-4:],
			"expiryDateMonth": cd.month, "expiryDateYear": cd.year[len(cd.year)-2:], "cardScheme": cd.scheme,
			"cardType": optional(cd.cardType), "cardholderName": optional(cd.holder),
			"surchargePercentage": percentage(shop.rate(cd.scheme, cd.cardType)),
		})
	case i.bank != nil:
		a := i.bank
		maps.Copy(body, object{"accountName": a.name, "bsb": maskedBSB(a.bsb), "accountNumber": maskedNumber(a.number)})
	case i.nz != nil:
		a := i.nz
		maps.Copy(body, object{
			"nzAccountName": a.name, "nzBankCode": a.bank, "nzBranchCode": a.branch, "nzAccountNumber": a.masked(), "nzAccountSuffix": a.suffix,
		})
	}
}

// describe adds the details of an account that is kept or was paid with.
func (i instrument) describe(body object, shop *business, currency string) {
	i.details(body, shop)
	switch {
	case i.card != nil:
		body["panType"], body["walletProvider"] = "FPAN", optional(i.card.walletProvider)
		if i.card.walletProvider != "" {
			body["panType"] = "DPAN"
		}
	case i.bank != nil:
		body["displayName"], body["currency"] = maskedAccount(i.bank.bsb, i.bank.number), currency
	case i.nz != nil:
		body["displayName"], body["currency"] = i.nz.masked(), currency
	}
}

func (i instrument) accountType() string {
	switch {
	case i.card != nil:
		return typeCard
	case i.bank != nil:
		return typeDirectDebit
	case i.payTo != nil:
		return typePayTo
	default:
		return typeDirectDebitNZ
	}
}

// forgetTokens deletes the tokens that have expired, and their account details with them.
func (b *Sandbox) forgetTokens(now time.Time) {
	for s := &b.tokens; len(s.ordered) > 0 && !s.ordered[0].live(now); s.ordered = slices.Delete(s.ordered, 0, 1) {
		delete(s.byID, s.ordered[0].id)
	}
}

func (b *Sandbox) overQuota(now time.Time) bool {
	n, quota := len(b.tokens.ordered), b.assume.TokenQuota
	return quota > 0 && n >= quota && now.Before(b.tokens.ordered[n-quota].created.Add(tokenQuotaWindow))
}

func (b *Sandbox) createToken(c *call) answer {
	f := c.readBody()
	code := f.need("supplierBusinessCode", b.knownBusiness)
	tok := token{created: c.now}
	accountType := f.need("accountType", oneOf(typeCard, typeDirectDebit, typeDirectDebitNZ))
	switch accountType {
	case typeCard:
		tok.source.card = b.readCard(f, false)
		tok.profile = f.threeDS2()
	case typeDirectDebit:
		tok.source.bank = f.bankAccount()
	case typeDirectDebitNZ:
		tok.source.nz = f.nzBankAccount(true)
	default:
		return c.invalid() // the type decides which other members are allowed
	}
	if !c.valid() {
		return c.invalid()
	}
	b.forgetTokens(c.now)
	if b.overQuota(c.now) {
		return c.problem(http.StatusTooManyRequests, "The quota of single-use tokens is used up.")
	}
	tok.shop = b.business(code)
	tok.id = b.newHandle()
	b.tokens.add(tok.id, &tok)
	return reply(http.StatusOK, b.tokenBody(c, &tok))
}

// newHandle returns an identifier, with UnknownMembers new in the full length that the service reserves.
func (b *Sandbox) newHandle() string {
	if b.addsMembers() {
		return randomText(b.ids, textAlphabet, 255)
	}
	return randomText(b.ids, textAlphabet, 36)
}

// threeDS2 reads the request for authentication. If authentication is asked for, the whole
// profile is required.
func (f *fields) threeDS2() object {
	wanted, _ := f.flag("threeDS2")
	p := f.object("browserProfile")
	if p == nil {
		if wanted {
			f.refuse("browserProfile", "", "is required when threeDS2 is true")
		}
		return nil
	}
	java, given := p.flag("browserJavaEnabled")
	if wanted && !given {
		p.refuse("browserJavaEnabled", "", "is required")
	}
	profile := object{
		"browserJavaEnabled":  java,
		"browserLanguage":     p.read(wanted, "browserLanguage", atMost(8), form(`[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*`)),
		"browserScreenHeight": p.read(wanted, "browserScreenHeight", digits(1, 6)),
		"browserScreenWidth":  p.read(wanted, "browserScreenWidth", digits(1, 6)),
		"browserColorDepth":   p.read(wanted, "browserColorDepth", oneOf("1", "4", "8", "15", "16", "24", "32", "48")),
		"browserTZ":           p.read(wanted, "browserTZ", atMost(5), form(`[+-]?[0-9]+`)),
	}
	if !wanted {
		return nil
	}
	return profile
}

func (b *Sandbox) tokenBody(c *call, tok *token) object {
	account := object{}
	tok.source.details(account, tok.shop)
	body := object{
		"links": c.links(get("self", c.href("single-use-tokens", tok.id))), "singleUseTokenId": tok.id, "accountType": tok.source.accountType(),
		"creditCard": nil, "bankAccount": nil, "nzBankAccount": nil,
	}
	body[map[string]string{typeCard: sourceCard, typeDirectDebit: sourceBank, typeDirectDebitNZ: sourceNZBank}[tok.source.accountType()]] = account
	if tok.source.card != nil {
		account["threeDS2AuthRequired"], account["threeDS2"], account["threeDS2Status"] = tok.profile != nil, nil, nil
	}
	if tok.source.card != nil && tok.profile != nil {
		account["threeDS2"], account["threeDS2Status"] = tok.profile, "AUTHENTICATION_REQUIRED"
	}
	return body
}

func percentage(basisPoints int) string {
	return fmt.Sprintf("%d.%02d", basisPoints/100, basisPoints%100)
}

// TransStatus is the result of a 3D Secure authentication.
type TransStatus string

// The results. A token with Y or A can be used. C needs the payer. With the others the
// authentication has failed.
const (
	TransStatusAuthenticated    TransStatus = "Y"
	TransStatusAttempted        TransStatus = "A"
	TransStatusChallenge        TransStatus = "C"
	TransStatusNotAuthenticated TransStatus = "N"
	TransStatusRejected         TransStatus = "R"
	TransStatusUnavailable      TransStatus = "U"
)

// Test cards for 3D Secure, without and with a challenge. [TestCards] has the results of the others,
// which are the sandbox's own choice.
const (
	CardAttempted = "4444333322221111" // A
	CardChallenge = "4111111111111111" // C, until the payer answers
)

// threeDSResults are the first results other than Y.
var threeDSResults = map[string]TransStatus{ //nolint:gochecknoglobals // an immutable table
	CardAttempted: TransStatusAttempted, CardChallenge: TransStatusChallenge, "4017950000000009": TransStatusNotAuthenticated,
	"4041370000456459": TransStatusRejected, "4564000000000182": TransStatusUnavailable,
}

func threeDSResult(number string) TransStatus {
	return cmp.Or(threeDSResults[number], TransStatusAuthenticated)
}

type threeDS struct {
	request threeDSRequest
	status  TransStatus // empty: not asked for
}

// failed reports whether the authentication cannot succeed any more.
func (s TransStatus) failed() bool {
	return s == TransStatusNotAuthenticated || s == TransStatusRejected || s == TransStatusUnavailable
}

func (s TransStatus) passed() bool { return s == TransStatusAuthenticated || s == TransStatusAttempted }

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
		if tok.threeDS.status != TransStatusChallenge || !tok.live(now) {
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

// AnswerChallenge answers a challenge for the payer, with any result but C. The next authentication of the
// token returns that result. It is an error if the token has no open challenge.
func (b *Sandbox) AnswerChallenge(singleUseTokenID string, status TransStatus) error {
	if !status.passed() && !status.failed() {
		return fmt.Errorf("sandbox: %q is no answer to a challenge", status)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	tok := b.tokens.byID[singleUseTokenID]
	if tok == nil || !tok.live(b.clock.Now()) || tok.threeDS.status != TransStatusChallenge {
		return errors.New("sandbox: the token has no open challenge")
	}
	tok.threeDS.status = status
	return nil
}

// authenticateCard does not use up the token. A second call returns the same result.
func (b *Sandbox) authenticateCard(c *call) answer {
	tok := b.tokens.byID[c.params[sourceToken]]
	if tok == nil || !tok.live(c.now) || tok.used {
		return c.notFound("single-use token")
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
		tok.threeDS = threeDS{request: r, status: threeDSResult(tok.source.card.number)}
	}
	return reply(http.StatusOK, object{"transStatus": tok.threeDS.status})
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
	case (!given || !done):
		f.refuse("threeDS2", "", "must be true for a token that was authenticated by 3D Secure")
	}
	switch r := tok.threeDS.request; {
	case tx == nil && r.category != forStoring:
		f.refuse(sourceToken, "", "was authenticated for a payment and not to store the card")
	case tx != nil && tx.Type != typeVerification && r.category != forPayment:
		f.refuse(sourceToken, "", "was authenticated to store the card and not for a payment")
	case tx != nil && tx.Type != typeVerification && r.amount > 0 && (r.amount != tx.principal || r.currency != tx.Currency):
		f.refuse("principalAmount", tx.principal.String(), "is not the amount that was authenticated")
	}
}

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

// threeDSOptional are the optional members of an authentication, by the form of their values.
var threeDSOptional = map[string][]string{ //nolint:gochecknoglobals // an immutable table
	`.{0,254}`:    {"deliveryEmailAddress", "email"},
	`.{0,64}`:     {"acctID"},
	`.{0,50}`:     {"billAddrLine1", "billAddrLine2", "billAddrLine3", "billAddrCity", "shipAddrLine1", "shipAddrLine2", "shipAddrLine3", "shipAddrCity"},
	`.{0,16}`:     {"billAddrPostCode", "shipAddrPostCode"},
	`.{0,15}`:     {"homePhone", "mobilePhone", "workPhone"},
	`.{0,3}`:      {"billAddrState", "shipAddrState"},
	`[0-9]{3}`:    {"billAddrCountry", "shipAddrCountry", "giftCardCurr"},
	`[0-9]{2}`:    {"giftCardCount"},
	`[0-9]{1,3}`:  {"provisionAttemptsDay", "txnActivityDay", "txnActivityYear"},
	`[0-9]{1,4}`:  {"nbPurchaseAccount"},
	`[0-9]{1,15}`: {"giftCardAmount"},
	`[YN]`:        {"addrMatch"},
	`0[12]`:       {"preOrderPurchaseInd", "reorderItemsInd", "shipNameIndicator", "suspiciousAccActivity"},
	`0[1-4]`:      {"deliveryTimeframe", "chAccChangeInd", "shipAddressUsageInd"},
	`0[1-5]`:      {"chAccAgeInd", "chAccPwChangeInd", "paymentAccInd"},
	`0[1-7]`:      {"shipIndicator"},
}

func moneyText(s string) string {
	amount, wrong := parseCents(s)
	if amount < 0 {
		return "must not be negative"
	}
	return wrong
}

func (b *Sandbox) readThreeDS(f *fields) threeDSRequest {
	r := threeDSRequest{category: f.need("messageCategory", oneOf(forPayment, forStoring))}
	indicator := f.need("threeDSRequestorAuthenticationInd", oneOf("01", "02", "03", "04", "05", "06"))
	recurring := indicator == "02" || indicator == "03"
	amount := f.read(recurring || indicator == "01", "principalAmount", moneyText)
	r.amount, _ = parseCents(amount)
	r.currency = f.read(recurring || indicator == "01", "currency", oneOf("AUD"))
	f.read(recurring, "recurringExpiry", compactDate)
	f.read(recurring, "recurringFrequency", digits(1, 4))
	f.read(indicator == "03", "purchaseInstalData", digits(1, 3))
	for _, name := range []string{"preOrderDate", "chAccChange", "chAccDate", "chAccPwChange", "paymentAccAge", "shipAddressUsage"} {
		f.text(name, compactDate)
	}
	addressed := false
	for _, pattern := range slices.Sorted(maps.Keys(threeDSOptional)) {
		check := form(pattern)
		for _, name := range threeDSOptional[pattern] {
			given := f.text(name, check) != ""
			addressed = addressed || given && strings.HasPrefix(name, "billAddr")
		}
	}
	if r.category == forPayment && !addressed {
		f.refuse("billAddrLine1", "", "or another member of the billing address is required for a payment")
	}
	return r
}
