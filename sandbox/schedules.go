package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
	"github.com/quickstream-go/quickstream/sandbox/internal/form"
)

const scheduleSource = "RECURRING" // unconfirmed, as fileSource

func (b *Sandbox) scheduleOperations() []operation {
	return []operation{
		{id: "GET /recurring-payments/{paymentScheduleId}", handle: shown("recurring payment", b.namedSchedule, (*call).scheduleBody)},
		{id: "GET /recurring-payments/{paymentScheduleId}/transactions", query: paged(), handle: found("recurring payment", b.namedSchedule, b.transactionsOfSchedule)},
		{id: "GET /customers/{customerId}/recurring-payments", query: paged(), handle: found("customer", b.namedCustomer, b.schedulesOfCustomer)},
	}
}

// Frequency is how often a recurring payment is made.
type Frequency string

// The frequencies. Only MONTHLY is public.
const (
	Weekly      Frequency = "WEEKLY"
	Fortnightly Frequency = "FORTNIGHTLY"
	Monthly     Frequency = "MONTHLY"
	Quarterly   Frequency = "QUARTERLY"
	Yearly      Frequency = "YEARLY"
)

// Schedule is a recurring payment, as it is set up in the service's portal.
type Schedule struct {
	CustomerID           string    `json:"customerId"`
	AccountToken         string    `json:"accountToken"`         // empty: the customer's default account at the time of each payment
	SupplierBusinessCode string    `json:"supplierBusinessCode"` // empty: DefaultBusiness
	Amount               int64     `json:"amount"`               // in cents
	Currency             string    `json:"currency"`             // empty: AUD
	Frequency            Frequency `json:"frequency"`
	First                time.Time `json:"first"`    // zero: now
	Payments             int       `json:"payments"` // 0: until further notice
}

const (
	scheduleActive  = "ACTIVE"
	scheduleStopped = "STOPPED"
	scheduleEnded   = "COMPLETED"

	untilFurtherNotice = "CONTINUE_UNTIL_FURTHER_NOTICE"
	fixedNumber        = "FIXED_NUMBER_OF_PAYMENTS"
)

// schedule is a recurring payment with its payments.
type schedule struct {
	Schedule
	id, code, status string
	shop             *business
	due              time.Time // time of the next payment
	runs             int
	payments         []*transaction
}

type scheduleStore struct {
	byID    map[string]*schedule
	ordered []*schedule // oldest first
}

func newScheduleStore() scheduleStore { return scheduleStore{byID: make(map[string]*schedule)} }

// CreateSchedule sets up a recurring payment on the sandbox's clock, and returns its
// paymentScheduleId. The account decides the outcomes. If the customer has no account on a
// day, there is no payment.
func (b *Sandbox) CreateSchedule(s Schedule) (paymentScheduleID string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.SupplierBusinessCode = cmp.Or(s.SupplierBusinessCode, DefaultBusiness)
	s.Currency = cmp.Or(s.Currency, "AUD")
	now := b.clock.Now()
	if s.First.IsZero() {
		s.First = now
	}
	_, known := s.Frequency.after(now, 1)
	account := b.accounts.byToken[s.AccountToken]
	switch {
	case b.closed:
		return "", errClosed
	case b.customers.byID[s.CustomerID] == nil:
		return "", fmt.Errorf("sandbox: no customer %q", s.CustomerID)
	case s.AccountToken != "" && (account == nil || account.customer.ID != s.CustomerID):
		return "", errors.New("sandbox: the account is not the customer's")
	case b.business(s.SupplierBusinessCode) == nil:
		return "", fmt.Errorf("sandbox: no business %q", s.SupplierBusinessCode)
	case s.Amount <= 0 || s.Payments < 0:
		return "", errors.New("sandbox: a schedule needs an amount above zero and no negative number of payments")
	case !known:
		return "", fmt.Errorf("sandbox: no frequency %q", s.Frequency)
	case s.First.Before(now):
		return "", errors.New("sandbox: the first payment is in the past")
	}
	sc := &schedule{Schedule: s, status: scheduleActive, shop: b.business(s.SupplierBusinessCode), due: s.First}
	sc.id = newID(b.ids, b.schedules.byID, 9)
	sc.code = fmt.Sprintf("SCHEDULE%04d", len(b.schedules.ordered)+1)
	b.schedules.byID[sc.id] = sc
	b.schedules.ordered = append(b.schedules.ordered, sc)
	b.runWhenDue(sc)
	return sc.id, nil
}

