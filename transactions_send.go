package quickstream

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// TransactionParams is one of [PayParams], [CollectParams], [RefundParams], [PreauthoriseParams], [TopUpParams],
// [ReauthoriseParams], [ExtendParams], [CaptureParams], [CancelPreauthorisationParams] or
// [VerifyAccountParams].
type TransactionParams interface{ body() transactionBody }

func (s *TransactionsService) send(ctx context.Context, params TransactionParams, opts []CallOption) (*Transaction, error) {
	call, body := s.begin(params, opts)
	return s.post(ctx, call, body)
}

func (s *TransactionsService) begin(params TransactionParams, opts []CallOption) (*call, transactionBody) {
	if params == nil { // an error and no panic, and no request that could be sent
		call := s.client.begin("Transactions.Submit", named("Transactions.Plan").with(opts))
		call.refuse(errors.New("the parameters are nil"))
		return call, transactionBody{}
	}
	body := params.body()
	call := s.client.begin(operationOf(body.transactionJSON), opts)
	name := call.config.intentName
	body.setDefaults(&call.config)
	body.Metadata = call.config.withMetadata(body.Metadata)
	call.check(func(f *findings) {
		body.check(f)
		_, taken := body.Metadata[name]
		f.require(name == "" || !taken, "transaction.metadata.intent", "metadata", "must not hold the member that the intent's id is sent in")
	})
	made := call.names(body)
	body.ownReference, body.ownKey = body.PaymentReferenceNumber != "", call.config.key != ""
	body.PaymentReferenceNumber = cmp.Or(body.PaymentReferenceNumber, call.config.reference, made("reference"))
	if body.PayToData != nil {
		body.PayToData.EndToEndID = cmp.Or(body.PayToData.EndToEndID, call.config.reference, made("endToEndId"))
	}
	id := made("id")
	if name != "" {
		body.intentName, body.Metadata[name] = name, id
	}
	return call, body
}

// withMetadata returns a copy of metadata with the members of [WithMetadata], unless the intent's id
// is switched off.
func (c *callConfig) withMetadata(own map[string]string) map[string]string {
	if c.intentName == "" {
		return own
	}
	all := map[string]string{}
	maps.Copy(all, own)
	maps.Copy(all, c.metadata)
	return all
}

// names returns what makes the references and the id of a transaction: new ones, or under a key of the
// caller's those that follow from key, operation, environment and request. So the same call has the
// same bytes, and another request under the key is never taken for this one. Under a reference of
// WithReference the id follows from that, and a token and an IP address may differ from one try to the
// next.
func (c *call) names(b transactionBody) func(what string) string {
	key, reference, environment := c.config.key, c.config.reference, c.client.base.String()
	if key == "" && reference == "" {
		return func(string) string { return rand.Text() }
	}
	kept, _ := b.kept()
	if reference != "" {
		key, environment, kept.SingleUseTokenID, kept.IPAddress = "reference "+reference, "", "", ""
	}
	hashed := fmt.Appendf(nil, "%s\n%s\n%s\n%s\n%s", key, c.op.name, environment, b.shown(), requestOf(kept))
	return func(what string) string {
		sum := sha256.Sum256(append([]byte(what+"\n"), hashed...))
		return base32.StdEncoding.EncodeToString(sum[:])[:26]
	}
}

// shown is what a receipt shows of the account's details.
func (b transactionBody) shown() string {
	ends := func(text string, first, last int) string {
		if len(text) < first+last {
			return ""
		}
		return text[:first] + text[len(text)-last:]
	}
	var text string
	if a := b.CreditCard; a != nil {
		text = ends(a.CardNumber, 6, 3) + a.ExpiryDateMonth + a.ExpiryDateYear
	}
	if a := b.BankAccount; a != nil {
		text = a.BSB + ends(a.AccountNumber, 0, 3)
	}
	if a := b.NZBankAccount; a != nil {
		text = a.BankCode + a.BranchCode + ends(a.AccountNumber, 0, 3)
	}
	return text
}

// transactionBody is a transaction that is about to be sent.
type transactionBody struct {
	transactionJSON
	// kind and original come from the caller and are not sent: the kind of account behind
	// a handle, and the transaction that is captured or refunded.
	kind         AccountType
	original     *Transaction
	ownReference bool
	ownKey       bool
	intentName   string
}

// kept returns the transaction without its secrets and without members that may hold some,
// and whether it is complete.
func (b transactionJSON) kept() (kept transactionJSON, complete bool) {
	kept = b
	kept.CreditCard, kept.BankAccount, kept.NZBankAccount, kept.Cryptogram, kept.MPGSData = nil, nil, nil, "", nil
	if b.CreditCard.isExpiry() { // of a refund
		kept.CreditCard = b.CreditCard
	}
	complete = kept.CreditCard == b.CreditCard && b.BankAccount == nil && b.NZBankAccount == nil && b.Cryptogram == "" && b.MPGSData == nil
	if b.PayToData != nil && b.PayToData.PayToAgreement != nil {
		data := *b.PayToData
		data.PayToAgreement = nil
		kept.PayToData, complete = &data, false
	}
	return kept, complete
}

// transaction gives a call its body, and its intent.
func (c *call) transaction(body transactionBody) {
	kept, complete := body.kept()
	c.reference, c.body, c.kept = body.PaymentReferenceNumber, body.transactionJSON, kept
	c.intent = &Intent{
		Reference: body.PaymentReferenceNumber, OwnReference: body.ownReference, OwnKey: body.ownKey,
		ID: body.Metadata[body.intentName], MetadataName: body.intentName,
		Complete: complete,
	}
}

