package quickstream

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// IntentVersion is the version of intents. Intents of other versions are refused.
const IntentVersion = 1

// Intent describes a write so that you can look it up after a lost answer or a crash. Store it as
// JSON before sending, in [WithBeforeSend]; an [UnknownOutcomeError] has it too.
//
// Transactions, voids, agreements and their amendments, and uploads have an intent. Tokens, 3D
// Secure, customers and registrations have none: they can be repeated without harm, or found in a
// list. An intent contains handles such as tokens and receipts, but no API keys, card numbers,
// account numbers or PayIDs, nor hashes of them.
type Intent struct {
	Version int `json:"version"`
	// Operation is the method that made it.
	Operation Operation `json:"operation"`
	// Environment is the host that it is sent to. Clients of other environments refuse it.
	Environment string `json:"environment,omitempty"`
	// Target is the receipt number for a void, the agreement token for an amendment, the customer
	// ID for an agreement; "" otherwise.
	Target string `json:"target,omitempty"`
	// Reference is the payment reference of a transaction, the payee reference of an agreement, the
	// name of a payment file.
	Reference string `json:"reference,omitempty"`
	// OwnReference means that the merchant chose the reference: another transaction may have it too.
	OwnReference bool `json:"ownReference,omitempty"`
	// IdempotencyKey is the key of every attempt; "" for amendments.
	IdempotencyKey string `json:"idempotencyKey,omitempty"`
	// OwnKey means that the caller chose the key ([WithIdempotencyKey]), and that no claim proves
	// that only one process sends it: another may have sent the same request before MadeAt.
	OwnKey bool `json:"ownKey,omitempty"`
	// ID identifies a transaction. It is sent as the metadata member MetadataName, which the
	// service echoes. Both are "" for other writes, and if [WithIntentMetadata] switches them off.
	ID           string `json:"id,omitempty"`
	MetadataName string `json:"metadataName,omitempty"`
	// MadeAt is when the first attempt began, by this machine's clock; zero in a planned intent. It is notBefore in JSON.
	MadeAt time.Time `json:"notBefore"`
	// Attempts counts the requests; 0 if unknown, as after a crash.
	Attempts int `json:"attempts,omitempty"`
	// Resent means that an attempt may have arrived without an answer. If the request was sent
	// again and the service ignored the idempotency key, there are two transactions.
	Resent bool `json:"resent,omitempty"`
	// ReceiptNumber is set once it is known. Look it up first.
	ReceiptNumber string `json:"receiptNumber,omitempty"`
	// Answered means that ReceiptNumber is from the answer to this request. A look-up then takes
	// the transaction with that number if its facts agree, such as type and amount.
	Answered bool `json:"answered,omitempty"`
	// Request is the body that is sent, without secrets.
	Request json.RawMessage `json:"request,omitempty"`
	// Complete means that Request has every member, so that Submit can send it.
	Complete bool `json:"complete,omitempty"`
	// ExtraFields names the members of [WithExtraField] that Submit needs again.
	ExtraFields []string `json:"extraFields,omitempty"`
	// Carrier is the text of [Observer].Carrier, to continue the trace.
	Carrier string `json:"carrier,omitempty"`
}

func requestOf(body any) json.RawMessage {
	request, err := wire.Marshal(body)
	if err != nil {
		return nil
	}
	return request
}

func (i Intent) checkVersion() error {
	if i.Version != IntentVersion {
		return fmt.Errorf("the intent has version %d, and this package knows version %d", i.Version, IntentVersion)
	}
	return nil
}

// checkFor refuses an intent of an unknown version or of another environment.
func (i Intent) checkFor(c *Client) error {
	if i.Environment != "" && i.Environment != c.base.Host {
		return cmp.Or(i.checkVersion(), errIntentElsewhere)
	}
	return i.checkVersion()
}

var (
	errIntentElsewhere  = errors.New("the intent is that of another environment")
	errIntentForeign    = errors.New("the intent is that of another method")
	errIntentIncomplete = errors.New("the intent does not hold the whole request, which has secrets")
	errIntentExtra      = errors.New("the intent was planned with other members of WithExtraField")
	errIntentClaimed    = errors.New("the intent was sent before")
	errClaimRequired    = errors.New("a claim is required, so that only one process sends the intent")
)

// checkUnsent refuses an intent that cannot be sent or may have been sent.
func (i Intent) checkUnsent() error {
	switch {
	case i.Attempts > 0 || i.ReceiptNumber != "":
		return errIntentClaimed
	case !i.Complete:
		return errIntentIncomplete
	}
	return nil
}

// Claim claims an intent for this process. Submit calls it right before the first byte. Move the
// intent from "planned" to "sending" in one database transaction and commit it. Fail if another
// process did so: Submit then sends nothing, and the outcome is unknown. A Claim that always
// returns nil lets every run pay. It expires after [ClaimLifetime].
type Claim func(ctx context.Context) error

// ClaimLifetime is how long a [Claim] and a hook of [WithBeforeSend] hold. If the first byte of the
// request does not go out within this time of their call, it is never sent, even if the process or
// the machine was suspended meanwhile, and the call ends with [ErrNotSent]. With a transport of the
// caller's, the first read of the body counts, and for a void, which has none, the call of the transport.
const ClaimLifetime = 30 * time.Second

