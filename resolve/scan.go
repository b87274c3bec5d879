package resolve

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// DateScan yields all transactions of the facility that settle on a date whose cut-off has passed.
// One serves all cases. [ScanDates] makes one; a program that keeps these lists can fill its own.
type DateScan func(ctx context.Context, date quickstream.Date) iter.Seq2[*quickstream.Transaction, error]

// maxDates is how many dates ScanDates keeps.
const maxDates = 8

// ScanDates returns a [DateScan] over Client.Transactions.BySettlementDate. It reads each date once,
// one date at a time, and keeps the last 8 in memory, with what is needed to compare and nothing
// else. It is for concurrent use.
//
// A date with 100,000 transactions at 20 a page costs 5,000 requests and some 100 MB, for one
// unknown payment or for 300 of them. A case has three to six dates: those from sending to the
// second business day, or the third weekday without a calendar, with the weekend between.
//
// A page after the first that fails is asked for three times. A list that repeats a receipt or
// breaks off is read again, four times at most, until a reading repeats nothing or two in a row have
// the same receipts. All that any of them showed counts. Without such an end the date is an error,
// and is read anew by the next case.
func ScanDates(bySettlementDate func(quickstream.Date, ...quickstream.CallOption) quickstream.List[quickstream.Transaction]) DateScan {
	cache := dateCache{list: bySettlementDate, turn: make(chan struct{}, 1)}
	return cache.scan
}

type dateCache struct {
	list  func(quickstream.Date, ...quickstream.CallOption) quickstream.List[quickstream.Transaction]
	turn  chan struct{} // held by the one that reads
	dates []readDate    // the oldest first
}

type readDate struct {
	date  quickstream.Date
	items []readItem
}

type readItem struct {
	transaction *quickstream.Transaction
	err         error // of one that cannot be read
}

func (c *dateCache) scan(ctx context.Context, date quickstream.Date) iter.Seq2[*quickstream.Transaction, error] {
	return func(yield func(*quickstream.Transaction, error) bool) {
		items, err := c.read(ctx, date)
		for _, item := range items {
			if !yield(item.transaction, item.err) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func (c *dateCache) read(ctx context.Context, date quickstream.Date) ([]readItem, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if i := slices.IndexFunc(c.dates, func(d readDate) bool { return d.date == date }); i >= 0 {
		return c.dates[i].items, nil
	}
	items, err := c.readWhole(ctx, date)
	if err == nil {
		c.dates = append(c.dates, readDate{date, items})
		c.dates = slices.Clone(c.dates[max(0, len(c.dates)-maxDates):])
	}
	return items, err
}

// maxReadings is how often a list is read.
const maxReadings = 4

// readWhole returns all that the readings of a list have shown, with an error if an item may be missing.
func (c *dateCache) readWhole(ctx context.Context, date quickstream.Date) (all []readItem, last error) {
	seen := make(map[[4]string]bool)
	var before []string
	for range maxReadings {
		items, shifted, err := c.readOnce(ctx, date)
		var receipts []string
		for _, item := range items {
			if item.err != nil {
				all = append(all, item)
				continue
			}
			t := item.transaction
			state := [...]string{t.ReceiptNumber, string(t.Status), string(t.SummaryCode), t.ResponseCode}
			if !seen[state] {
				seen[state] = true
				all = append(all, item)
			}
			receipts = append(receipts, t.ReceiptNumber)
		}
		slices.Sort(receipts)
		switch receipts = slices.Compact(receipts); {
		case len(items) == 0:
			return all, err
		case err != nil:
			before, last = nil, err
		case !shifted || slices.Equal(receipts, before):
			return all, nil
		default:
			before, last = receipts, fmt.Errorf("resolve: the list of %s changes from one reading to the next", date)
		}
	}
	return all, last
}

// maxTries is how often a page is asked for: one reading may have thousands.
const maxTries = 3

// readOnce reads a list, and reports whether a receipt was repeated.
func (c *dateCache) readOnce(ctx context.Context, date quickstream.Date) (items []readItem, shifted bool, err error) {
	receipts, pages := make(map[string]bool), make(map[string]bool)
	var at quickstream.Cursor
	for tries := 0; tries < maxTries; tries++ {
		var page *quickstream.Page[quickstream.Transaction]
		for page, err = range c.list(date).From(at).Pages(ctx) {
			if err != nil {
				break
			}
			for _, t := range page.Data {
				shifted = shifted || receipts[t.ReceiptNumber]
				receipts[t.ReceiptNumber] = true
				items = append(items, readItem{transaction: compared(t, date)})
			}
			for _, unreadable := range page.Unreadable {
				items = append(items, readItem{err: unreadable})
			}
			if at, tries = page.Next, 0; pages[at.Text()] {
				return items, shifted, fmt.Errorf("resolve: the list of %s has no end", date)
			}
			pages[at.Text()] = true
		}
		switch {
		case saysNone(err): // a later page has no such error
			return nil, false, nil
		case at.IsZero(): // read to the end, or not begun
			return items, shifted, err
		}
	}
	return items, shifted, err
}

// compared returns the members that Resume compares, without the rest of the answer. The date is that
// of the list.
func compared(t *quickstream.Transaction, date quickstream.Date) *quickstream.Transaction {
	return &quickstream.Transaction{
		SettlementDate: date,
		ReceiptNumber:  t.ReceiptNumber, TransactionType: t.TransactionType, Status: t.Status, SummaryCode: t.SummaryCode, ResponseCode: t.ResponseCode,
		CustomerReferenceNumber: t.CustomerReferenceNumber, PaymentReferenceNumber: t.PaymentReferenceNumber, TransactionTime: t.TransactionTime,
		PrincipalAmount: t.PrincipalAmount, SurchargeAmount: t.SurchargeAmount, TotalAmount: t.TotalAmount,
		SupplierBusinessCode: t.SupplierBusinessCode, PayToData: t.PayToData, Metadata: t.Metadata,
		AuthorisationType: t.AuthorisationType, CancellationType: t.CancellationType, OriginalReceiptNumber: t.OriginalReceiptNumber,
	}
}

// saysNone reports whether an error is a 404 in the service's own words. A gateway's says nothing.
func saysNone(err error) bool {
	return errors.Is(err, quickstream.ErrNotFound) && errors.Is(err, wire.ErrOwn)
}

// scanned reports whether a case is scanned at its end. A void has no transaction of its own.
func (p Policy) scanned(c Case) bool {
	return p.Scan != nil && c.Intent.Operation != quickstream.OperationVoid
}

// clockSlack is how far the merchant's clock may be ahead.
const clockSlack = 2 * time.Hour

// dates yields the transactions of every date on which what was sent may settle.
func (p Policy) dates(ctx context.Context, sent time.Time) iter.Seq2[*quickstream.Transaction, error] {
	return func(yield func(*quickstream.Transaction, error) bool) {
		for date, last := dateOf(sent.Add(-clockSlack)), p.lastDate(sent); date.Compare(last) <= 0; date = date.AddDays(1) {
			for t, err := range p.Scan(ctx, date) {
				if !yield(t, err) {
					return
				}
			}
		}
	}
}
