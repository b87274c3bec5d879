package conformance

import (
	"strings"

	"github.com/quickstream-go/quickstream"
)

func cardSources() []choice[quickstream.CardSource] {
	return []choice[quickstream.CardSource]{
		{"FromCard", func(r *run) quickstream.CardSource { return quickstream.FromCard(fill(r.values, withoutWallet)) }},
		{"FromCard", func(r *run) quickstream.CardSource { // of a wallet
			return quickstream.FromCard(fill[quickstream.CardDetails](r.values))
		}},
		{"FromSingleUseToken", func(*run) quickstream.CardSource { return quickstream.FromSingleUseToken("token-1") }},
		{"FromCustomer", func(*run) quickstream.CardSource { return quickstream.FromCustomer("customer-1") }},
		{"FromAccount", func(*run) quickstream.CardSource { return quickstream.FromAccount("account-1") }},
	}
}

func otherSources() []choice[quickstream.AccountSource] {
	return []choice[quickstream.AccountSource]{
		{"FromBankAccount", func(r *run) quickstream.AccountSource {
			return quickstream.FromBankAccount(fill[quickstream.BankAccountDetails](r.values))
		}},
		{"FromNZBankAccount", func(r *run) quickstream.AccountSource {
			return quickstream.FromNZBankAccount(fill[quickstream.NZBankAccountDetails](r.values))
		}},
	}
}

// authenticated is the flag that goes with single-use tokens; others send false.
func authenticated(maker string) *bool { return new(strings.HasSuffix(maker, "FromSingleUseToken")) }

func paymentCalls() []clientCall {
	sources := otherSources()
	for _, card := range cardSources() {
		sources = append(sources, choice[quickstream.AccountSource]{card.maker, func(r *run) quickstream.AccountSource { return card.value(r) }})
	}
	var calls []clientCall
	for _, source := range sources {
		calls = append(calls, clientCall{"Transactions.Pay", "POST /transactions", source.maker, func(r *run) (any, error) {
			return r.client.Transactions.Pay(r.ctx, fill(r.values, func(p *quickstream.PayParams) {
				p.Source, p.ThreeDS2 = source.value(r), authenticated(source.maker)
			}))
		}})
	}
	for name, without := range map[string]func(*quickstream.CollectParams){
		"an agreement":    func(p *quickstream.CollectParams) { p.NewAgreement = nil },
		"a new agreement": func(p *quickstream.CollectParams) { p.AgreementToken = "" },
	} {
		calls = append(calls, clientCall{"PayTo.Collect", "POST /transactions", name, func(r *run) (any, error) {
			return r.client.PayTo.Collect(r.ctx, fill(r.values, without))
		}})
	}
	return calls
}

func cardOnlyCalls() []clientCall {
	var calls []clientCall
	for _, source := range cardSources() {
		calls = append(calls,
			clientCall{"Transactions.Preauthorise", "POST /transactions", source.maker, func(r *run) (any, error) {
				return r.client.Transactions.Preauthorise(r.ctx, fill(r.values, func(p *quickstream.PreauthoriseParams) {
					p.Source, p.ThreeDS2 = source.value(r), authenticated(source.maker)
				}))
			}},
			clientCall{"Transactions.VerifyAccount", "POST /transactions", source.maker, func(r *run) (any, error) {
				return r.client.Transactions.VerifyAccount(r.ctx, fill(r.values, func(p *quickstream.VerifyAccountParams) {
					p.Source, p.ThreeDS2 = source.value(r), authenticated(source.maker)
				}))
			}})
	}
	return calls
}
