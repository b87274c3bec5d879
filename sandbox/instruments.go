package sandbox

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
)

const (
	typeCard          = "CREDIT_CARD"
	typeDirectDebit   = "DIRECT_DEBIT"
	typeDirectDebitNZ = "DIRECT_DEBIT_NZ"

	schemeVisa       = "VISA"
	schemeMastercard = "MASTERCARD"
	schemeAmex       = "AMEX"

	cardCredit  = "CREDIT"
	cardDebit   = "DEBIT"
	cardPrepaid = "PREPAID" // not in the contract, which says that values may be added
)

// testCards are the vendor's public test card numbers with their card types. The last two
// digits decide the outcome.
var testCards = map[string]string{ //nolint:gochecknoglobals // an immutable table
	"4242424242424242": cardCredit, "4111111111111111": cardCredit, "4444333322221111": cardCredit,
	"4041370000456459": cardDebit, "4017950000000009": cardPrepaid, "4564000000000182": cardCredit,
	"4111111117444490": cardCredit, "4111111116444491": cardCredit, "4111111115444492": cardCredit,
	"4111111114444493": cardCredit, "4111111113444494": cardCredit, "4111111112444495": cardCredit,
	"4111111111444496": cardCredit, "4111111110444497": cardCredit, "4041370000011197": cardDebit,
	"4111111119444498": cardCredit, "4111111118444499": cardCredit,
	"5163200000000008": cardCredit, "5200000009915957": cardCredit, "2224000000031118": cardPrepaid, "5188680400000008": cardCredit,
	"5100000000404390": cardCredit, "2229000000002791": cardCredit, "5163200000000792": cardCredit,
	"5500000000101893": cardCredit, "5400000000501994": cardCredit, "2300000000887995": cardCredit,
	"5100000000432896": cardCredit, "2710000000011897": cardCredit, "5188683000000097": cardDebit,
	"5200000000022498": cardCredit, "5200000000830999": cardCredit,
	"340000000636513": "", "370000000201048": "",
	"340000000075290": "", "370000000024291": "", "340000000067792": "", "340000000070093": "", "370000000094294": "",
	"370000000093395": "", "340000000089796": "", "370000000092397": "", "370000000064198": "", "370000000079899": "",
	"3530000000000003": "", "3532000000000092": "", "6250947000000014": "",
	// For New Zealand merchants.
	"5123450000000008": cardCredit, "2223000000000007": cardCredit, "5111111111111118": cardCredit, "2223000000000023": cardCredit,
	"4508750015741019": cardCredit, "4012000033330026": cardCredit, "345678901234564": "", "371449635398431": "",
}

// declineCodes are the response codes of test cards by their last two digits. All other cards
// are approved.
var declineCodes = map[string]string{ //nolint:gochecknoglobals // an immutable table
	"90": "01", "91": "04", "92": "05", "93": "91", "94": "54",
	"95": "42", "96": "51", "97": "62", "98": "43", "99": "01",
}

// card is the card of a request. The number is always a public test number.
type card struct {
	holder, number, month, year string
	walletProvider              string
	scheme, cardType            string
}

func schemeOf(number string) string {
	two := number[:2]
	switch {
	case number[0] == '4':
		return schemeVisa
	case two == "34" || two == "37":
		return schemeAmex
	case two == "35":
		return "JCB"
	case two == "62":
		return "UNIONPAY"
	default:
		return schemeMastercard
	}
}

func (c *card) firstSixLastThree() string { return c.number[:6] + "..." + c.number[len(c.number)-3:] }

// expired compares in Sydney time: a card is valid to the end of its month.
func (c *card) expired(now time.Time) bool {
	return c.year+c.month < calendar.Sydney(now).Format("200601")
}

