package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
)

// PortalAction is an action of the merchant's staff in the service's portal.
type PortalAction string

// The actions in the portal.
const (
	// CompleteTransaction releases a transaction that fraud screening has suspended: it gets the
	// outcome of its account. The id is the receipt number.
	CompleteTransaction PortalAction = "complete-transaction"
	// CancelTransaction declines a transaction that fraud screening has suspended. The id is the receipt number.
	CancelTransaction PortalAction = "cancel-transaction"
	// MakeAccountDefault makes an account the one that is used if a payment names only the
	// customer. The id is the account token.
	MakeAccountDefault PortalAction = "make-account-default"
)

// Portal carries out an action in the service's portal. It is an error if there is no such
// action or object, or the object's state does not allow the action.
func (b *Sandbox) Portal(id string, action PortalAction) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch action {
	case CompleteTransaction, CancelTransaction:
		return b.release(id, action == CompleteTransaction)
	case MakeAccountDefault:
		a := b.accounts.byID[id]
		if a == nil {
			return errors.New("sandbox: no such account")
		}
		a.customer.defaultAccount = a
		return nil
	default:
		return fmt.Errorf("sandbox: no portal action %q", action)
	}
}

func (b *Sandbox) release(receipt string, complete bool) error {
	tx := b.transactions.byID[receipt]
	if tx == nil || tx.result != resultSuspended {
		return errors.New("sandbox: no suspended transaction has this receipt number")
	}
	if !complete {
		b.settle(tx, Declined("17")) // customer cancellation
		return nil
	}
	now := b.clock.Now()
	tx.settlement = b.settlementDate(now)
	b.settle(tx, b.accountOutcome(tx.source, now))
	return nil
}

// ReturnPayment makes the customer's bank return an approved payment from an Australian bank account, with
// a response code such as 6. It is an error if there is no such payment.
func (b *Sandbox) ReturnPayment(receiptNumber, code string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	tx := b.transactions.byID[receiptNumber]
	if tx == nil || tx.source.bank == nil || tx.result != resultApproved {
		return errors.New("sandbox: no approved payment from a bank account has this receipt number")
	}
	b.settle(tx, Declined(code))
	return nil
}

// RetryPayment makes the service retry a soft-declined payment, as staff can in its portal, and returns the
// receipt number of the new payment. [Sandbox.NextTransaction] or the account decides its outcome. It is
// an error if there is no such payment, or a retry of it has succeeded or may still succeed.
func (b *Sandbox) RetryPayment(receiptNumber string) (newReceiptNumber string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	tx := b.transactions.byID[receiptNumber]
	if tx == nil || !b.retriable(tx) {
		return "", errors.New("sandbox: no soft-declined payment without a successful retry has this receipt number")
	}
	return b.retry(tx, b.decide(tx, b.clock.Now())).ReceiptNumber, nil
}

const scheduleSource = "RECURRING" // unconfirmed, like fileSource

// Schedule is a recurring payment as staff set it up in the service's portal. It is monthly, the only
// frequency that is public. The first payment is made at once.
type Schedule struct {
	CustomerID           string `json:"customerId"`
	AccountToken         string `json:"accountToken"`         // empty: the customer's default account at the time of each payment
	SupplierBusinessCode string `json:"supplierBusinessCode"` // empty: DefaultBusiness
	Amount               int64  `json:"amount"`               // in cents of an Australian dollar
	Payments             int    `json:"payments"`             // 0: until further notice
}

const (
	scheduleActive = "ACTIVE"
	scheduleEnded  = "COMPLETED"
)

type schedule struct {
	Schedule
	id, code, status string
	shop             *business
	due              time.Time // time of the next payment
	runs             int
	payments         []*transaction
}

