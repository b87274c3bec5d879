package quickstream

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// SingleUseTokenLifetime is how long a single-use token can be used. The service does not send its expiry.
const SingleUseTokenLifetime = 10 * time.Minute

// SingleUseTokensService has the operations on single-use tokens.
type SingleUseTokensService struct{ client *Client }

// TokenAccount is an account for a single-use token: [CardDetails], [BankAccountDetails],
// [NZBankAccountDetails] or an [OtherAccount].
type TokenAccount interface{ tokenAccount() }

// otherAccount holds its members in JSON.
type otherAccount struct {
	hidden

	kind AccountType
	err  error
}

// OtherAccount returns an account of a kind that has no type here, such as an app's wallet or a
// PayTo payer. Members are sent in JSON beside accountType, under the names in the service's
// documentation: map[string]any{"applePayToken": token}. A [Secret] is sent as its text. No rule
// checks the members. Printing shows a placeholder, and marshalling fails.
func OtherAccount(kind AccountType, members map[string]any) TokenAccount {
	plain := make(map[string]any, len(members))
	for name, value := range members {
		if secret, is := value.(Secret); is {
			value = secret.text()
		}
		plain[name] = value
	}
	text, err := wire.Encode(plain)
	return otherAccount{hide(string(text)), kind, err}
}

// extra returns the members as extra fields of the request, which cannot replace its own.
func (a otherAccount) extra() (fields []extraField, err error) {
	var members map[string]json.RawMessage
	err = json.Unmarshal([]byte(a.text()), &members)
	for name, value := range members {
		fields = append(fields, extraField{[]string{name}, value, true})
	}
	return fields, cmp.Or(a.err, err)
}

// CreateSingleUseTokenParams describes a single-use token. To keep card details away from your
// server, create tokens in the browser with the service's own script.
type CreateSingleUseTokenParams struct {
	// SupplierBusinessCode is the business whose settings the account has to meet. Required, here
	// or by [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// Account is required.
	Account TokenAccount
	// ThreeDS requests 3D Secure authentication, which is for cards only. Optional.
	ThreeDS *BrowserProfile
}

// BrowserProfile describes the customer's browser for 3D Secure, as its scripts see it. All members
// are required. On the wire they are browserJavaEnabled, browserLanguage and so on, and the numbers are
// texts.
type BrowserProfile struct {
	JavaEnabled bool `json:"browserJavaEnabled"`
	// Language is an IETF BCP 47 tag of at most 8 characters.
	Language string `json:"browserLanguage"`
	// ScreenHeight and ScreenWidth are in pixels, with at most 6 digits.
	ScreenHeight int `json:"browserScreenHeight,string"`
	ScreenWidth  int `json:"browserScreenWidth,string"`
	// ColorDepth is 1, 4, 8, 15, 16, 24, 32 or 48 bits.
	ColorDepth int `json:"browserColorDepth,string"`
	// TZ is the offset from UTC in minutes, as getTimezoneOffset returns it: -600 for Brisbane.
	TZ int `json:"browserTZ,string"`
}

// singleUseTokenJSON has the members of one account among its own.
type singleUseTokenJSON struct {
	SupplierBusinessCode string      `json:"supplierBusinessCode"`
	AccountType          AccountType `json:"accountType"`
	*cardJSON
	*bankAccountJSON
	*nzBankAccountJSON

	ThreeDS2       bool            `json:"threeDS2,omitempty"`
	BrowserProfile *BrowserProfile `json:"browserProfile,omitempty"`
}

func (CardDetails) tokenAccount()          {}
func (BankAccountDetails) tokenAccount()   {}
func (NZBankAccountDetails) tokenAccount() {}
func (otherAccount) tokenAccount()         {}

