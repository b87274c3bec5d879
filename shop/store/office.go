package store

import (
	"context"
	"database/sql"
	"errors"
	"net/http"

	"github.com/quickstream-go/quickstream/durable"
)

// officeRoutes are those of the back office.
func (s *server) officeRoutes() []route {
	staff := s.staff
	return []route{
		{"GET /office", http.RedirectHandler("/office/", http.StatusMovedPermanently).ServeHTTP, anybody},
		{"GET /office/login", s.loginPage, s.visited},
		{"POST /office/login", s.login, s.visited},
		{"POST /office/logout", s.logout, staff},
		{"GET /office/{$}", s.live("office", "Payments", s.paymentsData), staff},
		{"GET /office/events", s.events("office", s.paymentsData), staff},
		{"GET /office/find", s.find, staff},
		{"GET /office/orders/{order}", s.live("office-order", "Payment", s.orderData), staff},
		{"GET /office/orders/{order}/events", s.events("office-order", s.orderData), staff},
		{"POST /office/orders/{order}/give-back", s.giveBack, staff},
		{"POST /office/writes/{write}/decide", s.decide, staff},
		{"GET /office/person", s.live("office-person", "For a person", s.personData), staff},
		{"GET /office/person/events", s.events("office-person", s.personData), staff},
		{"GET /office/returned", s.live("office-returned", "Given back", s.returnedData), staff},
		{"GET /office/returned/events", s.events("office-returned", s.returnedData), staff},
		{"GET /office/comparison", s.live("office-comparison", "Comparison", s.comparisonData), staff},
		{"GET /office/comparison/events", s.events("office-comparison", s.comparisonData), staff},
		{"POST /office/comparison", s.compareNow, staff},
		{"GET /office/figures", s.live("office-figures", "Figures", s.figuresData), staff},
		{"GET /office/figures/events", s.events("office-figures", s.figuresData), staff},
		{"GET /metrics", s.metrics, anybody},
	}
}

// officePage is what the pages of the back office get.
type officePage struct {
	Events  string // where the page is told changes
	Notice  string // what came of the form that was sent
	Waiting int    // how much is for a person
	Content any
}

// source reads what a page shows.
type source func(r *http.Request) (any, error)

// live shows a page that changes by itself.
func (s *server) live(name, title string, read source) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.officeAnswer(w, r, http.StatusOK, name, title, "", read)
	}
}

// officeAnswer shows a page with what came of a form.
func (s *server) officeAnswer(w http.ResponseWriter, r *http.Request, status int, name, title, notice string, read source) {
	data, err := s.officeData(r, read)
	if err != nil {
		s.missing(w, r, err)
		return
	}
	data.Notice = notice
	data.Events = r.URL.Path + "/events"
	if r.URL.Path == "/office/" {
		data.Events = "/office/events"
	}
	if r.URL.RawQuery != "" {
		data.Events += "?" + r.URL.RawQuery
	}
	s.showOffice(w, r, status, name, title, data)
}

func (s *server) officeData(r *http.Request, read source) (data officePage, err error) {
	if data.Content, err = read(r); err != nil {
		return data, err
	}
	err = s.db.QueryRowContext(r.Context(), "SELECT count(*) FROM shop_write WHERE "+forPerson).Scan(&data.Waiting)
	return data, err
}

// events tells a page what it shows now, whenever that changes. It ends with the login.
func (s *server) events(name string, read source) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.stream(w, r, func() (told, error) {
			if _, err := s.staffToken(r); err != nil {
				return told{}, err
			}
			data, err := s.officeData(r, read)
			if err != nil {
				return told{}, err
			}
			body, err := s.render(r, name, "live", "", data)
			return told{HTML: string(body)}, err
		})
	}
}

// showOffice writes a page of the back office.
func (s *server) showOffice(w http.ResponseWriter, r *http.Request, status int, name, title string, data any) {
	s.write(w, r, status, name, "office", title, data)
}

// paid is an order with a payment, as the list shows it.
type paid struct {
	ID, Item, State           string
	Amount, Returned, Created int64
}

// paymentList is the list of payments.
type paymentList struct {
	Payments []paid
	All      int            // payments, of which the newest are here
	Counts   map[string]int // of all, by state
}

const (
	fromPaid = ` FROM shop_order o
	WHERE (state NOT IN ('new', 'challenge') OR EXISTS (SELECT 1 FROM shop_write w WHERE w.order_id = o.id))`
	paidOrders = "SELECT id, item, state, amount, returned, created" + fromPaid + " ORDER BY created DESC, rowid DESC LIMIT 100"
)

func (s *server) paymentsData(r *http.Request) (any, error) {
	rows, err := s.db.QueryContext(r.Context(), paidOrders)
	if err != nil {
		return nil, err
	}
	var list paymentList
	list.Payments, err = all(rows, func(scan func(...any) error) (p paid, err error) {
		err = scan(&p.ID, &p.Item, &p.State, &p.Amount, &p.Returned, &p.Created)
		return p, err
	})
	if err != nil {
		return nil, err
	}
	for i := range list.Payments {
		p := &list.Payments[i]
		if p.State == statePaying { // of which OnOutcome was notified of nothing yet
			if p.State, err = s.stateNow(r.Context(), p.ID); err != nil {
				return nil, err
			}
		}
	}
	list.Counts, err = s.counted(r.Context(), "SELECT state, count(*)"+fromPaid+" GROUP BY state")
	for _, n := range list.Counts {
		list.All += n
	}
	return list, err
}

// stateNow is durable's word of an order's payment.
func (s *server) stateNow(ctx context.Context, orderID string) (string, error) {
	p, there, err := s.paymentOf(ctx, orderID)
	if err != nil || !there {
		return string(durable.StateQueued), err
	}
	return p.Name(), nil
}

// find leads to an order by its number or its receipt.
func (s *server) find(w http.ResponseWriter, r *http.Request) {
	number := r.URL.Query().Get("number")
	var id string
	err := s.db.QueryRowContext(r.Context(), `SELECT id FROM shop_order WHERE id = ?1
		UNION SELECT order_id FROM shop_write WHERE receipt = ?1 AND ?1 <> '' LIMIT 1`, number).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		r.URL.Path = "/office/"
		s.officeAnswer(w, r, http.StatusNotFound, "office", "Payments", "There is no order and no receipt of that number.", s.paymentsData)
		return
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/office/orders/"+id, http.StatusSeeOther)
}

// returnedData lists what was given back, or came back from the bank.
func (s *server) returnedData(r *http.Request) (any, error) {
	list, err := s.written(r.Context(), "follows <> '' OR state = 'returned'")
	if err != nil {
		return nil, err
	}
	var sum int64
	for _, w := range list {
		if w.State == stateApproved || w.Follows == "" {
			sum += w.Amount
		}
	}
	return struct {
		Writes []written
		Sum    int64
	}{list, sum}, nil
}

func (s *server) figuresData(r *http.Request) (any, error) { return s.figures(r.Context()) }
