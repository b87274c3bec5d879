package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// settled is what the merchant gets: approved payments less approved refunds.
func (b books) settled() (net decimal.Decimal) {
	for _, e := range b {
		switch {
		case e.Status != quickstream.TransactionStatusApproved:
		case e.Type == quickstream.TransactionTypeRefund:
			net = net.Sub(decimal.RequireFromString(e.Total))
		default:
			net = net.Add(decimal.RequireFromString(e.Total))
		}
	}
	return net
}

// differences compares transaction by transaction: sums can be equal by chance.
func differences(own, reported books) error {
	receipts := maps.Clone(own)
	maps.Copy(receipts, reported)
	var all []error
	for _, receipt := range slices.Sorted(maps.Keys(receipts)) {
		ours, here := own[receipt]
		theirs, there := reported[receipt]
		if ours.Status == quickstream.TransactionStatusVoided {
			ours.Total = theirs.Total // a report may show the amount or 0.00: nothing is settled
		}
		switch {
		case !there:
			all = append(all, fmt.Errorf("%s is not in the report", receipt))
		case !here:
			all = append(all, fmt.Errorf("%s is in the report only", receipt))
		case ours != theirs:
			all = append(all, fmt.Errorf("%s differs: %v here, %v in the report", receipt, ours, theirs))
		}
	}
	return errors.Join(all...)
}
