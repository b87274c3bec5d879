package sandbox

// DefaultBusiness is the supplierBusinessCode of the business that every sandbox
// has. It puts no surcharge on cards; [WithBusiness] can replace it.
const DefaultBusiness = "SANDBOX01"

// Surcharge is what a business adds to payments with a kind of card.
type Surcharge struct {
	Scheme      string // VISA, MASTERCARD, AMEX, DINERS, JCB or UNIONPAY
	CardType    string // CREDIT or DEBIT; empty for any
	BasisPoints int    // hundredths of a percent: 110 is 1.10 %
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

// knownBusiness checks a supplierBusinessCode.
func (b *Sandbox) knownBusiness(code string) string {
	if b.business(code) == nil {
		return "is not the code of a business of this facility"
	}
	return ""
}

// rate is the surcharge for a card in basis points. The first row that fits
// counts.
func (s *business) rate(scheme, cardType string) int {
	for _, row := range s.surcharges {
		if row.Scheme == scheme && (row.CardType == "" || row.CardType == cardType) {
			return row.BasisPoints
		}
	}
	return 0
}
