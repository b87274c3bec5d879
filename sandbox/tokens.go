package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/form"
)

const tokenQuotaWindow = time.Minute

func (b *Sandbox) tokenOperations() []operation {
	return []operation{{id: "POST /single-use-tokens", key: needsPublishable, handle: b.createToken}}
}

// tokenLifetime is stated in the contract.
const tokenLifetime = 10 * time.Minute

// token is a single-use token with its account.
type token struct {
	id      string
	source  instrument
	profile *browserProfile // set if 3D Secure was asked for
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

type tokenStore struct {
	byID    map[string]*token
	ordered []*token
}

func newTokenStore() tokenStore { return tokenStore{byID: make(map[string]*token)} }

// forget deletes the tokens that have expired, and their account details with them.
func (s *tokenStore) forget(now time.Time) {
	for len(s.ordered) > 0 && !s.ordered[0].live(now) {
		delete(s.byID, s.ordered[0].id)
		s.ordered = slices.Delete(s.ordered, 0, 1)
	}
}

// overQuota returns the wait until another token may be created.
func (b *Sandbox) overQuota(now time.Time) time.Duration {
	quota := b.assume.TokenQuota
	if n := len(b.tokens.ordered); quota > 0 && n >= quota {
		return b.tokens.ordered[n-quota].created.Add(tokenQuotaWindow).Sub(now)
	}
	return 0
}

type tokenBody struct {
	Links         []form.Link    `json:"links"`
	ID            string         `json:"singleUseTokenId"`
	AccountType   string         `json:"accountType"`
	CreditCard    *tokenCardBody `json:"creditCard"`
	BankAccount   *tokenBankBody `json:"bankAccount"`
	NZBankAccount *nzBankBody    `json:"nzBankAccount"`
}

type tokenCardBody struct {
	cardBody
	ThreeDS2AuthRequired bool            `json:"threeDS2AuthRequired"`
	ThreeDS2             *browserProfile `json:"threeDS2"`
	ThreeDS2Status       *string         `json:"threeDS2Status"`
}

type tokenBankBody struct {
	AccountName   string `json:"accountName"`
	BSB           string `json:"bsb"`
	AccountNumber string `json:"accountNumber"`
}

type nzBankBody struct {
	AccountName   string `json:"nzAccountName"`
	BankCode      string `json:"nzBankCode"`
	BranchCode    string `json:"nzBranchCode"`
	AccountNumber string `json:"nzAccountNumber"`
	AccountSuffix string `json:"nzAccountSuffix"`
}

// browserProfile is the payer's browser, for 3D Secure. Answers have it in the member
// threeDS2.
type browserProfile struct {
	JavaEnabled  bool   `json:"browserJavaEnabled"`
	Language     string `json:"browserLanguage"`
	ScreenHeight string `json:"browserScreenHeight"`
	ScreenWidth  string `json:"browserScreenWidth"`
	ColorDepth   string `json:"browserColorDepth"`
	TZ           string `json:"browserTZ"`
}

//nolint:gochecknoglobals // an immutable table
var (
	cardMembers = []string{"cardholderName", "cardNumber", "expiryDateMonth", "expiryDateYear", "cvn"}
	bankMembers = []string{"accountName", "bsb", "accountNumber"}
	nzMembers   = []string{"nzAccountName", "nzBankCode", "nzBranchCode", "nzAccountNumber", "nzAccountSuffix"}
)

func (b *Sandbox) createToken(c *call) answer {
	f := c.readBody()
	code := f.need("supplierBusinessCode", b.knownBusiness)
	tok := token{created: c.now}
	accountType := f.need("accountType", oneOf(typeCard, typeDirectDebit, typeDirectDebitNZ))
	foreign := "does not belong to accountType " + accountType
	switch accountType {
	case typeCard:
		tok.source.card = b.readCard(f, false)
		f.foreign(foreign, bankMembers...)
		f.foreign(foreign, nzMembers...)
	case typeDirectDebit:
		tok.source.bank = b.readBankAccount(f, f.need)
		f.forbid(foreign, "cardholderName", "cvn")
		f.foreign(foreign, cardMembers...)
		f.foreign(foreign, nzMembers...)
	case typeDirectDebitNZ:
		tok.source.nz = b.readNZBankAccount(f, f.need)
		f.forbid(foreign, "cardholderName", "cvn")
		f.foreign(foreign, cardMembers...)
		f.foreign(foreign, bankMembers...)
	default:
		f.ignore(slices.Concat(cardMembers, bankMembers, nzMembers)...)
	}
	tok.profile = f.threeDS2()
	if !c.valid() {
		return c.invalid()
	}
	b.tokens.forget(c.now)
	if wait := b.overQuota(c.now); wait > 0 {
		a := c.problem(http.StatusTooManyRequests, "The quota of single-use tokens is used up.")
		if b.assume.QuotaRetryAfter {
			a = a.with("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
		}
		return a
	}
	tok.shop = b.business(code)
	b.keepToken(&tok)
	return reply(http.StatusOK, b.tokenBody(c, &tok))
}

func (b *Sandbox) keepToken(tok *token) {
	tok.id = b.newHandle()
	b.tokens.byID[tok.id] = tok
	b.tokens.ordered = append(b.tokens.ordered, tok)
}

// WalletToken returns a single-use token as a wallet's button in a browser makes it. The account
// type is APPLE_PAY or GOOGLE_PAY, and the card a public test card.
func (b *Sandbox) WalletToken(accountType, cardNumber string) (singleUseTokenID string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	switch {
	case b.closed:
		return "", errClosed
	case accountType != "APPLE_PAY" && accountType != "GOOGLE_PAY":
		return "", fmt.Errorf("sandbox: no wallet %q", accountType)
	case publicTestCard(cardNumber) != "":
		return "", errors.New("sandbox: the card is not a public test card")
	}
	tok := &token{created: now, shop: b.businesses[0], source: instrument{card: &card{
		number: cardNumber, month: "12", year: strconv.Itoa(now.Year() + 1), walletProvider: accountType,
		scheme: schemeOf(cardNumber), cardType: b.cardType(cardNumber),
	}}}
	b.keepToken(tok)
	return tok.id, nil
}

// newHandle returns an identifier of the length that the service reserves.
func (b *Sandbox) newHandle() string { return randomText(b.ids, max(b.assume.HandleLength, 16)) }

var languageTag = regexp.MustCompile(`^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$`)

// threeDS2 reads the request for authentication. If it is asked for, the whole profile is
// required.
func (f *fields) threeDS2() *browserProfile {
	wanted, _ := f.flag("threeDS2")
	p := f.object("browserProfile")
	if p == nil {
		if wanted {
			f.refuse("browserProfile", "", "is required when threeDS2 is true")
		}
		return nil
	}
	read := p.text
	if wanted {
		read = p.need
	}
	java, given := p.flag("browserJavaEnabled")
	if wanted && !given {
		p.refuse("browserJavaEnabled", "", "is required")
	}
	profile := &browserProfile{
		JavaEnabled:  java,
		Language:     read("browserLanguage", atMost(8), matching(languageTag, "must be a language tag")),
		ScreenHeight: read("browserScreenHeight", digits(1, 6)),
		ScreenWidth:  read("browserScreenWidth", digits(1, 6)),
		ColorDepth:   read("browserColorDepth", oneOf("1", "4", "8", "15", "16", "24", "32", "48")),
		TZ:           read("browserTZ", atMost(5), minutes),
	}
	if !wanted {
		return nil
	}
	return profile
}

func minutes(s string) string {
	if _, err := strconv.Atoi(s); err != nil {
		return "must be a number of minutes"
	}
	return ""
}

func (b *Sandbox) tokenBody(c *call, tok *token) tokenBody {
	body := tokenBody{
		Links:       c.related(get("self", c.href("single-use-tokens", tok.id))),
		ID:          tok.id,
		AccountType: tok.source.accountType(),
	}
	switch {
	case tok.source.card != nil:
		body.CreditCard = tokenCard(tok)
	case tok.source.bank != nil:
		body.BankAccount = bankBody(tok.source.bank)
	default:
		body.NZBankAccount = nzBody(tok.source.nz)
	}
	return body
}

func tokenCard(tok *token) *tokenCardBody {
	body := &tokenCardBody{
		cardBody:             cardBodyOf(tok.source.card, tok.shop),
		ThreeDS2AuthRequired: tok.profile != nil,
		ThreeDS2:             tok.profile,
	}
	if body.ThreeDS2AuthRequired {
		body.ThreeDS2Status = optional("AUTHENTICATION_REQUIRED")
	}
	return body
}

func bankBody(a *bankAccount) *tokenBankBody {
	return &tokenBankBody{AccountName: a.name, BSB: maskedBSB(a.bsb), AccountNumber: maskedNumber(a.number)}
}

func nzBody(a *nzBankAccount) *nzBankBody {
	return &nzBankBody{
		AccountName: a.name, BankCode: a.bank, BranchCode: a.branch,
		AccountNumber: a.masked(), AccountSuffix: a.suffix,
	}
}

// percentage returns a rate as text, such as 1.10.
func percentage(basisPoints int) string {
	return fmt.Sprintf("%d.%02d", basisPoints/100, basisPoints%100)
}