// readCard reads the card members of an object. It returns nil if one of them is not valid.
func (b *Sandbox) readCard(f *fields, cvnRequired bool) *card {
	before := len(f.c.findings)
	out := &card{
		holder: f.text("cardholderName"),
		number: f.need("cardNumber", form("[0-9]+"), publicTestCard),
		month:  f.need("expiryDateMonth", form(monthOfYear)),
		year:   f.need("expiryDateYear", digits(4, 4)),
	}
	f.read(cvnRequired, "cvn", digits(3, 4))
	if len(f.c.findings) > before {
		return nil
	}
	if out.expired(f.c.now) {
		f.refuse("expiryDateYear", out.year, "the card has expired")
		return nil
	}
	out.scheme = schemeOf(out.number)
	out.cardType = b.cardType(out.number)
	return out
}

func (b *Sandbox) cardType(number string) string {
	if t := testCards[number]; t != cardPrepaid {
		return t
	}
	return b.addedValue(cardPrepaid, cardCredit)
}

func isTestCard(number string) bool {
	_, known := testCards[number]
	return known
}

func publicTestCard(number string) string {
	if !isTestCard(number) {
		return "is not one of the vendor's public test card numbers, the only ones that the sandbox takes; the number was not recorded"
	}
	return ""
}

// outcome is the issuer's answer. A stored card can have expired since.
func (c *card) outcome(now time.Time) Outcome {
	if c.expired(now) {
		return Declined("54")
	}
	if code, declined := declineCodes[c.number[len(c.number)-2:]]; declined {
		return Declined(code)
	}
	return Approved()
}

func lastThree(s string) string { return s[max(len(s)-3, 0):] }

type bankAccount struct{ name, bsb, number string }

type nzBankAccount struct{ name, bank, branch, number, suffix string }

func (f *fields) bankAccount() *bankAccount {
	return &bankAccount{
		name: f.need("accountName"), number: f.need("accountNumber"), bsb: strings.Replace(f.need("bsb", form(bsbForm)), "-", "", 1),
	}
}

// nzBankAccount reads the members that public client code names. They are required in tokens.
func (f *fields) nzBankAccount(required bool) *nzBankAccount {
	return &nzBankAccount{
		name: f.read(required, "nzAccountName"), bank: f.read(required, "nzBankCode"), branch: f.read(required, "nzBranchCode"),
		number: f.read(required, "nzAccountNumber"), suffix: f.read(required, "nzAccountSuffix"),
	}
}

func maskedBSB(bsb string) string { return "xxx-" + lastThree(bsb) }

func maskedNumber(number string) string { return "xxxxxx" + lastThree(number) }

func maskedAccount(bsb, number string) string { return maskedBSB(bsb) + " " + maskedNumber(number) }

func (a *nzBankAccount) masked() string {
	return strings.Repeat("x", max(len(a.number)-3, 0)) + lastThree(a.number)
}

// TestCard is one of the vendor's public test cards.
type TestCard struct {
	Number string `json:"cardNumber"`
	Scheme string `json:"cardScheme"`
	Type   string `json:"cardType"` // empty if it is not known
	// DeclineCode is the response code of its payments; empty if they are approved.
	DeclineCode string `json:"declineCode"`
	// ThreeDS is the first result of its authentication.
	ThreeDS TransStatus `json:"transStatus"`
}

// TestCards returns the card numbers that the sandbox takes, first those whose payments are
// approved.
func TestCards() []TestCard {
	list := make([]TestCard, 0, len(testCards))
	for _, number := range slices.Sorted(maps.Keys(testCards)) {
		list = append(list, TestCard{
			Number: number, Scheme: schemeOf(number), Type: testCards[number], DeclineCode: declineCodes[number[len(number)-2:]],
			ThreeDS: threeDSResult(number),
		})
	}
	slices.SortStableFunc(list, func(a, b TestCard) int { return cmp.Compare(a.DeclineCode, b.DeclineCode) })
	return list
}

// source is the account of a transaction, which is known to exist.
type source struct {
	instrument
	account *account
	token   *token
	payTo   *payToDetails
}

