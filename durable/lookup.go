package durable

import (
	"context"
	"errors"
	"slices"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// sending sends an intent under a claim, by the service that its operation names.
func (e *engine) sending(ctx context.Context, i quickstream.Intent, claim quickstream.Claim) (o observed, err error) {
	answer, keepTime := e.serviceTime()
	defer keepTime()
	var t *quickstream.Transaction
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
		t, err = e.client.Transactions.Submit(ctx, i, claim, append(resends(i.Operation), answer)...)
	}
	if err == nil && t == nil {
		return observed{Kind: sawDone, At: e.clock(), Receipt: token}, nil
	}
	return ofAnswer(t, err, "", e.clock()), err
}

// resends are the options by which a transaction is sent. Only a payment is sent again within its claim: a service that
// keeps the keys of payments alone would execute a refund twice, and the next one would go before that is seen.
func resends(o quickstream.Operation) []quickstream.CallOption {
	if !o.IsTransaction() || takesMoney(o) || o == quickstream.OperationVerifyAccount {
		return nil
	}
	return []quickstream.CallOption{quickstream.WithoutResend()}
}

// lookUp finds out what became of a write that may have been sent.
func (e *engine) lookUp(ctx context.Context, r *row) error {
	at := e.clock()
	if !r.intent.Operation.IsTransaction() && r.intent.Operation != OperationReverse {
		return e.lookUpOther(ctx, r)
	}
	looked := r.lookups
	if looked.Version == 0 {
		looked.Intent = r.sentIntent()
	}
	looked.Intent.NotBefore = r.sentIntent().NotBefore // by the machine's clock, as the client measures
	seen := e.policy.LookUp(ctx, lookupService{e, r.ID}, looked)
	if ctx.Err() != nil && seen.Result == resolve.LookupFailed {
		return ctx.Err() // it comes again; the look-up was cut short here
	}
	return e.observe(ctx, r.ID, observed{
		Kind: sawTransaction, At: at, Sends: r.Sends, Seen: seen, Receipt: seen.ReceiptNumber, SettlesOn: seen.SettlementDate,
	})
}

// lookupService looks up with what the database knows: which receipts are another write's.
type lookupService struct {
	e  *engine
	id string
}

func (s lookupService) Resume(ctx context.Context, i quickstream.Intent, opts ...quickstream.CallOption) (*quickstream.Transaction, error) {
	answer, keepTime := s.e.serviceTime()
	defer keepTime()
	t, err := s.e.client.Transactions.Resume(ctx, i, append(opts, answer)...)
	answered(ctx, err, false)
	return t, err
}

func (s lookupService) Retries(receipt string, opts ...quickstream.CallOption) quickstream.List[quickstream.Transaction] {
	return s.e.client.Transactions.Retries(receipt, opts...)
}

// isOther reports whether a receipt is that of another write, which may be one of another version of the program.
func (e *engine) isOther(ctx context.Context, id, receipt string) (other bool, err error) {
	err = within(ctx, e.db, func(tx tx) error {
		return query(ctx, tx, func(scan func(...any) error) error {
			other = true
			return scan(new(string))
		}, "SELECT id FROM quickstream.write WHERE receipt <> '' AND receipt = $1 AND id <> $2 LIMIT 1", receipt, id)
	})
	return other, err
}

// candidatesOf are the candidates of tokens.
func candidatesOf(tokens []string) (all []resolve.Candidate) {
	for _, token := range tokens {
		all = append(all, resolve.Candidate{ReceiptNumber: token})
	}
	return all
}

func tokensSeen(o resolve.Observation) (tokens []string) {
	for _, c := range o.Candidates {
		tokens = append(tokens, c.ReceiptNumber)
	}
	return tokens
}

// lookUpOther looks for an agreement, an account, an amendment or an upload. What is found
// as it was asked for is done. A person has to say what may be it: of accounts and
// uploads the service does not say which request made them.
func (e *engine) lookUpOther(ctx context.Context, r *row) error {
	token, err := e.found(ctx, r.intent)
	if err == nil {
		return e.observe(ctx, r.ID, observed{Kind: sawDone, At: e.clock(), Sends: r.Sends, Receipt: token})
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	o := observed{Kind: sawNothing, At: e.clock(), Sends: r.Sends, Problem: problemOf(err)}
	var lost *quickstream.UnknownOutcomeError
	var accounts accountsFound
	switch {
	case errors.Is(err, errNotYet):
	case errors.As(err, &lost) && lost.Cause == nil:
		o.Seen.Candidates = candidatesOf(e.unclaimed(ctx, r.ID, tokensOf(lost.Candidates)))
	case errors.As(err, &accounts):
		o.Seen.Candidates = candidatesOf(e.unclaimed(ctx, r.ID, accounts))
	default: // the look-up failed, which says nothing
		o.Seen.Result = resolve.LookupFailed
	}
	return e.observe(ctx, r.ID, o)
}

// lookBeforeOther is lookBefore for a write that is no transaction: one that was sent, or may have been
// in a lost history, and of which nothing is found, can be sent.
func (e *engine) lookBeforeOther(ctx context.Context, r *row, past bool) (settled bool, err error) {
	if r.Sends == 0 && !past {
		return false, nil
	}
	token, err := e.found(ctx, r.intent)
	if err == nil {
		return true, e.observe(ctx, r.ID, observed{Kind: sawDone, At: e.clock(), Receipt: token})
	}
	var lost *quickstream.UnknownOutcomeError
	var accounts accountsFound
	switch {
	case errors.Is(err, errNotYet), errors.As(err, &lost) && lost.Cause == nil && len(lost.Candidates) == 0:
		return false, nil
	case errors.As(err, &accounts) && len(e.unclaimed(ctx, r.ID, accounts)) == 0:
		return false, nil
	case errors.As(err, &accounts), errors.As(err, &lost) && lost.Cause == nil:
		return true, e.lookUpOther(ctx, r)
	default:
		return true, e.later(ctx, r.ID, "the look-up before sending failed")
	}
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

// unclaimed are the tokens that are no other write's.
func (e *engine) unclaimed(ctx context.Context, id string, tokens []string) []string {
	return slices.DeleteFunc(tokens, func(token string) bool {
		other, err := e.isOther(ctx, id, token)
		return other && err == nil
	})
}

// accountsFound are the tokens of a customer's accounts, one of which a registration may
// have made: the service does not say which.
type accountsFound []string

// Error returns what is not known of them.
func (accountsFound) Error() string {
	return "the service does not say which registration made an account"
}

// accountsOf reads the accounts of a customer. It never returns nil.
func (e *engine) accountsOf(ctx context.Context, customerID string) error {
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
func (e *engine) found(ctx context.Context, i quickstream.Intent) (token string, err error) {
	defer func() { answered(ctx, err, false) }()
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
