package sandbox

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
)

// DefaultBusiness is the supplierBusinessCode of the business that every sandbox has. It has
// no surcharges on cards. [WithBusiness] can replace it.
const DefaultBusiness = "SANDBOX01"

// Surcharge is a business's surcharge on payments with a kind of card.
type Surcharge struct {
	Scheme      string // VISA, MASTERCARD, AMEX, DINERS, JCB or UNIONPAY
	CardType    string // CREDIT or DEBIT; empty for any
	BasisPoints int    // hundredths of a percent: 110 is 1.10%
}

type business struct {
	code, name string
	surcharges []Surcharge
}

func (b *Sandbox) business(code string) *business {
	for _, known := range b.businesses {
		if known.code == code {
			return known
		}
	}
	return nil
}

func (b *Sandbox) knownBusiness(code string) string {
	if b.business(code) == nil {
		return "is not the code of a business of this facility"
	}
	return ""
}

// rate returns the surcharge for a card in basis points. The first surcharge that matches
// counts.
func (s *business) rate(scheme, cardType string) int {
	for _, row := range s.surcharges {
		if row.Scheme == scheme && (row.CardType == "" || row.CardType == cardType) {
			return row.BasisPoints
		}
	}
	return 0
}

// businessBody has the members that public client code reads. Unconfirmed.
func (c *call) businessBody(shop *business) object {
	return object{
		"links":                c.links(get("self", c.href("businesses", shop.code))),
		"supplierBusinessName": shop.name, "supplierBusinessCode": shop.code, "registeredName": shop.name,
		"abn": nil, "contactName": nil, "contactEmail": nil, "contactPhone": nil, "customerNotificationEmail": nil,
		"businessAddress": addressOf(map[string]string{"country": "Australia"}),
	}
}

func (b *Sandbox) namedBusiness(c *call) *business {
	return b.business(c.params["supplierBusinessCode"])
}

// acceptedKind is a kind of card that every business accepts. Only two schemes distinguish credit
// from debit.
type acceptedKind struct{ scheme, cardType string }

var acceptedKinds = []acceptedKind{ //nolint:gochecknoglobals // an immutable table
	{schemeVisa, cardCredit},
	{schemeVisa, cardDebit},
	{schemeMastercard, cardCredit},
	{schemeMastercard, cardDebit},
	{schemeAmex, ""},
	{"DINERS", ""},
	{"JCB", ""},
	{"UNIONPAY", ""},
}

// cardSurcharges serves two paths: that of the contract and that of public client code, which
// takes the Publishable key.
func (b *Sandbox) cardSurcharges(c *call, shop *business) answer {
	return listOf(c, acceptedKinds, func(c *call, k acceptedKind) object { return c.surchargeBody(shop, k.scheme, k.cardType) })
}

func (c *call) surchargeBody(shop *business, scheme, cardType string) object {
	body := c.schemeBody(scheme)
	body["cardType"], body["surchargePercentage"] = optional(cardType), percentage(shop.rate(scheme, cardType))
	return body
}

// schemeBody is a scheme that a business accepts, or the scheme of a card number.
func (c *call) schemeBody(scheme string) object {
	return object{"links": c.links(), "cardScheme": scheme}
}

func (b *Sandbox) queryCardSurcharge(c *call, shop *business) answer {
	f := c.readBody()
	number := f.need("cardNumber", digits(12, 19), publicTestCard)
	if !c.valid() {
		return c.invalid()
	}
	return reply(http.StatusOK, c.surchargeBody(shop, schemeOf(number), b.cardType(number)))
}

// cardScheme knows only the test numbers.
func (b *Sandbox) cardScheme(c *call) answer {
	first := c.params["firstSixDigits"]
	if wrong := digits(6, 6)(first); wrong != "" {
		c.refuse("firstSixDigits", first, wrong)
		return c.invalid()
	}
	for number := range testCards {
		if strings.HasPrefix(number, first) {
			return reply(http.StatusOK, c.schemeBody(schemeOf(number)))
		}
	}
	return c.notFound("card scheme")
}

func (b *Sandbox) acceptedCards(c *call, _ *business) answer {
	var schemes []string
	for _, kind := range acceptedKinds {
		schemes = append(schemes, kind.scheme)
	}
	return listOf(c, slices.Compact(schemes), (*call).schemeBody)
}

const (
	keyRenewalOverlap  = time.Hour
	renewedKeyLifetime = 90 * 24 * time.Hour
)

// Keys are the API keys of a sandbox. They work with no other sandbox, and not with the
// service.
type Keys struct {
	Secret      string
	Publishable string
}

