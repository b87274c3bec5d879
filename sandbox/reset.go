package sandbox

import (
	"fmt"
	"slices"
	"strconv"
)

// Reset makes the sandbox forget customers, accounts, tokens, transactions, agreements, files,
// schedules, reports, idempotency keys, requests and deliveries, and ends faults, scripted
// outcomes and held deliveries. API keys, the clock, the assumptions and the subscriptions stay.
// Calls that hang do so until their callers give up. No identifier is used again.
func (b *Sandbox) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for t := range b.timers {
		t.stop()
	}
	for _, d := range b.webhooks.deliveries {
		d.ended = true
	}
	b.webhooks.deliveries, b.webhooks.held, b.webhooks.faults = nil, nil, nil
	b.webhooks.holding = false
	b.empty()
}

// empty makes the stores new. The caller holds mu.
func (b *Sandbox) empty() {
	b.timers = make(map[*timer]struct{})
	b.customers, b.tokens, b.accounts = newCustomerStore(), newTokenStore(), newAccountStore()
	b.transactions, b.agreements = newTransactionStore(), newAgreementStore()
	b.files, b.schedules, b.reports = newFileStore(), newScheduleStore(), make(map[string]*report)
	b.script, b.orderScripts = nil, make(map[string][]Outcome)
	b.replays = newReplayStore()
	b.requests = recorder{count: b.requests.count}
	b.dialFaults, b.serverFaults = faultList{}, faultList{}
	b.listsRead, b.pagesAsked = 0, make(map[string]int)
}

// Subscriptions returns the subscriptions, oldest first.
func (b *Sandbox) Subscriptions() []Subscription {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]Subscription, 0, len(b.webhooks.subscriptions))
	for _, sub := range b.webhooks.subscriptions {
		s := sub.Subscription
		s.EventTypes = slices.Clone(s.EventTypes)
		list = append(list, s)
	}
	return list
}

// Unsubscribe deletes a subscription. Nothing more is posted to it. It is an error if there is
// none with the id.
func (b *Sandbox) Unsubscribe(id string) error {
	b.mu.Lock()
	at := slices.IndexFunc(b.webhooks.subscriptions, func(s *subscription) bool { return s.ID == id })
	if at < 0 {
		b.mu.Unlock()
		return fmt.Errorf("sandbox: no subscription %q", id)
	}
	sub := b.webhooks.subscriptions[at]
	b.webhooks.subscriptions = slices.Delete(b.webhooks.subscriptions, at, at+1)
	for _, d := range b.webhooks.deliveries {
		d.ended = d.ended || d.to == sub
	}
	b.mu.Unlock()
	if sub.server != nil {
		_ = sub.server.Close() // it returns only errors of listeners
	}
	return nil
}

// identify gives a subscription an id that no other has.
func (h *hooks) identify(sub *subscription) error {
	taken := func(id string) bool {
		return slices.ContainsFunc(h.subscriptions, func(s *subscription) bool { return s.ID == id })
	}
	if sub.ID != "" && taken(sub.ID) {
		return fmt.Errorf("sandbox: there is a subscription %q", sub.ID)
	}
	for sub.ID == "" || taken(sub.ID) {
		h.subscribed++
		sub.ID = strconv.Itoa(h.subscribed)
	}
	return nil
}