// callHooks completes the intent right before the first byte and calls the hooks: the client's,
// then the call's.
func (c *call) callHooks(ctx context.Context, key string) (err error) {
	if c.planned != nil {
		c.intent.Carrier = c.planned.Carrier
	}
	if c.intent.Carrier, err = c.client.observer.carry(ctx, c.intent.Carrier); err != nil {
		return err
	}
	c.intent.IdempotencyKey, c.intent.MadeAt = key, c.config.now()
	for _, hook := range c.config.beforeSend {
		copied := *c.intent
		copied.Request = bytes.Clone(c.intent.Request)
		if err := hook(ctx, copied); err != nil {
			return err
		}
	}
	if c.claim == nil {
		return nil
	}
	err = c.claim(ctx)
	c.claimed = err == nil
	return err
}

// These errors show nothing of the stored intent; those of encoding/json may.
var (
	errIntentStored     = errors.New("quickstream: the stored intent is not one that this package writes")
	errIntentUnreadable = errors.New("the intent's request is not one that this package writes")
	errIntentKey        = errors.New("the intent's idempotency key is not one that this package writes")
)

// UnmarshalJSON reads a stored intent strictly: the names of members are exact, and a duplicate or
// unknown member is an error. It reads an intent of another version as far as it can, and every use
// of that intent is refused. Request is checked when the intent is used.
func (i *Intent) UnmarshalJSON(data []byte) error {
	type plain Intent
	var read plain
	if wire.Unambiguous(data) != nil || json.Unmarshal(data, &read) != nil {
		return errIntentStored
	}
	if read.Version == IntentVersion && len(wire.Unknown(data, reflect.TypeFor[plain]())) > 0 {
		return errIntentStored
	}
	*i = Intent(read)
	return nil
}

// storable is a request that intents keep.
type storable[T any] interface {
	// withoutSecrets returns the request without members that may hold secrets, and whether it is complete.
	withoutSecrets() (stored T, complete bool)
}

// requested reads the stored request. Encoded again, it has to be the same JSON, in any order and
// spacing: otherwise Submit would send members that no rule has checked.
func requested[T storable[T]](i Intent) (T, error) {
	var body T
	if wire.Unambiguous(i.Request) != nil || json.Unmarshal(i.Request, &body) != nil {
		return *new(T), errIntentUnreadable
	}
	stored, _ := body.withoutSecrets()
	if again, err := wire.Encode(stored); err != nil || !wire.Same(again, i.Request) {
		return *new(T), errIntentUnreadable
	}
	return body, nil
}

// Plan checks a transaction, chooses its references and its key, and sends nothing. Use it for
// queues, whose workers call Submit, and if the process may crash between storing and sending. Only
// Submit sends this intent. Store it under its IdempotencyKey. A source with secrets, such as card
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
	c.intent.OwnKey = false // the claim lets only one process send it
	c.intent.Carrier, c.intent.IdempotencyKey = carrier, c.config.key
	if c.config.key == "" {
		c.intent.IdempotencyKey = transport.NewKey()
	}
	return *c.intent, nil
}

// Submit sends a planned transaction or void once, in this process or another. It calls claim right
// before the first byte; claim must fail if the intent was sent before. After a crash give the
// intent to Resume.
//
// POST /transactions, or the request of Void. Errors as for the intent's method, and a pending
// PayTo payment is a [PendingError]. Until the claim succeeds, an earlier call may have sent the
// intent. So every error is an [UnknownOutcomeError] whose Cause says why this call sent nothing,
// even if the intent is incomplete, of another version, already sent or breaks a rule
// ([WithoutRule] applies). Look it up with Resume; do not plan it again. After the claim, an error
// that matches [ErrNotSent] proves that nothing was sent.
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
	c.refuse(cmp.Or(intent.checkFor(c.client), intent.checkUnsent()))
	switch {
	case err != nil:
	case intent.Operation != operation:
		err = errIntentForeign
	case !isKey(intent.IdempotencyKey):
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

// derivation returns a function that makes the references and the id of a transaction. They are
// random, or with the caller's key follow from key, operation, environment and request: the same
// call has the same bytes, and another request under the key is never taken for this one. With
// WithUniqueReference the id follows from the reference and the request, without single-use token
// and IP address, which may change from try to try.
func (c *call) derivation(b transactionBody) func(what string) string {
	key, reference, environment := c.config.key, c.config.reference, c.client.base.String()
	if key == "" && reference == "" {
		return func(string) string { return rand.Text() }
	}
	stored, _ := b.withoutSecrets()
	if reference != "" {
		key, environment, stored.SingleUseTokenID, stored.IPAddress = "reference "+reference, "", "", ""
	}
	hashed := fmt.Appendf(nil, "%s\n%s\n%s\n%s\n%s", key, c.op.name, environment, b.maskedAccount(), requestOf(stored))
	return func(what string) string {
		sum := sha256.Sum256(append([]byte(what+"\n"), hashed...))
		return base32.StdEncoding.EncodeToString(sum[:])[:26]
	}
}

// maskedAccount is the part of the account's details that a receipt shows.
func (b transactionBody) maskedAccount() string {
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