// post sends a transaction that was checked.
func (s *TransactionsService) post(ctx context.Context, call *call, body transactionBody) (*Transaction, error) {
	call.transaction(body)
	call.answer = new(Transaction)
	read := about(call, call.answer, body.fits)
	err := call.do(ctx, func(status int, answer []byte) error {
		if err := read(status, answer); err != nil {
			return err
		}
		_, call.answer.differences = body.compare(call.answer)
		return unsettledBy(call.answer)
	})
	if err != nil {
		return nil, err
	}
	return call.answer, nil
}

// unsettledBy says why the answer to a later attempt does not settle an earlier attempt
// that got none. If the service executed both, the earlier payment may be approved although
// the later one is declined. Only the look-up by reference shows both.
func unsettledBy(t *Transaction) error {
	if outcome := t.Outcome(); outcome != OutcomeApproved {
		return transport.Unsettled{Why: fmt.Errorf("quickstream: an attempt was not answered, and a later one is %s (response code %s)",
			outcome, safeName(t.ResponseCode, 4))}
	}
	return nil
}

// Plan checks a transaction, chooses its references and its key, and sends nothing. Use it in
// queues, whose workers call Submit, and if the process may crash between storing and sending. Only
// Submit sends this intent. Store it under its IdempotencyKey. A secret source, such as card
// details, cannot be planned: create a single-use token first.
func (s *TransactionsService) Plan(ctx context.Context, params TransactionParams, opts ...CallOption) (Intent, error) {
	call, body := s.begin(params, opts)
	call.transaction(body)
	return call.plan(ctx)
}

// PlanVoid plans a Void, for Submit.
func (s *TransactionsService) PlanVoid(ctx context.Context, receiptNumber string, opts ...CallOption) (Intent, error) {
	return s.void(receiptNumber, opts).plan(ctx)
}

// plan returns the intent of a call that is sent later.
func (c *call) plan(ctx context.Context) (Intent, error) {
	carrier, err := c.client.observer.carry(ctx, "")
	c.refuse(err)
	if c.prepare(); c.ended != nil {
		return Intent{}, c.ended
	}
	if !c.intent.Complete {
		return Intent{}, c.notSent(errIntentIncomplete)
	}
	c.intent.OwnKey = false // a claim lets one process send it
	c.intent.Carrier, c.intent.IdempotencyKey, c.intent.NotBefore = carrier, c.config.key, c.config.now()
	if c.config.key == "" && c.op.method == http.MethodPost {
		c.intent.IdempotencyKey = transport.NewKey()
	}
	return *c.intent, nil
}

// Submit sends a planned transaction or void once, in this process or another. It calls claim right
// before the first byte; claim must fail if the intent was sent before. After a crash give the
// intent to Resume.
//
// POST /transactions, or the request of Void. Errors as for the intent's method; a PayTo payment that
// is pending is a [PendingError] too. Until the claim
// has succeeded, an earlier call may have sent the intent: every error is an [UnknownOutcomeError]
// whose Cause says why this call sent nothing, also for an intent that is incomplete, of another
// version, already sent or breaks a rule ([WithoutRule] applies). Look it up with Resume; do not
// plan it again. After the claim, an error that matches [ErrNotSent] proves that nothing was sent.
func (s *TransactionsService) Submit(ctx context.Context, intent Intent, claim Claim, opts ...CallOption) (*Transaction, error) {
	if intent.Operation == OperationVoid {
		call := s.void(intent.Target, opts)
		return s.sendVoid(call.submits(ctx, intent, claim, OperationVoid), call, intent.Target)
	}
	body, err := intent.transaction()
	method := operationOf(body.transactionJSON)
	if err != nil {
		method = "Transactions.Submit"
	}
	call := s.client.begin(method, opts)
	call.refuse(err)
	ctx = call.submits(ctx, intent, claim, method)
	call.check(body.check)
	return s.post(ctx, call, body)
}

func (i Intent) transaction() (transactionBody, error) {
	body := transactionBody{ownReference: i.OwnReference, intentName: i.MetadataName}
	if !i.Operation.IsTransaction() {
		return body, errIntentForeign
	}
	request, err := requested[transactionJSON](i)
	if err != nil {
		return body, err
	}
	body.transactionJSON = request
	if body.PaymentReferenceNumber != i.Reference || body.Metadata[i.MetadataName] != i.ID {
		return body, errIntentForeign
	}
	return body, nil
}

// submits makes a call send an intent, under the intent's key and after the claim. It
// returns the context that continues the intent's trace.
func (c *call) submits(ctx context.Context, intent Intent, claim Claim, operation Operation) context.Context {
	ctx, err := c.client.observer.resume(ctx, intent.Carrier)
	c.planned, c.claim = &intent, claim
	if c.ended != nil {
		c.ended = c.unclaimed(c.ended)
	}
	c.refuse(cmp.Or(intent.unsent(), intent.from(c.client)))
	switch {
	case err != nil:
	case intent.Operation != operation:
		err = errIntentForeign
	case c.op.method == http.MethodPost && !isKey(intent.IdempotencyKey), c.op.method != http.MethodPost && intent.IdempotencyKey != "":
		err = errIntentKey
	case claim == nil:
		err = errClaimRequired
	case c.config.key != "":
		err = errors.New("option WithIdempotencyKey: the intent has its own key")
	case !slices.Equal(intent.ExtraFields, c.config.extraNames()):
		err = errIntentExtra
	}
	c.refuse(err)
	c.config.key = intent.IdempotencyKey
	return ctx
}