// checked checks the parameters and returns their body.
func (p CreateSingleUseTokenParams) checked(f *findings) (body singleUseTokenJSON) {
	body = singleUseTokenJSON{SupplierBusinessCode: p.SupplierBusinessCode, ThreeDS2: p.ThreeDS != nil, BrowserProfile: p.ThreeDS}
	f.require(p.SupplierBusinessCode != "", "token.supplierBusinessCode.required", "supplierBusinessCode", "is required")
	switch account := p.Account.(type) {
	case CardDetails:
		f.require(account.WalletProvider == "" && account.Cryptogram.IsZero(), "token.walletProvider.none", "walletProvider",
			"is for payments only, and so is the cryptogram")
		body.AccountType, body.cardJSON = AccountTypeCreditCard, account.wire()
		body.cardJSON.check(f)
	case BankAccountDetails:
		body.AccountType, body.bankAccountJSON = AccountTypeDirectDebit, account.wire()
		account.check(f)
	case NZBankAccountDetails:
		body.AccountType, body.nzBankAccountJSON = AccountTypeDirectDebitNZ, account.wire()
		account.check(f)
	case otherAccount:
		body.AccountType = account.kind
		f.require(account.kind != "" && !account.kind.hasDetails(), "token.account.required", "accountType", "must be a kind without a type of its own")
	default: // a pointer is a TokenAccount too, and may be nil
		f.require(false, "token.account.required", "accountType",
			"an account is required: a value of CardDetails, BankAccountDetails or NZBankAccountDetails, or an OtherAccount")
	}
	if p.ThreeDS != nil {
		f.within("browserProfile", p.ThreeDS.check)
	}
	return body
}

func (d BankAccountDetails) check(f *findings) {
	f.require(d.AccountName != "", "bankAccount.accountName.required", "accountName", "is required")
	f.require(d.BSB != "", "bankAccount.bsb.required", "bsb", "is required")
	f.require(!d.AccountNumber.IsZero(), "bankAccount.accountNumber.required", "accountNumber", "is required")
}

func (d NZBankAccountDetails) check(f *findings) {
	f.require(d.AccountName != "", "nzBankAccount.nzAccountName.required", "nzAccountName", "is required")
	f.require(d.BankCode != "", "nzBankAccount.nzBankCode.required", "nzBankCode", "is required")
	f.require(d.BranchCode != "", "nzBankAccount.nzBranchCode.required", "nzBranchCode", "is required")
	f.require(!d.AccountNumber.IsZero(), "nzBankAccount.nzAccountNumber.required", "nzAccountNumber", "is required")
	f.require(d.AccountSuffix != "", "nzBankAccount.nzAccountSuffix.required", "nzAccountSuffix", "is required")
}

func (p *BrowserProfile) check(f *findings) {
	f.require(lengthWithin(p.Language, 1, 8), "browserProfile.browserLanguage", "browserLanguage", "must be a language tag of 1 to 8 characters")
	f.require(p.ScreenHeight >= 1 && p.ScreenHeight <= 999999, "browserProfile.browserScreenHeight", "browserScreenHeight", "must be a number of 1 to 6 digits")
	f.require(p.ScreenWidth >= 1 && p.ScreenWidth <= 999999, "browserProfile.browserScreenWidth", "browserScreenWidth", "must be a number of 1 to 6 digits")
	f.require(slices.Contains([]int{1, 4, 8, 15, 16, 24, 32, 48}, p.ColorDepth), "browserProfile.browserColorDepth", "browserColorDepth", "must be one of 1, 4, 8, 15, 16, 24, 32 and 48")
	f.require(len(strconv.Itoa(p.TZ)) <= 5, "browserProfile.browserTZ", "browserTZ", "must be an offset in minutes of at most 5 characters")
}

// Create turns an account into a single-use token. The token lives for 10 minutes and can be used
// once, to pay or to register an account.
//
// POST /single-use-tokens with the publishable key. Invalid details match [ErrInvalid], a wrong key
// [ErrUnauthorized], exceeding the facility's quota [ErrRateLimited]. A token charges nothing:
// after an [UnknownOutcomeError] create another.
func (s *SingleUseTokensService) Create(ctx context.Context, params CreateSingleUseTokenParams, opts ...CallOption) (*SingleUseToken, error) {
	call := s.client.begin("SingleUseTokens.Create", opts)
	params.SupplierBusinessCode = cmp.Or(params.SupplierBusinessCode, call.config.business)
	var body singleUseTokenJSON
	call.check(func(f *findings) { body = params.checked(f) })
	if other, is := params.Account.(otherAccount); is {
		members, err := other.extra()
		call.refuse(err)
		call.config.extra = append(members, call.config.extra...)
	}
	call.body = body
	return sendChecked(ctx, call, body.fits)
}