// The kinds of key, as in [Request].
const (
	KeySecret      = "secret"
	KeyPublishable = "publishable"
	keyUnknown     = "unknown" // a key that this sandbox never issued
	keyNone        = "none"    // no key, or not HTTP Basic with an empty password
)

type issuedKey struct {
	kind    string
	expires time.Time // zero: not before the key is renewed
}

type keyring struct {
	issued  map[string]*issuedKey
	current map[string]string // by kind
}

// issueKey issues a key of a kind, a new one unless it is given.
func (b *Sandbox) issueKey(kind, key string) string {
	key = cmp.Or(key, "SANDBOX_"+strings.ToUpper(kind[:3])+"_"+randomText(b.ids, textAlphabet, 26))
	b.keys.current[kind], b.keys.issued[key] = key, &issuedKey{kind: kind}
	return key
}

// Keys returns the newest keys.
func (b *Sandbox) Keys() Keys {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Keys{Secret: b.keys.current[KeySecret], Publishable: b.keys.current[KeyPublishable]}
}

// RenewKey issues a new key of a kind, [KeySecret] or [KeyPublishable], and returns it. Earlier keys of
// that kind stay valid for the overlap, unless they expire before.
func (b *Sandbox) RenewKey(kind string, overlap time.Duration) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.renew(kind, b.clock.Now().Add(overlap))
}

// renew issues a key. Earlier ones of its kind expire at end, unless they expire before.
func (b *Sandbox) renew(kind string, end time.Time) string {
	for _, earlier := range b.keys.issued {
		if earlier.kind == kind && (earlier.expires.IsZero() || earlier.expires.After(end)) {
			earlier.expires = end
		}
	}
	return b.issueKey(kind, "")
}

// keyOf returns the kind of a request's key, and whether it has expired. The caller holds mu.
func (b *Sandbox) keyOf(h http.Header) (kind string, expired bool) {
	user, ok := b.userOf(h)
	if !ok {
		return keyNone, false
	}
	k, known := b.keys.issued[user]
	if !known {
		return keyUnknown, false
	}
	return k.kind, !k.expires.IsZero() && !b.clock.Now().Before(k.expires)
}

// userOf returns the user name of HTTP Basic with an empty password.
func (b *Sandbox) userOf(h http.Header) (user string, ok bool) {
	user, password, ok := (&http.Request{Header: h}).BasicAuth()
	return user, ok && user != "" && password == ""
}

// authenticate returns the answer 401 if a call may not be made. The caller holds mu.
func (b *Sandbox) authenticate(c *call) (answer, bool) {
	kind, expired := b.keyOf(c.header)
	switch {
	case kind == keyNone:
		return c.unauthorised("Send the API key as the user name of HTTP Basic with an empty password."), false
	case kind == keyUnknown:
		return c.unauthorised("The API key is not known."), false
	case expired:
		return c.unauthorised("The API key has expired."), false
	case kind != cmp.Or(c.op.key, KeySecret) && c.op.key != eitherKey:
		return c.unauthorised("The " + kind + " API key may not be used for " + c.op.id + "."), false
	}
	return answer{}, true
}

const textAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

func randomText(ids *rand.Rand, alphabet string, n int) string {
	buf := make([]byte, n)
	for i := range buf {
		buf[i] = alphabet[ids.IntN(len(alphabet))]
	}
	return string(buf)
}

// newID returns an identifier of n digits that is not taken. It does not begin with 0: a reader that
// parses it as a number must not lose a digit.
func newID[T any](ids *rand.Rand, taken map[string]*T, n int) string {
	for {
		id := randomText(ids, "123456789", 1) + randomText(ids, "0123456789", n-1)
		if taken[id] == nil {
			return id
		}
	}
}

// latestKey renews the Secret key of the request. For an earlier key that is still valid it returns the
// newest one: a caller whose answer was lost asks again. The members are unconfirmed.
func (b *Sandbox) latestKey(c *call) answer {
	if user, _ := b.userOf(c.header); user == b.keys.current[KeySecret] {
		b.keys.issued[b.renew(KeySecret, c.now.Add(keyRenewalOverlap))].expires = c.now.Add(renewedKeyLifetime)
	}
	key := b.keys.current[KeySecret]
	body := object{"links": c.links(), "keyName": "Sandbox " + KeySecret + " key", "key": key, "expiryDate": nil}
	if expires := b.keys.issued[key].expires; !expires.IsZero() {
		body["expiryDate"] = calendar.Sydney(expires).Format(time.DateOnly)
	}
	return reply(http.StatusOK, body)
}
