package main

import (
	"maps"

	"github.com/quickstream-go/quickstream"
)

// Mandates returns all agreements by their payee references.
func (s *Store) Mandates() map[string]Mandate {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.mandates)
}

// AddMandate stores the intent of an agreement, once.
func (s *Store) AddMandate(intent quickstream.Intent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.mandates[intent.Reference]; there {
		return ErrBusy
	}
	s.mandates[intent.Reference] = Mandate{Intent: intent}
	return nil
}

// DropMandate forgets an agreement that was refused.
func (s *Store) DropMandate(payeeReference string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mandates, payeeReference)
}

// SetMandate stores what an agreement has become. An answer that says pending may
// come after the event that says more.
func (s *Store) SetMandate(a *quickstream.Agreement) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, there := s.mandates[a.PayeeReference]
	if !there {
		return ErrNoRow
	}
	if m.Token == "" || a.Status != quickstream.AgreementStatusPending {
		m.Token, m.Status = a.AgreementToken, a.Status
		s.mandates[a.PayeeReference] = m
	}
	return nil
}
