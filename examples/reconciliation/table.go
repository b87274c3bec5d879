package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// group is what is summed up together.
type group struct {
	Scheme quickstream.CardScheme        `csv:"Card Scheme"`
	Type   quickstream.TransactionType   `csv:"Transaction Type"`
	Status quickstream.TransactionStatus `csv:"Status"`
}

type sum struct {
	count int
	total decimal.Decimal
}

func (s sum) String() string { return fmt.Sprintf("%6d %10s", s.count, s.total.StringFixed(2)) }

// reconcile prints the sums of both sides, and returns an error for every
// transaction that is not the same on both: sums can be equal by chance.
func reconcile(own, reported books) error {
	ours, theirs := own.sums(), reported.sums()
	groups := maps.Clone(ours)
	maps.Copy(groups, theirs)
	fmt.Printf("   %-12s%-9s%-10s%17s%19s\n", "SCHEME", "TYPE", "STATUS", "OWN RECORDS", "REPORT")
	for _, g := range slices.SortedFunc(maps.Keys(groups), func(a, b group) int {
		return cmp.Or(cmp.Compare(a.Scheme, b.Scheme), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Status, b.Status))
	}) {
		fmt.Printf("   %-12s%-9s%-10s%v  %v\n", g.Scheme, g.Type, g.Status, ours[g], theirs[g])
	}
	fmt.Printf("   %-31s%v  %v\n", "SETTLED", settled(ours), settled(theirs))
	return differences(own, reported)
}

func (b books) sums() map[group]sum {
	sums := map[group]sum{}
	for _, e := range b {
		sums[e.group] = sum{sums[e.group].count + 1, sums[e.group].total.Add(decimal.RequireFromString(e.Total))}
	}
	return sums
}

// settled is what the merchant gets: approved payments less approved refunds.
func settled(sums map[group]sum) (net sum) {
	for g, s := range sums {
		switch {
		case g.Status != quickstream.TransactionStatusApproved:
			continue
		case g.Type == quickstream.TransactionTypeRefund:
			s.total = s.total.Neg()
		}
		net = sum{net.count + s.count, net.total.Add(s.total)}
	}
	return net
}

// differences compares transaction by transaction.
func differences(own, reported books) error {
	receipts := maps.Clone(own)
	maps.Copy(receipts, reported)
	var all []error
	for _, receipt := range slices.Sorted(maps.Keys(receipts)) {
		ours, here := own[receipt]
		theirs, there := reported[receipt]
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
