package store

import (
	"net/http"

	"github.com/quickstream-go/quickstream/durable/console"
)

// officeRoutes are those of the back office. The login is the shop's, and all that is behind it durable's console.
func (s *server) officeRoutes() []route {
	office := http.StripPrefix("/office", s.office).ServeHTTP
	return []route{
		{"GET /office/login", s.loginPage, s.visited},
		{"POST /office/login", s.login, s.visited},
		{"POST /office/logout", s.logout, s.visited},
		{"GET /office/", office, s.staff},
		{"POST /office/", office, s.staff},
		{"GET /metrics", s.metrics, anybody},
	}
}

// person is who has logged in. All staff of this shop may do everything.
func (s *server) person(r *http.Request) (console.Person, error) {
	name, err := s.staffName(r)
	return console.Person{Name: name, Read: true, Act: true, Export: true}, err
}
