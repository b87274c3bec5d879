package wiretest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// route is how a call gets to the server.
type route struct {
	name   string
	tls    bool
	http2  bool                              // the server offers it
	caller func(*tls.Config) *http.Transport // nil for the client's own transport
	resent bool                              // net/http sends requests without a body again, come what may
}

func routes() []route {
	return []route{
		{name: "own transport", caller: nil},
		{name: "own transport with TLS", tls: true},
		{name: "caller's HTTP/1.1", caller: func(*tls.Config) *http.Transport { return new(http.Transport) }},
		{name: "caller's HTTP/1.1 with TLS", tls: true, caller: func(c *tls.Config) *http.Transport { return &http.Transport{TLSClientConfig: c} }},
	}
}

func secureRoutes() []route {
	return []route{
		{name: "own transport, HTTP/2 offered", tls: true, http2: true},
		{name: "caller's HTTP/2", tls: true, http2: true, resent: true, caller: func(c *tls.Config) *http.Transport {
			return &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: true}
		}},
	}
}

// setting is what the client is told about repeating calls.
type setting struct {
	name    string
	resends bool
	opts    []quickstream.ClientOption
}

func settings() []setting {
	return []setting{
		{name: "one attempt without resend", opts: []quickstream.ClientOption{quickstream.WithoutResend(), quickstream.WithMaxAttempts(1)}},
		{name: "without resend", opts: []quickstream.ClientOption{quickstream.WithoutResend()}},
		{name: "defaults", resends: true},
	}
}

// scene is one operation, called in one way again and again.
type scene struct {
	*testing.T
	route   route
	setting setting
	void    bool
	box     *sandbox.Sandbox
	server  *server
	direct  *quickstream.Client // to the sandbox, past the server
	trusted *x509.CertPool
	calls   int

	onReused func() // called once a used connection was chosen for the call
}

// each runs test for payments and voids, over every route and with every setting.
func each(t *testing.T, over []route, test func(*scene)) {
	for _, r := range over {
		for _, s := range settings() {
			for _, void := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/void=%t", r.name, s.name, void), func(t *testing.T) {
					t.Parallel()
					listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
					if err != nil {
						t.Fatal(err)
					}
					test(newScene(t, r, s, void, listener, sandbox.WithClock(sandbox.NewClock(time.Unix(1e9, 0)))))
				})
			}
		}
	}
}

// newScene starts a sandbox which ignores idempotency keys, unless the client
// relies on them.
func newScene(t *testing.T, r route, s setting, void bool, listener net.Listener, opts ...sandbox.Option) *scene {
	t.Helper()
	x := &scene{T: t, route: r, setting: s, void: void}
	x.box = sandbox.New(append(opts, sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.KeyLifetime = 0
		if s.resends {
			a.KeyLifetime = time.Minute
		}
		a.LookupLag = 0
	}))...)
	t.Cleanup(x.box.Close)
	var config *tls.Config
	if r.tls {
		own, pool := certificate(t)
		config = &tls.Config{
			Certificates: []tls.Certificate{own}, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12,
			CurvePreferences: []tls.CurveID{tls.X25519}, // the quickest
		}
		if r.http2 {
			config.NextProtos = []string{"h2", "http/1.1"}
		}
		x.trusted = pool
	}
	x.server = serve(t, x.box, listener, config)
	x.direct = x.newClient(x.box.URL(), quickstream.WithHTTPClient(x.box.HTTPClient()))
	return x
}

func (x *scene) newClient(address string, opts ...quickstream.ClientOption) *quickstream.Client {
	x.Helper()
	opts = append(opts, quickstream.WithRetryWait(1, 1))
	client, err := quickstream.NewClient(quickstream.CustomURL(address), quickstream.Keys{Secret: quickstream.NewSecretKey(x.box.Keys().Secret)}, opts...)
	if err != nil {
		x.Fatal(err)
	}
	return client
}

// client returns a new one over the route, without connections.
func (x *scene) client() *quickstream.Client {
	x.Helper()
	opts := x.setting.opts
	scheme := "http"
	if x.route.tls {
		scheme = "https"
	}
	if x.route.caller != nil {
		transport := x.route.caller(&tls.Config{RootCAs: x.trusted, MinVersion: tls.VersionTLS12})
		opts = append(opts[:len(opts):len(opts)], quickstream.WithHTTPClient(&http.Client{Transport: transport}))
	} else if x.route.tls {
		opts = append(opts[:len(opts):len(opts)], quickstream.WithRootCAs(x.trusted))
	}
	return x.newClient(scheme+"://"+x.server.listener.Addr().String()+"/rest/v1", opts...)
}

