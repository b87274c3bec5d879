package sandbox

// account is a payer's account that is kept for later payments.
type account struct {
	token     string
	customer  *customer
	source    instrument
	isDefault bool
	enabled   bool
}

type accountStore struct {
	byToken    map[string]*account
	byCustomer map[string][]*account // newest last
}

func newAccountStore() accountStore {
	return accountStore{byToken: make(map[string]*account), byCustomer: make(map[string][]*account)}
}

// registerAccount keeps an account for a customer. The first one is the default,
// and a new default takes the place of the old. The caller holds mu.
func (b *Sandbox) registerAccount(cust *customer, source instrument, asDefault bool) *account {
	own := b.accounts.byCustomer[cust.ID]
	a := &account{token: b.newHandle(), customer: cust, source: source, enabled: true}
	a.isDefault = asDefault || b.accounts.defaultOf(cust.ID) == nil
	if a.isDefault {
		for _, other := range own {
			other.isDefault = false
		}
	}
	b.accounts.byToken[a.token] = a
	b.accounts.byCustomer[cust.ID] = append(own, a)
	return a
}

// defaultOf returns the enabled default account of a customer, or nil.
func (s *accountStore) defaultOf(customerID string) *account {
	for _, a := range s.byCustomer[customerID] {
		if a.isDefault && a.enabled {
			return a
		}
	}
	return nil
}
