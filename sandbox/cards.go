package sandbox

import (
	"cmp"
	"maps"
	"slices"
)

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
			ThreeDS: threeDSResult(&card{number: number}),
		})
	}
	slices.SortStableFunc(list, func(a, b TestCard) int { return cmp.Compare(a.DeclineCode, b.DeclineCode) })
	return list
}
