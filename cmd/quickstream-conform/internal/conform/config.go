package conform

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/loopback"
)

// Config is what a run needs. Environment, SecretKey, Journal and Progress are required.
type Config struct {
	// Environment is TestAU, TestNZ or an address on this machine. No other is asked.
	Environment quickstream.Environment
	SecretKey   string
	// Business is the supplierBusinessCode; empty takes the first of the facility.
	Business string
	// Journal is the path of the file that lists what was made.
	Journal string
	// Clean asks nothing, and undoes what earlier runs have left.
	Clean bool
	// Wait is how long the run may take for what needs time; at least some minutes.
	Wait time.Duration
	// Webhooks receives the notifications of a subscription of the facility, with its secret.
	Webhooks      Receiver
	WebhookSecret string
	// HTTPClient connects; its transport is used. Progress is called after each request.
	HTTPClient *http.Client
	Progress   func(requests int)
}

func (c Config) currency() string {
	if c.Environment == quickstream.TestNZ {
		return "NZD"
	}
	return "AUD"
}

// transport connects to an address on this machine without a proxy, and to no other then.
func (c Config) transport(base *url.URL) http.RoundTripper {
	if c.HTTPClient != nil {
		return c.HTTPClient.Transport
	}
	transport := &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment}
	if loopback.IsHost(base.Hostname()) {
		transport.Proxy, transport.DialContext = nil, (&net.Dialer{Control: loopback.Control}).DialContext
	}
	return transport
}

// allowed returns the address of an environment that may be asked.
func allowed(env quickstream.Environment) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSuffix(string(env), "/"))
	test := env == quickstream.TestAU || env == quickstream.TestNZ
	local := err == nil && loopback.IsHost(u.Hostname())
	if err != nil || u.User != nil || u.RawQuery != "" || !test && !local || u.Scheme != "https" && !(u.Scheme == "http" && local) {
		return nil, errors.New("conform: only TestAU, TestNZ and addresses on this machine are asked")
	}
	return u, nil
}
