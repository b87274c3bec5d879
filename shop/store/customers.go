package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"net/http"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// card is a stored card of a visitor. The account token stays here: a page names the card
// by an id of the shop's.
type card struct {
	ID, Account, Scheme, Digits, Expires string
}

// Label is what the card is called.
func (c card) Label() string {
	if c.Digits == "" {
		return "Your stored card"
	}
	return c.Name() + ", until " + c.Expires
}

// Name is the card's scheme, with its last digits.
func (c card) Name() string { return c.Scheme + " ending in " + c.Digits }

// lastDigits are those of a masked number that a customer is shown.
func lastDigits(masked string) string { return masked[max(0, len(masked)-3):] }

// ensureCustomer makes the visitor a customer of the service's, to whom a card can belong.
// Made again after a lost answer it finds the one that is there.
func (s *server) ensureCustomer(ctx context.Context, visitor string) error {
	id, err := s.customerOf(ctx, visitor)
	if err != nil || id != "" {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	found, err := s.client.Customers.GetByNumber(limited, visitor)
	if errors.Is(err, quickstream.ErrNotFound) {
		found, err = s.client.Customers.Create(limited, quickstream.CreateCustomerParams{CustomerNumber: visitor, CustomerName: "Customer of the shop"})
	}
	if err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, "UPDATE shop_session SET customer = ? WHERE visitor = ?", found.CustomerID, visitor)
	return err
}

func (s *server) customerOf(ctx context.Context, visitor string) (id string, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT customer FROM shop_session WHERE visitor = ?", visitor).Scan(&id)
	return id, err
}

// registered stores the token of a card that was registered.
func (s *server) registered(ctx context.Context, tx *sql.Tx, w durable.OtherWrite) error {
	if !w.Approved() {
		return nil // the payment stands; the card is asked for again next time
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO shop_card (id, visitor, account, created) SELECT ?, visitor, ?, ? FROM shop_order WHERE id = ?
		ON CONFLICT (account) DO NOTHING`, rand.Text()[:16], w.ReceiptNumber, micros(s.clock.Now()), w.Order)
	return err
}

// cardsOf returns a visitor's stored cards. What a card is called is read from the service
// once.
func (s *server) cardsOf(ctx context.Context, visitor string) ([]card, error) {
	cards, err := s.storedCards(ctx, visitor)
	limited, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	for i := range cards {
		c := &cards[i]
		if c.Digits != "" {
			continue
		}
		account, err := s.client.Accounts.Get(limited, c.Account)
		if err != nil || account.CardNumber == "" {
			continue // the next page may know more
		}
		c.Scheme, c.Digits = string(account.CardScheme), lastDigits(account.CardNumber)
		c.Expires = account.ExpiryDateMonth + "/" + account.ExpiryDateYear
		if _, err := s.db.ExecContext(ctx, "UPDATE shop_card SET scheme = ?, digits = ?, expires = ? WHERE id = ?", c.Scheme, c.Digits, c.Expires, c.ID); err != nil {
			return nil, err
		}
	}
	return cards, err
}

func (s *server) storedCards(ctx context.Context, visitor string) ([]card, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, account, scheme, digits, expires FROM shop_card WHERE visitor = ? ORDER BY created DESC", visitor)
	if err != nil {
		return nil, err
	}
	return all(rows, func(scan func(...any) error) (c card, err error) {
		err = scan(&c.ID, &c.Account, &c.Scheme, &c.Digits, &c.Expires)
		return c, err
	})
}

// payByStoredCard takes an order's payment from a card that the customer has stored.
func (s *server) payByStoredCard(w http.ResponseWriter, r *http.Request, o order) {
	var account string
	err := s.db.QueryRowContext(r.Context(), "SELECT account FROM shop_card WHERE id = ? AND visitor = ?",
		r.PostFormValue("card"), o.Visitor).Scan(&account)
	if errors.Is(err, sql.ErrNoRows) {
		back(w, r, o, "card-gone")
		return
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.commit(w, r, o, s.byCard(r, o, quickstream.FromAccount(account, quickstream.AccountTypeCreditCard), quickstream.EntryModeStoredCredential))
}

// customer shows a visitor's stored cards and PayTo agreements.
func (s *server) customer(w http.ResponseWriter, r *http.Request) {
	cards, err := s.cardsOf(r.Context(), visitorOf(r).number)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	agreements, err := s.agreementsOf(r.Context(), visitorOf(r).number)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, r, http.StatusOK, "customer", "Your account", struct {
		Cards      []card
		Agreements []agreement
	}{cards, agreements})
}

// removeCard forgets a card. The service keeps the account, which nobody can charge
// without its token; how it is removed there the contract does not say.
func (s *server) removeCard(w http.ResponseWriter, r *http.Request) {
	_, err := s.db.ExecContext(r.Context(), "DELETE FROM shop_card WHERE id = ? AND visitor = ?", r.PathValue("card"), visitorOf(r).number)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, "/customers/", http.StatusSeeOther)
}