// The members that name a source.
const (
	sourceToken    = "singleUseTokenId"
	sourceCustomer = "customerId"
	sourceAccount  = "accountToken"
	sourceReceipt  = "receiptNumber" // of a transaction, to keep its account
	sourceCard     = "creditCard"
	sourceBank     = "bankAccount"
	sourceNZBank   = "nzBankAccount"
	sourcePayTo    = "payToData"
)

// readSource reads the one source of a request, of those that its type allows. It returns nil
// if there is none that can be used.
func (b *Sandbox) readSource(f *fields, eci string, allowed ...string) *source {
	switch name := f.onlyOne(allowed...); name {
	case "":
		return nil
	case sourceToken:
		return b.tokenSource(f)
	case sourceCustomer:
		return b.customerSource(f)
	case sourceAccount:
		return b.accountSource(f)
	case sourceReceipt:
		return b.receiptSource(f)
	case sourcePayTo:
		return b.payToSource(f)
	default:
		return b.detailsSource(f, name, eci == eciInternet)
	}
}

// onlyOne returns the member that is given if it is the only one; otherwise "".
func (f *fields) onlyOne(allowed ...string) string {
	given := slices.DeleteFunc(slices.Clone(allowed), func(name string) bool { return !f.has(name) })
	if len(given) == 1 {
		return given[0]
	}
	f.refuse(append(given, allowed[0])[0], "", "exactly one of "+strings.Join(allowed, ", ")+" must be given")
	return ""
}

func (b *Sandbox) detailsSource(f *fields, name string, cvnRequired bool) *source {
	inner := f.object(name)
	if inner == nil {
		return nil
	}
	var details instrument
	switch name {
	case sourceCard:
		wallet := inner.text("walletProvider", oneOf("APPLE_PAY"))
		if details.card = b.readCard(inner, cvnRequired && wallet == ""); details.card != nil {
			details.card.walletProvider = wallet
		}
	case sourceBank:
		details.bank = inner.bankAccount()
	default:
		details.nz = inner.nzBankAccount(false)
	}
	if details == (instrument{}) {
		return nil
	}
	return &source{instrument: details}
}

// tokenSource finds a token that can still be used. The caller marks it as used if all else
// is valid.
func (b *Sandbox) tokenSource(f *fields) *source {
	id := f.text(sourceToken)
	tok := b.tokens.byID[id]
	switch {
	case tok == nil || !tok.live(f.c.now):
		f.refuse(sourceToken, id, "is not a valid token or has expired")
	case tok.used:
		f.refuse(sourceToken, id, "has been used")
	case tok.threeDS.status.failed():
		f.refuse(sourceToken, id, "has failed 3D Secure authentication")
	case tok.profile != nil && !tok.threeDS.status.passed():
		f.refuse(sourceToken, id, "needs 3D Secure authentication first")
	default:
		return &source{instrument: tok.source, token: tok}
	}
	return nil
}

func (b *Sandbox) customerSource(f *fields) *source {
	id := f.text(sourceCustomer)
	cust := b.customers.byID[id]
	switch {
	case cust == nil:
		f.refuse(sourceCustomer, id, "is not a customer")
	case cust.disabled:
		f.refuse(sourceCustomer, id, "is disabled")
	case cust.defaultAccount == nil:
		f.refuse(sourceCustomer, id, "has no default account")
	default:
		return &source{instrument: cust.defaultAccount.source, account: cust.defaultAccount}
	}
	return nil
}

func (b *Sandbox) accountSource(f *fields) *source {
	id := f.text(sourceAccount)
	a := b.accounts.byID[id]
	switch {
	case a == nil:
		f.refuse(sourceAccount, id, "is not an account")
	case a.customer.disabled:
		f.refuse(sourceAccount, id, "is disabled")
	default:
		return &source{instrument: a.source, account: a}
	}
	return nil
}