// after returns the time of the nth payment after the first, at the same time of the day in
// Sydney. If the month is too short, it is the month's last day.
func (q Frequency) after(first time.Time, n int) (at time.Time, known bool) {
	first = calendar.Sydney(first)
	days, months := 0, 0
	switch q {
	case Weekly:
		days = 7 * n
	case Fortnightly:
		days = 14 * n
	case Monthly:
		months = n
	case Quarterly:
		months = 3 * n
	case Yearly:
		months = 12 * n
	default:
		return time.Time{}, false
	}
	at = first.AddDate(0, months, days)
	if months > 0 && at.Day() != first.Day() {
		at = at.AddDate(0, 0, -at.Day())
	}
	_, before := first.Zone()
	_, then := calendar.Sydney(at).Zone()
	return at.Add(time.Duration(before-then) * time.Second), true
}

func (b *Sandbox) runWhenDue(sc *schedule) {
	b.after(sc.due.Sub(b.clock.Now()), func() {
		if sc.status != scheduleActive {
			return
		}
		b.run(sc)
		sc.runs++
		if sc.runs == sc.Payments {
			sc.status = scheduleEnded
			return
		}
		sc.due, _ = sc.Frequency.after(sc.First, sc.runs)
		b.runWhenDue(sc)
	})
}

// run makes one payment. The caller holds mu.
func (b *Sandbox) run(sc *schedule) {
	cust := b.customers.byID[sc.CustomerID]
	account := b.accounts.defaultOf(sc.CustomerID)
	if sc.AccountToken != "" {
		account = b.accounts.byToken[sc.AccountToken]
	}
	if account == nil || !account.enabled || cust.Status != customerEnabled {
		return
	}
	tx := &transaction{
		kind: typePayment, via: scheduleSource, created: b.clock.Now(), shop: sc.shop, account: account, source: account.source,
		principal: cents(sc.Amount), currency: sc.Currency, customerReference: cust.Number, paymentReference: sc.code,
	}
	tx.addSurcharge()
	b.commit(tx, b.accountOutcome(tx.source, tx.created))
	sc.payments = append(sc.payments, tx)
}

// scheduleBody has public members, and members for the concepts of the vendor's public pages.
type scheduleBody struct {
	Links           []form.Link `json:"links"`
	ID              string      `json:"paymentScheduleId"`
	Code            string      `json:"paymentScheduleCode"`
	Status          string      `json:"status"`
	CustomerID      string      `json:"customerId"`
	AccountToken    *string     `json:"accountToken"`
	BusinessCode    string      `json:"supplierBusinessCode"`
	Frequency       Frequency   `json:"frequency"`
	ScheduleType    string      `json:"scheduleType"`
	RegularAmount   amountBody  `json:"regularPaymentAmount"`
	NextPaymentDate *string     `json:"nextPaymentDate"`
}

func (c *call) scheduleBody(sc *schedule) any {
	body := scheduleBody{
		Links: c.related(
			get("self", c.href("recurring-payments", sc.id)),
			get("transactions", c.href("recurring-payments", sc.id, "transactions")),
		),
		ID: sc.id, Code: sc.code, Status: sc.status, CustomerID: sc.CustomerID, AccountToken: optional(sc.AccountToken),
		BusinessCode: sc.shop.code, Frequency: sc.Frequency, ScheduleType: untilFurtherNotice,
		RegularAmount: amountOf(sc.Currency, cents(sc.Amount)),
	}
	if sc.Payments > 0 {
		body.ScheduleType = fixedNumber
	}
	if sc.status == scheduleActive {
		body.NextPaymentDate = optional(calendar.Sydney(sc.due).Format(time.DateOnly))
	}
	return body
}

func (b *Sandbox) namedSchedule(c *call) *schedule {
	return b.schedules.byID[c.params["paymentScheduleId"]]
}

func (b *Sandbox) transactionsOfSchedule(c *call, sc *schedule) answer {
	return b.pagesOf(c, b.visibleOf(sc.payments, c.now, func(*transaction) bool { return true }))
}

// schedulesOfCustomer lists active schedules first, then by code.
func (b *Sandbox) schedulesOfCustomer(c *call, cust *customer) answer {
	found := slices.DeleteFunc(slices.Clone(b.schedules.ordered), func(sc *schedule) bool { return sc.CustomerID != cust.ID })
	rank := func(sc *schedule) int {
		if sc.status == scheduleActive {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(found, func(x, y *schedule) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.code, y.code))
	})
	return list(c, found, func(sc *schedule) string { return sc.id }, (*call).scheduleBody)
}
