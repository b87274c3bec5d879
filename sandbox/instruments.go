package sandbox

import (
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
//
//nolint:gochecknoglobals // an immutable table
var testCards = map[string]string{
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
//
//nolint:gochecknoglobals // an immutable table
var declineCodes = map[string]string{
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

func (c *card) firstSixLastFour() string { return c.number[:6] + "..." + c.number[len(c.number)-4:] }

func (c *card) shortYear() string { return c.year[len(c.year)-2:] }

// expired compares in Sydney time: a card is valid to the end of its month.
func (c *card) expired(now time.Time) bool {
	return c.year+c.month < calendar.Sydney(now).Format("200601")
}

// readCard reads the card members of an object. It returns nil if one of them is not valid.
func (b *Sandbox) readCard(f *fields, cvnRequired bool) *card {
	before := len(f.c.findings)
	out := &card{
		holder: f.text("cardholderName"),
		number: f.need("cardNumber", digitsOnly, publicTestCard),
		month:  f.need("expiryDateMonth", monthNumber),
		year:   f.need("expiryDateYear", digits(4, 4)),
	}
	readCVN := f.text
	if cvnRequired {
		readCVN = f.need
	}
	readCVN("cvn", digits(3, 4))
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

// cardType returns the type of a test card.
func (b *Sandbox) cardType(number string) string {
	if t := testCards[number]; t != cardPrepaid {
		return t
	}
	return b.addedValue(cardPrepaid, cardCredit)
}

func publicTestCard(number string) string {
	if _, known := testCards[number]; !known {
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

// readText reads a member that must be given, or one that may be absent.
type readText func(name string, checks ...check) string

// readBankAccount returns nil if a member is not valid. The members are required in a token only.
func (b *Sandbox) readBankAccount(f *fields, read readText) *bankAccount {
	before := len(f.c.findings)
	out := &bankAccount{
		name:   read("accountName"),
		bsb:    strings.Replace(read("bsb", b.bsb), "-", "", 1),
		number: read("accountNumber"),
	}
	if len(f.c.findings) > before {
		return nil
	}
	return out
}

// readNZBankAccount reads the members that public client code names.
func (b *Sandbox) readNZBankAccount(f *fields, read readText) *nzBankAccount {
	before := len(f.c.findings)
	out := &nzBankAccount{
		name:   read("nzAccountName"),
		bank:   read("nzBankCode"),
		branch: read("nzBranchCode"),
		number: read("nzAccountNumber"),
		suffix: f.text("nzAccountSuffix"),
	}
	if len(f.c.findings) > before {
		return nil
	}
	return out
}

func maskedBSB(bsb string) string { return "xxx-" + lastThree(bsb) }

func maskedNumber(number string) string { return "xxxxxx" + lastThree(number) }

func maskedAccount(bsb, number string) string { return maskedBSB(bsb) + " " + maskedNumber(number) }

func (a *nzBankAccount) masked() string {
	return strings.Repeat("x", max(len(a.number)-3, 0)) + lastThree(a.number)
}
