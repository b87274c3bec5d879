package conform

import (
	"net/http"
	"net/url"
)

// makeCustomer makes the customer of this process, whose agreements are found again.
func (s *session) makeCustomer() reply {
	v, _ := judge(func() answer {
		number := s.reference(len(s.Made))
		n, a := s.make(kindCustomer, http.MethodPost, "/customers", object{
			"customerNumber": number, "customerName": "Conform Probe", "emailAddress": "conform@example.com", "phoneNumber": "+61255501234",
		})
		s.customer = s.Made[n].Handle
		return a
	})
	return v
}

// customers are those that this run may have made: an answer that was lost has made one too. They
// are not known if a look-up has no usable answer.
func (s *session) customers() (ids []string, known bool) {
	known = true
	for _, n := range s.open(kindCustomer) {
		if s.Made[n].Handle != "" {
			ids = append(ids, s.Made[n].Handle)
			continue
		}
		v, a := judge(func() answer { return s.page("/customers", url.Values{"customerNumber": {s.reference(n)}}) })
		known = known && (v == accepts || v == refuses && a.status == http.StatusNotFound)
		for _, item := range a.body.get("data").items {
			ids = append(ids, item.get("customerId").text)
		}
	}
	return ids, known
}

// disable disables every customer that this run may have made.
func (s *session) disable() bool {
	ids, done := s.customers()
	for _, id := range ids {
		done = s.send(http.MethodPut, "/customers/"+url.PathEscape(id), object{"enabled": false}).accepted() && done
	}
	return done && s.err == nil
}
