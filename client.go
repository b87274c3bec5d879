package quickstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// Client is a client of one environment. It is immutable and safe for concurrent use: make one and
// keep it. Its fields group the operations by resource.
type Client struct {
	Customers         *CustomersService
	Accounts          *AccountsService
	SingleUseTokens   *SingleUseTokensService
	Transactions      *TransactionsService
	PayTo             *PayToService
	PayIDs            *PayIDsService
	PaymentFiles      *PaymentFilesService
	RecurringPayments *RecurringPaymentsService
	Businesses        *BusinessesService
	APIKeys           *APIKeysService

	base      *url.URL
	observer  Observer // with the logger
	config    callConfig
	authorise [2]func(context.Context) (string, error) // by the kind of key
	// A function, because dumps in test output would follow a pointer into the buffers of open
	// connections.
	transport func() *transport.Transport
}

// NewClient returns a client and sends nothing: call [Client.Check] for that. It fails if the
// environment is not an absolute https URL (http for localhost) or holds credentials, if a key is
// malformed or none is given, or if options contradict each other.
func NewClient(env Environment, keys Keys, opts ...ClientOption) (*Client, error) {
	base, err := env.base()
	if err != nil {
		return nil, fmt.Errorf("quickstream: %w", err)
	}
	config := clientConfig{callConfig: callConfig{
		limits: defaultLimits(), intentName: "intentId", header: func() http.Header { return nil }, now: time.Now,
	}}
	for _, o := range opts {
		if o == nil {
			return nil, errors.New("quickstream: an option is nil")
		}
		if err := o.applyClient(&config); err != nil {
			return nil, fmt.Errorf("quickstream: option %w", err)
		}
	}
	if own := config.http.Client; own != nil && own.Transport != nil && (config.http.Proxy != nil || config.http.RootCAs != nil) {
		return nil, errors.New("quickstream: WithHTTPClient brings a Transport of its own, which WithProxy and WithRootCAs cannot change")
	}
	authorise, err := authorisers(keys, config.keys)
	if err != nil {
		return nil, err
	}
	config.http.Loopback = base.Scheme == "http" // plain http is for this machine only
	config.environment = base.Host
	observer := config.observer.logging(config.logger)
	sender := transport.New(config.http, observer.attempts())
	c := &Client{
		base: base, observer: observer, config: config.callConfig, authorise: authorise,
		transport: func() *transport.Transport { return sender },
	}
	c.Customers = &CustomersService{c}
	c.Accounts = &AccountsService{c}
	c.SingleUseTokens = &SingleUseTokensService{c}
	c.Transactions = &TransactionsService{c}
	c.PayTo = &PayToService{c}
	c.PayIDs = &PayIDsService{c}
	c.PaymentFiles = &PaymentFilesService{c}
	c.RecurringPayments = &RecurringPaymentsService{c}
	c.Businesses = &BusinessesService{c}
	c.APIKeys = &APIKeysService{c}
	return c, nil
}

// CloseIdleConnections closes connections that no call uses. A client needs no other closing.
func (c *Client) CloseIdleConnections() { c.transport().CloseIdleConnections() }

// Root is the service's description of itself and of the key. Its members are known from public
// client code; unconfirmed.
type Root struct {
	Links         []Link `json:"links,omitempty" wire:"decides"` // decides, because there is no identifier
	CommunityCode string `json:"communityCode,omitempty"`
	CommunityName string `json:"communityName,omitempty"`
	KeyName       string `json:"keyName,omitempty"`

	envelope
}

func (r *Root) identifier() string { return "/" }

// Root reads the service's description of itself and of the key. It does not test the secret key,
// because the service answers with either kind of key: use [Client.Check] for that.
//
// GET /. An expired key matches [ErrUnauthorized].
func (c *Client) Root(ctx context.Context, opts ...CallOption) (*Root, error) {
	return send[Root](ctx, c.begin("Root", opts))
}

// Check tests the address, the network and the secret key. It reads the latest transactions, which
// a key that may pay may also read.
//
// GET /transactions. A 404 means that there are no transactions if the root can be read; otherwise
// it is an error. A wrong or expired key is an [APIError] that matches [ErrUnauthorized], whatever
// the body of the answer. If the service sends a 401 without its error body (unconfirmed), a write
// ends as an unknown outcome, and only Check finds the wrong key. A failure of name resolution,
// certificate or proxy is a [NetworkError] with that Kind.
func (c *Client) Check(ctx context.Context, opts ...CallOption) error {
	call := c.begin("Check", opts)
	err := call.do(ctx, func(status int, body []byte) error {
		return new(Page[Transaction]).decode(call, status, body, func([]byte) (*Transaction, error) { return nil, nil }) // a list is enough
	})
	if isAbsent(err) { // no transactions, or a wrong path: the root tells which
		if _, wrong := c.Root(ctx, madeBy("Check").with(opts)...); wrong == nil {
			return nil
		}
	}
	return err
}
