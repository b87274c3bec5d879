package quickstream

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// IntentVersion is the version of the intents that this package makes. It refuses
// those of any other.
const IntentVersion = 1

// Intent is what a merchant stores before a write is sent, so that it can be found
// again after a lost answer or a crash. The client hands it out through
// [WithBeforeSend], right before the first byte, and with an [UnknownOutcomeError]. It
// is stored as JSON as it is.
//
// Writes that can be looked up have one: all transactions, voids, the creation of
// agreements and their amendments, the registration of accounts, and uploads. Those
// that are made again without harm or are found by a number of the merchant's have
// none: tokens, 3D Secure, and customers.
//
// It holds handles, such as tokens and receipts, and no secrets: no keys, card
// numbers, account numbers or PayIDs, and no hash of them.
type Intent struct {
	Version int `json:"version"`
	// Operation is the method that made it.
	Operation Operation `json:"operation"`
	// Target is what a write is made to: the receipt of a void, the agreement of an
	// amendment, the customer of a registration. "" for transactions and uploads.
	Target string `json:"target,omitempty"`
	// Reference is what the write is looked up by: the payment reference of a
	// transaction, the payee reference of an agreement, the name of a payment file.
	Reference string `json:"reference,omitempty"`
	// OwnReference tells that the merchant chose the reference, or that the intent was
	// Renewed: another transaction may carry it. One that this package makes was never
	// used before.
	OwnReference bool `json:"ownReference,omitempty"`
	// IdempotencyKey is the key that every attempt carries; "" for amendments.
	IdempotencyKey string `json:"idempotencyKey,omitempty"`
	// ID tells a transaction from all others: it is sent in its metadata, under
	// MetadataName, which the service echoes. Both are "" for other writes, and where
	// [WithIntentMetadata] switched it off.
	ID           string `json:"id,omitempty"`
	MetadataName string `json:"metadataName,omitempty"`
	// NotBefore is when the intent was given to the hooks or planned, by this machine's
	// clock: nothing was sent before.
	NotBefore time.Time `json:"notBefore"`
	// Attempts is how many requests were sent before the outcome became unknown; 0
	// when that is not known, as after a crash.
	Attempts int `json:"attempts,omitempty"`
	// ReceiptNumber is set once it is known. It is the best thing to look up.
	ReceiptNumber string `json:"receiptNumber,omitempty"`
	// Request is what is sent, without its secrets.
	Request json.RawMessage `json:"request,omitempty"`
	// Complete tells that nothing was left out of Request, so that Submit can send it.
	Complete bool `json:"complete,omitempty"`
	// Carrier is what the observer's Carrier returned when the intent was given to the hooks
	// or planned, so that later work on it continues the same trace: Submit, Resume
	// and ResumeChange give it to the observer's Continue. It is the merchant's own
	// text, which this package does not read.
	Carrier string `json:"carrier,omitempty"`
}

// Renewed returns the same request as a new intent, with an idempotency key and an
// id of its own. It is a second payment, unless the first is proven never to have been
// sent: by an error of the one call that sent the intent, which matches [ErrNotSent]. A
// 401, a 429 or a 503 is no such proof: it may answer a second request, which something
// in front of the service has made of the first. Look the intent up before renewing it.
func (i Intent) Renewed() Intent {
	i.NotBefore, i.Attempts, i.ReceiptNumber, i.OwnReference = time.Now(), 0, "", i.Reference != ""
	if i.IdempotencyKey != "" {
		i.IdempotencyKey = rand.Text()
	}
	if i.ID == "" {
		return i
	}
	var body transactionJSON
	if wire.CheckText(i.Request) != nil || json.Unmarshal(i.Request, &body) != nil || body.Metadata == nil {
		i.Complete = false
		return i
	}
	i.ID = rand.Text()
	body.Metadata[i.MetadataName] = i.ID
	i.Request = requestOf(body)
	return i
}

// requestOf encodes a wire struct without secrets. What was checked can be encoded.
func requestOf(body any) json.RawMessage {
	request, err := wire.Marshal(body)
	if err != nil {
		return nil
	}
	return request
}

// known refuses an intent that this version of the package cannot know enough of.
func (i Intent) known() error {
	if i.Version != IntentVersion {
		return fmt.Errorf("the intent has version %d, and this package knows version %d", i.Version, IntentVersion)
	}
	return nil
}

// of refuses an intent that is not known, or another method's.
func (i Intent) of(operations ...Operation) error {
	if err := i.known(); err != nil || slices.Contains(operations, i.Operation) {
		return err
	}
	return errIntentForeign
}

var (
	errIntentForeign    = errors.New("the intent is that of another method")
	errIntentIncomplete = errors.New("the intent does not hold the whole request, which has secrets or members of WithExtraField")
	errIntentClaimed    = errors.New("the intent was sent before")
	errClaimRequired    = errors.New("a claim is required, so that only one process sends the intent")
)

// unsent refuses an intent that cannot be sent, or may have been.
func (i Intent) unsent() error {
	switch {
	case i.known() != nil:
		return i.known()
	case i.Attempts > 0 || i.ReceiptNumber != "":
		return errIntentClaimed
	case !i.Complete:
		return errIntentIncomplete
	}
	return nil
}

// Claim says that this process, and no other, sends an intent. Submit calls it last
// before the first byte; after its error this call sends nothing, and the outcome is
// unknown: somebody else may have sent the intent. It is where the merchant moves the
// intent from "planned" to "sending" in one committed transaction, and fails when
// somebody has done so before. One that always returns nil lets every run pay.
type Claim func(ctx context.Context) error

// callHooks completes the intent with what is known right before the first byte, and
// gives it to the hooks: the client's, then the call's.
func (c *call) callHooks(ctx context.Context, key string) (err error) {
	if c.planned != nil {
		c.intent.Carrier = c.planned.Carrier
	}
	if c.intent.Carrier, err = c.client.observer.carry(ctx, c.intent.Carrier); err != nil {
		return err
	}
	c.intent.IdempotencyKey, c.intent.NotBefore = key, time.Now()
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