// fits refuses a token for another account: of another kind that has details, or of a card with
// other digits.
func (b singleUseTokenJSON) fits(t *SingleUseToken) error {
	card, sent := cmp.Or(t.CreditCard, new(TokenCreditCard)), cmp.Or(b.cardJSON, new(cardJSON))
	if !fitsAccount(b.AccountType, sent.CardNumber, t.AccountType, card.CardNumber, card.MaskedCardNumber4Digits) {
		return errNotAsked
	}
	return nil
}

// fitsAccount reports whether an answer can be about the account that was sent: it shows no other
// kind that has details, and no other digits of the card.
func fitsAccount(sent AccountType, cardNumber string, kind AccountType, masked ...string) bool {
	kind = AccountType(strings.ToUpper(string(kind)))
	another := func(masked string) bool { return !fitsMask(cardNumber, masked) }
	return (!sent.hasDetails() || !kind.hasDetails() || kind == sent) && (cardNumber == "" || !slices.ContainsFunc(masked, another))
}

// hasDetails reports whether the kind has a type for its details.
func (t AccountType) hasDetails() bool {
	return t == AccountTypeCreditCard || t == AccountTypeDirectDebit || t == AccountTypeDirectDebitNZ
}

// fitsMask reports whether a masked number can be the number: the digits before and after the mask
// are its own. A text without a mask always fits.
func fitsMask(number, masked string) bool {
	const digits = "0123456789"
	first := masked[:len(masked)-len(strings.TrimLeft(masked, digits))]
	last := masked[len(strings.TrimRight(masked, digits)):]
	return isDigits(masked) || strings.HasPrefix(number, first) && strings.HasSuffix(number, last)
}

// SingleUseToken is a single-use token with its masked account.
type SingleUseToken struct {
	SingleUseTokenID string               `json:"singleUseTokenId,omitempty" wire:"identifies"`
	AccountType      AccountType          `json:"accountType,omitempty" wire:"decides"`
	CreditCard       *TokenCreditCard     `json:"creditCard,omitempty"`
	BankAccount      *MaskedBankAccount   `json:"bankAccount,omitempty"`
	NZBankAccount    *MaskedNZBankAccount `json:"nzBankAccount,omitempty"`
	Links            []Link               `json:"links,omitempty"`

	envelope
}

func (t *SingleUseToken) identifier() string { return t.SingleUseTokenID }

// TokenCreditCard is the masked card of a single-use token.
type TokenCreditCard struct {
	MaskedCard
	// ThreeDS2AuthRequired means that the card has to be authenticated before it is charged or
	// stored.
	ThreeDS2AuthRequired bool `json:"threeDS2AuthRequired,omitempty" wire:"decides"`
	// ThreeDS2 is the browser information for 3D Secure, as the service sent it.
	ThreeDS2       map[string]any `json:"threeDS2,omitempty"`
	ThreeDS2Status string         `json:"threeDS2Status,omitempty"`
}

// MaskedCard is a card as the service shows it.
type MaskedCard struct {
	CardNumber              string     `json:"cardNumber,omitempty"`      // first 6 and last 3 digits
	ExpiryDateMonth         string     `json:"expiryDateMonth,omitempty"` // 2 digits
	ExpiryDateYear          string     `json:"expiryDateYear,omitempty"`  // 2 digits
	CardScheme              CardScheme `json:"cardScheme,omitempty"`
	CardType                string     `json:"cardType,omitempty"` // CREDIT or DEBIT, of Visa and Mastercard
	CardholderName          string     `json:"cardholderName,omitempty"`
	MaskedCardNumber4Digits string     `json:"maskedCardNumber4Digits,omitempty"` // first 6 and last 4 digits
	SurchargePercentage     string     `json:"surchargePercentage,omitempty"`     // such as "1.10"; unconfirmed in a transaction
}

// MaskedBankAccount is an Australian bank account as the service shows it.
type MaskedBankAccount struct {
	AccountName   string `json:"accountName,omitempty"`
	BSB           string `json:"bsb,omitempty"`
	AccountNumber string `json:"accountNumber,omitempty"`
}

// MaskedNZBankAccount is a New Zealand bank account as the service shows it.
type MaskedNZBankAccount struct {
	NZAccountName   string `json:"nzAccountName,omitempty"`
	NZBankCode      string `json:"nzBankCode,omitempty"`
	NZBranchCode    string `json:"nzBranchCode,omitempty"`
	NZAccountNumber string `json:"nzAccountNumber,omitempty"`
	NZAccountSuffix string `json:"nzAccountSuffix,omitempty"`
}
