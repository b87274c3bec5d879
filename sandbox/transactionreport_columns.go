package sandbox

import (
	"slices"
	"strings"
)

// reportColumn is one column of the transaction report.
type reportColumn struct {
	heading string
	value   func(*transaction) string
}

const metadataColumn = "metadata_"

// reportLayout returns the columns of a version. Only the first ones are public:
// the four of version 1, and the first of version 2. All others are the
// sandbox's own, and one is there that nobody knows, because columns are added
// from time to time.
func (b *Sandbox) reportLayout(version string) []reportColumn {
	text := func(heading string, value func(*transaction) string) reportColumn {
		return reportColumn{heading, value}
	}
	first := []reportColumn{
		text("Community Code", func(*transaction) string { return communityCode }),
		text("Business Code", func(tx *transaction) string { return tx.shop.code }),
		text("Business Name", func(tx *transaction) string { return tx.shop.name }),
		text("Source", b.sourceOf),
	}
	if version == "2" {
		first = []reportColumn{
			text("Supplier Business Code", func(tx *transaction) string { return tx.shop.code }),
			text("Supplier Business Name", func(tx *transaction) string { return tx.shop.name }),
			text("Source", b.sourceOf),
		}
	}
	if b.assume.UnknownMembers != "none" {
		first = append(first, text("Added Later", func(*transaction) string { return `a "new" column` }))
	}
	return append(
		first,
		text("Receipt Number", receiptOf),
		text("Transaction Type", func(tx *transaction) string { return tx.kind }),
		text("Original Receipt Number", func(tx *transaction) string { return tx.originalReceipt }),
		text("Status", b.status),
		text("Summary Code", b.summaryCode),
		text("Response Code", func(tx *transaction) string { return tx.code }),
		text("Response Description", describe),
		text("Settlement Date", b.reportDate),
		text("Transaction Time", func(tx *transaction) string { return inSydney(tx.created).Format(reportTimeLayout) }),
		text("Currency", func(tx *transaction) string { return tx.currency }),
		text("Principal Amount", func(tx *transaction) string { return tx.principal.String() }),
		text("Surcharge Amount", func(tx *transaction) string { return tx.surcharge.String() }),
		text("Total Amount", func(tx *transaction) string { return tx.total().String() }),
		text("Customer Reference Number", func(tx *transaction) string { return tx.customerReference }),
		text("Payment Reference Number", func(tx *transaction) string { return tx.paymentReference }),
		text("Comment", func(tx *transaction) string { return tx.comment }),
		text("Account Type", func(tx *transaction) string { return tx.source.accountType() }),
		text("Account Number", b.maskedSource),
		text("Card Scheme", func(tx *transaction) string {
			if tx.source.card == nil {
				return ""
			}
			return tx.source.card.scheme
		}),
	)
}

// pickColumns returns the columns of the headings given, in their order, or the
// heading that is not a column.
func pickColumns(layout []reportColumn, headings []string) (picked []reportColumn, unknown string) {
	for i, heading := range headings {
		at := slices.IndexFunc(layout, func(col reportColumn) bool { return col.heading == heading })
		key, isMetadata := strings.CutPrefix(heading, metadataColumn)
		switch {
		case slices.Contains(headings[:i], heading):
			return nil, heading
		case at >= 0:
			picked = append(picked, layout[at])
		case isMetadata && key != "":
			picked = append(picked, reportColumn{heading, func(tx *transaction) string { return tx.metadata[key] }})
		default:
			return nil, heading
		}
	}
	return picked, ""
}

func (b *Sandbox) reportDate(tx *transaction) string {
	return reformatDate(tx.settlement, reportDateLayout)
}

// maskedSource is the account of a transaction as people may see it.
func (b *Sandbox) maskedSource(tx *transaction) string {
	switch {
	case tx.source.card != nil:
		return tx.source.card.firstSixLastThree()
	case tx.source.bank != nil:
		return b.maskedAccount(tx.source.bank.bsb, tx.source.bank.number)
	case tx.source.nz != nil:
		return tx.source.nz.masked()
	default:
		return tx.source.payTo.payer.maskedAccount
	}
}