// CreateSchedule sets up a recurring payment on the sandbox's clock, and returns its paymentScheduleId. The
// account decides the outcomes. A payment is left out if the customer is disabled or has no account that day.
func (b *Sandbox) CreateSchedule(s Schedule) (paymentScheduleID string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.SupplierBusinessCode = cmp.Or(s.SupplierBusinessCode, DefaultBusiness)
	account := b.accounts.byID[s.AccountToken]
	switch {
	case b.customers.byID[s.CustomerID] == nil:
		return "", fmt.Errorf("sandbox: no customer %q", s.CustomerID)
	case s.AccountToken != "" && (account == nil || account.customer.id != s.CustomerID):
		return "", errors.New("sandbox: the account is not the customer's")
	case b.business(s.SupplierBusinessCode) == nil:
		return "", fmt.Errorf("sandbox: no business %q", s.SupplierBusinessCode)
	case s.Amount <= 0 || s.Payments < 0:
		return "", errors.New("sandbox: a schedule needs an amount above zero and no negative number of payments")
	}
	sc := &schedule{Schedule: s, status: scheduleActive, shop: b.business(s.SupplierBusinessCode), due: b.clock.Now()}
	sc.id = newID(b.ids, b.schedules.byID, 9)
	sc.code = fmt.Sprintf("SCHEDULE%04d", len(b.schedules.ordered)+1)
	b.schedules.add(sc.id, sc)
	b.run(sc)
	return sc.id, nil
}

// run makes the payment that is due, and plans the next one. The caller holds mu.
func (b *Sandbox) run(sc *schedule) {
	b.payDue(sc)
	if sc.runs++; sc.runs == sc.Payments {
		sc.status = scheduleEnded
		return
	}
	sc.due = sc.due.AddDate(0, 1, 0)
	b.after(sc.due.Sub(b.clock.Now()), func() { b.run(sc) })
}

func (b *Sandbox) payDue(sc *schedule) {
	cust := b.customers.byID[sc.CustomerID]
	account := cust.defaultAccount
	if sc.AccountToken != "" {
		account = b.accounts.byID[sc.AccountToken]
	}
	if account == nil || cust.disabled {
		return
	}
	tx := &transaction{
		Entry: Entry{Type: typePayment, Time: b.clock.Now(), Currency: "AUD", CustomerReferenceNumber: cust.number, PaymentReferenceNumber: sc.code},
		via:   scheduleSource, shop: sc.shop, account: account, source: account.source, principal: cents(sc.Amount),
	}
	tx.addSurcharge()
	b.commit(tx, b.accountOutcome(tx.source, tx.Time))
	sc.payments = append(sc.payments, tx)
}

// scheduleBody has public members, and members for the concepts of the vendor's public pages.
func (c *call) scheduleBody(sc *schedule) object {
	body := object{
		"links":             c.links(get("self", c.href("recurring-payments", sc.id))),
		"paymentScheduleId": sc.id, "paymentScheduleCode": sc.code, "status": sc.status,
		"customerId": sc.CustomerID, "accountToken": optional(sc.AccountToken), "supplierBusinessCode": sc.shop.code,
		"frequency": "MONTHLY", "scheduleType": "CONTINUE_UNTIL_FURTHER_NOTICE",
		"regularPaymentAmount": amountOf("AUD", cents(sc.Amount)), "nextPaymentDate": nil,
	}
	if sc.Payments > 0 {
		body["scheduleType"] = "FIXED_NUMBER_OF_PAYMENTS"
	}
	if sc.status == scheduleActive {
		body["nextPaymentDate"] = calendar.Sydney(sc.due).Format(time.DateOnly)
	}
	return body
}

func (b *Sandbox) transactionsOfSchedule(c *call, sc *schedule) answer {
	return b.pagesOf(c, b.visibleOf(sc.payments, c.now, func(*transaction) bool { return true }))
}

// schedulesOfCustomer lists active schedules first, and then by code.
func (b *Sandbox) schedulesOfCustomer(c *call, cust *customer) answer {
	found := b.schedules.where(func(sc *schedule) bool { return sc.CustomerID == cust.id })
	over := func(sc *schedule) int {
		if sc.status == scheduleActive {
			return 0
		}
		return 1
	}
	slices.SortFunc(found, func(a, b *schedule) int { return cmp.Or(over(a)-over(b), strings.Compare(a.code, b.code)) })
	return list(c, found, (*call).scheduleBody)
}
