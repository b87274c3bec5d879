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
	// A function, because dumps in test output would follow a pointer to the buffers of open
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
	config.http.Loopback = base.Scheme == "http" // which an address has on this machine only
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

// Root is what the service says about itself and the key. Its members are known from public client
// code; unconfirmed.
type Root struct {
	Links         []Link `json:"links,omitempty" wire:"decides"` // decides, because there is no identifier
	CommunityCode string `json:"communityCode,omitempty"`
	CommunityName string `json:"communityName,omitempty"`
	KeyName       string `json:"keyName,omitempty"`

	envelope
}

func (r *Root) identifier() string { return "/" }

// Root returns what the service says about itself. It does not test the secret key, because the
// service answers both kinds: [Client.Check] does.
//
// GET /. An expired key matches [ErrUnauthorized].
func (c *Client) Root(ctx context.Context, opts ...CallOption) (*Root, error) {
	return send[Root](ctx, c.begin("Root", opts))
}

// Check tests address, network and secret key: it reads the latest transactions, as whoever pays
// may do.
//
// GET /transactions. A 404 is an error unless the root can be read: there are no transactions. A
// wrong or expired key is an [APIError] that matches [ErrUnauthorized], whatever its body is. Should
// the service send a 401 without its error body (unconfirmed), writes take it for an unknown outcome,
// and only Check finds a wrong key. A failure of name resolution, certificate or proxy is a
// [NetworkError] with that Kind.
func (c *Client) Check(ctx context.Context, opts ...CallOption) error {
	call := c.begin("Check", opts)
	err := call.do(ctx, func(status int, body []byte) error {
		return new(Page[Transaction]).decode(call, status, body, func([]byte) (*Transaction, error) { return nil, nil }) // a list is enough
	})
	if isAbsent(err) { // the service may answer so if there are none, and answers so to a wrong path
		if _, wrong := c.Root(ctx, madeBy("Check").with(opts)...); wrong == nil {
			return nil
		}
	}
	return err
}