func payment(order string) quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: decimal.RequireFromString("10.50"), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), CustomerReferenceNumber: order,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		Source: quickstream.FromCard(quickstream.CardDetails{
			CardholderName: "Ann Example", CardNumber: quickstream.NewSecret("4242424242424242"),
			Expiry: quickstream.YearMonth{Year: 2035, Month: time.March}, CVN: quickstream.NewSecret("123"),
		}),
	}
}

// result is what a call came to, for its caller, the server and the payer.
type result struct {
	tally
	outcome  quickstream.Outcome
	err      error
	attempts int
	effects  int // charges of the order, or voids of its charge
}

// closing returns what ends all connections in one way.
func (x *scene) closing(end func(*conn)) func() {
	return func() {
		for _, c := range x.server.open() {
			end(c)
		}
	}
}

// play makes one call that meets the fault. Unless between is nil the client has
// made another one before, and between is what happens in the meantime.
func (x *scene) play(f fault, between func()) result {
	x.Helper()
	x.calls++
	order, receipt := fmt.Sprintf("ORDER-%d", x.calls), ""
	if x.void {
		tx, err := x.direct.Transactions.Pay(x.Context(), payment(order))
		if err != nil {
			x.Fatal(err)
		}
		receipt = tx.ReceiptNumber
	}
	client := x.client()
	if between != nil {
		x.server.arm(fault{})
		if _, err := client.Transactions.Get(x.Context(), "R-0"); !errors.Is(err, quickstream.ErrNotFound) {
			x.Fatalf("the first call: %v", err)
		}
	}
	x.server.arm(f)
	ctx := x.Context()
	if between != nil {
		between()
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
			if x.onReused != nil && info.Reused {
				x.onReused()
			}
		}})
	}
	var (
		res  result
		resp quickstream.Response
		tx   *quickstream.Transaction
	)
	if x.void {
		tx, res.err = client.Transactions.Void(ctx, receipt, quickstream.WithResponseInto(&resp))
	} else {
		tx, res.err = client.Transactions.Pay(ctx, payment(order), quickstream.WithResponseInto(&resp))
	}
	client.CloseIdleConnections()
	res.outcome = tx.Outcome() // judged beside the error of the call; there may be no transaction
	res.tally, res.attempts = x.server.finish(), resp.Attempts
	for _, e := range x.box.Ledger().Order(order) {
		if wanted := map[bool]string{false: "approved", true: "voided"}[x.void]; e.Outcome == wanted {
			res.effects++
		}
	}
	return res
}

// check plays and judges a fault.
func (x *scene) check(f fault, between func()) result {
	x.Helper()
	res := x.play(f, between)
	for _, complaint := range x.judge(res) {
		x.Errorf("%s, used connection %t: %s; %d requests, %d effects, %d attempts: %v", f.name, between != nil, complaint, res.begun, res.effects, res.attempts, res.err)
	}
	return res
}

// judge holds a result against what is true of every call, whatever broke.
func (x *scene) judge(res result) (complaints []string) {
	demand := func(ok bool, what string) {
		if !ok {
			complaints = append(complaints, what)
		}
	}
	demand(res.effects <= 1, "it happened more than once")
	demand(res.begun <= res.attempts, "more requests than attempts")
	once := !x.setting.resends || x.void // a void is never sent again by the client
	demand(!once || res.begun <= 1 || x.void && x.route.resent, "more than one request")

	wanted := quickstream.OutcomeApproved
	if x.void {
		wanted = quickstream.OutcomeVoided
	}
	_, network := errors.AsType[*quickstream.NetworkError](res.err)
	switch {
	case res.err == nil:
		demand(res.answered > 0 && res.effects == 1 && res.outcome == wanted, "a success that was not answered")
	case network:
		demand(res.begun == 0 && res.effects == 0, "a request that was sent is reported as not sent")
	default:
		demand(errors.Is(res.err, quickstream.ErrOutcomeUnknown), "the outcome is not reported as unknown")
	}
	return complaints
}
