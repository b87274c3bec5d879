package durable

import (
	"context"
	"errors"
	"slices"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// sending sends an intent under a claim, by the service that its operation names.
func (e *Engine[TTx]) sending(ctx context.Context, i quickstream.Intent, claim quickstream.Claim) observed {
	answer, heard := e.hear()
	defer heard()
	var t *quickstream.Transaction
	var err error
	token := i.Target
	switch {
	case i.Operation.IsAgreementChange():
		err = e.client.PayTo.Submit(ctx, i, claim, answer)
	case i.Operation == quickstream.OperationRegisterAccount:
		var account *quickstream.Account
		if account, err = e.client.Accounts.Submit(ctx, i, claim, answer); err == nil {
			token = account.AccountToken
		}
	default:
		t, err = e.client.Transactions.Submit(ctx, i, claim, answer)
	}
	e.heed(ctx, err)
	if err == nil && t == nil {
		return observed{Kind: sawDone, At: e.opts.Clock(), Receipt: token}
	}
	return ofAnswer(t, err, "", e.opts.Clock())
}

// look finds out what became of a payment that may have been sent.
func (e *Engine[TTx]) look(ctx context.Context, r *row) error {
	at := e.opts.Clock()
	if !r.intent.Operation.IsTransaction() && r.intent.Operation != giveBack {
		return e.lookOther(ctx, r)
	}
	looking := r.looking
	if looking.Version == 0 {
		looking.Intent = r.intent
	}
	looking.Intent.NotBefore = r.intent.NotBefore // by the machine's clock, as the client measures
	seen := e.policy.LookUp(ctx, lookService[TTx]{e, r.ID}, looking)
	problem := ""
	if r.suspect && r.State == StatePrepared {
		problem = "the database was restored from a backup: it is looked up and not sent"
	}
	if ctx.Err() != nil && seen.Result == resolve.LookupFailed {
		return ctx.Err() // it comes again; the look was cut short here
	}
	return e.observe(ctx, r.ID, observed{
		Kind: sawTransaction, At: at, Of: r.intent.IdempotencyKey, Seen: seen, Receipt: seen.ReceiptNumber, SettlesOn: seen.SettlementDate, Problem: problem,
	})
}

// lookService looks with what the database knows: which receipts are another payment's.
type lookService[TTx any] struct {
	e  *Engine[TTx]
	id string
}

func (s lookService[TTx]) Resume(ctx context.Context, i quickstream.Intent, opts ...quickstream.CallOption) (*quickstream.Transaction, error) {
	if i.Operation != quickstream.OperationVoid {
		foreign := func(receipt string) bool { return s.e.anothers(ctx, s.id, receipt) }
		opts = append(opts, quickstream.WithForeignReceipts(foreign))
	}
	answer, heard := s.e.hear()
	defer heard()
	return s.e.client.Transactions.Resume(ctx, i, append(opts, answer)...)
}

func (s lookService[TTx]) Retries(receipt string, opts ...quickstream.CallOption) quickstream.List[quickstream.Transaction] {
	return s.e.client.Transactions.Retries(receipt, opts...)
}

// anothers reports whether a receipt is that of another payment.
func (e *Engine[TTx]) anothers(ctx context.Context, id, receipt string) bool {
	other, err := e.peek(ctx, "receipt <> '' AND receipt = $1 AND id <> $2 LIMIT 1", receipt, id)
	return err == nil && other != nil
}

// lookOther looks for an agreement, an account, an amendment or an upload. What is found
// as it was asked for is done. What may be it is for a person to tell: of accounts and
// uploads the service does not say which request made them.
func (e *Engine[TTx]) lookOther(ctx context.Context, r *row) error {
	token, err := e.found(ctx, r.intent)
	if err == nil {
		return e.observe(ctx, r.ID, observed{Kind: sawDone, At: e.opts.Clock(), Of: r.intent.IdempotencyKey, Receipt: token})
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	o := observed{Kind: sawNothing, At: e.opts.Clock(), Of: r.intent.IdempotencyKey, Problem: err.Error()}
	var lost *quickstream.UnknownOutcomeError
	var accounts accountsFound
	switch {
	case errors.Is(err, errNotYet):
	case errors.As(err, &lost) && lost.Cause == nil:
		o.Seen.Candidates = e.strangers(ctx, r.ID, tokensOf(lost.Candidates))
	case errors.As(err, &accounts):
		o.Seen.Candidates = e.strangers(ctx, r.ID, accounts)
	default: // it could not be looked for, which says nothing
		o.Seen.Result = resolve.LookupFailed
	}
	return e.observe(ctx, r.ID, o)
}

// tokensOf are what agreements and payment files are known by.
func tokensOf(candidates []quickstream.Candidate) []string {
	var tokens []string
	for _, c := range candidates {
		token := ""
		switch {
		case c.Agreement != nil:
			token = c.Agreement.AgreementToken
		case c.PaymentFile != nil:
			token = c.PaymentFile.PaymentFileID
		}
		tokens = append(tokens, token)
	}
	return tokens
}

// strangers are the tokens that are no other payment's.
func (e *Engine[TTx]) strangers(ctx context.Context, id string, tokens []string) []string {
	return slices.DeleteFunc(tokens, func(token string) bool { return e.anothers(ctx, id, token) })
}

// accountsFound are the tokens of a customer's accounts, one of which a registration may
// have made: the service does not say which.
type accountsFound []string

// Error returns what is not known of them.
func (accountsFound) Error() string {
	return "the service does not say which registration made an account"
}

// accountsOf reads the accounts of a customer. It never returns nil.
func (e *Engine[TTx]) accountsOf(ctx context.Context, customerID string) error {
	var tokens accountsFound
	for account, err := range e.client.Accounts.List(customerID).All(ctx) {
		if err != nil {
			return err
		}
		tokens = append(tokens, account.AccountToken)
	}
	return tokens
}

var errNotYet = errors.New("it is not as it was asked for, or not yet")

// found reads what became of another write than a transaction: its token.
func (e *Engine[TTx]) found(ctx context.Context, i quickstream.Intent) (string, error) {
	switch i.Operation {
	case quickstream.OperationCreateAgreement:
		agreement, err := e.client.PayTo.Resume(ctx, i)
		if err != nil {
			return "", err
		}
		return agreement.AgreementToken, nil
	case quickstream.OperationRegisterAccount:
		return "", e.accountsOf(ctx, i.Target)
	case quickstream.OperationUploadPaymentFile:
		file, err := e.client.PaymentFiles.Resume(ctx, i)
		if err != nil {
			return "", err
		}
		return file.PaymentFileID, nil
	default:
		state, err := e.client.PayTo.ResumeChange(ctx, i)
		if err != nil {
			return "", err
		}
		if !state.AsAsked {
			return "", errNotYet
		}
		return i.Target, nil
	}
}
