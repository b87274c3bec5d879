// Package console shows payments to the people who work with them, as an [net/http.Handler] behind the merchant's own
// login: first the problems and the writes that need a person, then a search, a page for each payment, and decisions, refunds
// and pauses with their consequences. Each of them is one call of package durable, with the person's name and reason.
//
//	office, err := console.New(engine, store, console.Options{
//		Authorize: func(r *http.Request) (console.Person, error) {
//			user, err := session(r) // of the merchant's login
//			return console.Person{Name: user.Name, Read: true, Act: user.Lead, Export: user.Accountant}, err
//		},
//	})
//	mux.Handle("/payments/", requireLogin(http.StripPrefix("/payments", office)))
//	server.RegisterOnShutdown(office.Close)
//
// It works under any prefix that ends with a slash, in one process or many, and without JavaScript. With JavaScript an open
// page reloads every three seconds, so a login that ends when it is idle does not end while a page is open.
//
// It offers only what the engine allows. A form has the version of the payment that it shows, and the id of the write that it
// makes: a second click makes nothing, and a second person sees what the first one did. A refund is asked for on one page and
// made on the next. A person decides only in the minute after a look-up. A write that the engine still looks up can be decided
// only if the look-up shows something, or shows nothing [durable.Options].LookupLag after the write was sent.
//
// People who may read see order, title, amount, receipt number and the last digits of the card. Tokens of cards, accounts and
// agreements are never shown. The customer's reference number is searched for by a form, and is in no address. The
// addresses have ids, orders and receipt numbers of the merchant and the service. Posts from other sites are refused. Times
// are those of Sydney.
package console
