package quickstream

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// Environment is the base address of an installation of the service. There is no default.
type Environment string

// The public environments. The Australian addresses are from the vendor's public pages. Those for
// New Zealand are from a third party's summary of them; unconfirmed.
const (
	ProductionAU Environment = "https://api.quickstream.westpac.com.au/rest/v1"
	TestAU       Environment = "https://api.quickstream.support.qvalent.com/rest/v1"
	ProductionNZ Environment = "https://quickapi.paymentsonline.co.nz/rest/v1"
	TestNZ       Environment = "https://quickapi-test.paymentsonline.co.nz/rest/v1"
)

// CustomURL returns the environment at a base address that ends with the version, such as a
// sandbox's. It has to be https, or http on this machine, without credentials; [NewClient] checks
// it.
func CustomURL(baseURL string) Environment { return Environment(baseURL) }

// EnvironmentFromEnv reads QUICKSTREAM_ENVIRONMENT: TestAU, ProductionAU, TestNZ or ProductionNZ in
// any case, or a base address. A missing or invalid value is an error that does not repeat it.
func EnvironmentFromEnv() (Environment, error) {
	value := strings.TrimSpace(os.Getenv("QUICKSTREAM_ENVIRONMENT"))
	switch strings.ToLower(value) {
	case "testau":
		return TestAU, nil
	case "productionau":
		return ProductionAU, nil
	case "testnz":
		return TestNZ, nil
	case "productionnz":
		return ProductionNZ, nil
	case "":
		return "", errors.New("quickstream: QUICKSTREAM_ENVIRONMENT is not set; choose TestAU, ProductionAU, TestNZ, ProductionNZ or a URL")
	}
	env := CustomURL(value)
	if _, err := env.base(); err != nil {
		return "", fmt.Errorf("quickstream: QUICKSTREAM_ENVIRONMENT has to be TestAU, ProductionAU, TestNZ, ProductionNZ or a URL: %w", err)
	}
	return env, nil
}

// IsProduction reports whether the environment moves real money.
func (e Environment) IsProduction() bool {
	u, err := url.Parse(string(e))
	return err == nil && isHostOf(u, ProductionAU, ProductionNZ)
}

func isHostOf(u *url.URL, environments ...Environment) bool {
	return slices.ContainsFunc(environments, func(e Environment) bool {
		known, err := url.Parse(string(e))
		return err == nil && wire.SameFold(strings.TrimSuffix(u.Hostname(), "."), known.Hostname())
	})
}

// base parses and checks the address. Its errors never repeat it: a wrong address may contain a
// key.
func (e Environment) base() (*url.URL, error) {
	if e == "" {
		return nil, errors.New("no environment given; choose TestAU, ProductionAU, TestNZ, ProductionNZ or CustomURL")
	}
	if !strings.Contains(string(e), "://") {
		return nil, errors.New("the environment's URL has no scheme; begin it with https://, or with http:// on this machine")
	}
	u, err := url.Parse(strings.TrimRight(string(e), "/"))
	switch {
	case err != nil || u.Hostname() == "":
		return nil, errors.New("the environment is not an absolute URL")
	case !isVisible(u.Host):
		return nil, errors.New("the environment's host is not printable ASCII; write an international name as xn--")
	case u.User != nil:
		return nil, errors.New("the environment's URL carries credentials; pass keys in Keys instead")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the environment's URL has a query or a fragment")
	case u.Path == "" && isHostOf(u, ProductionAU, TestAU, ProductionNZ, TestNZ):
		return nil, errors.New("the environment's URL does not end with the version; the service's own end with /rest/v1")
	case u.Scheme == "https":
	case u.Scheme == "http" && isLoopback(u.Hostname()):
	default:
		return nil, errors.New("the environment's URL has to begin with https://; http:// is accepted on this machine only")
	}
	u.Host = strings.ToLower(u.Host)
	return u, nil
}

func isLoopback(host string) bool {
	host = strings.ToLower(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// Keys holds the API keys. One may be missing: operations that need it return [ErrKeyRequired] and
// send nothing.
type Keys struct {
	Secret      SecretKey
	Publishable PublishableKey
}

// The variables of [KeysFromEnv].
const (
	secretKeyVariable      = "QUICKSTREAM_SECRET_KEY"
	publishableKeyVariable = "QUICKSTREAM_PUBLISHABLE_KEY"
)

// KeysFromEnv reads the keys from QUICKSTREAM_SECRET_KEY and QUICKSTREAM_PUBLISHABLE_KEY. The
// client itself reads no environment variables.
func KeysFromEnv() Keys {
	return Keys{
		Secret:      NewSecretKey(strings.TrimSpace(os.Getenv(secretKeyVariable))),
		Publishable: NewPublishableKey(strings.TrimSpace(os.Getenv(publishableKeyVariable))),
	}
}

// KeySource returns the keys for a call, so that keys can be rotated without a restart. It is
// called for every call, concurrently. Keep the keys in memory. If it panics, nothing is sent.
type KeySource func(ctx context.Context) (Keys, error)

func (s KeySource) keys(ctx context.Context) (keys Keys, err error) {
	defer transport.Report("it", &err)
	return s(ctx)
}

type keyKind uint8

const (
	secretKey keyKind = iota
	publishableKey
)

func (k keyKind) String() string {
	if k == publishableKey {
		return "publishable"
	}
	return "secret"
}

// maxKey is far longer than any key.
const maxKey = 1 << 10

// authorization returns the header's value: HTTP Basic with the key as user name and no password.
func (keys Keys) authorization(kind keyKind) (string, error) {
	key, variable := keys.Secret.hidden, secretKeyVariable
	if kind == publishableKey {
		key, variable = keys.Publishable.hidden, publishableKeyVariable
	}
	if key.IsZero() {
		return "", fmt.Errorf("%w: this operation needs the %s key, which KeysFromEnv takes from %s", ErrKeyRequired, kind, variable)
	}
	text := key.text()
	if !isVisible(text) || strings.Contains(text, ":") || len(text) > maxKey {
		return "", fmt.Errorf("quickstream: the %s key contains a blank, a colon or a character that is not printable ASCII, or has more than 1024; was it copied whole and without a line end?", kind)
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(text+":")), nil
}

// keySource returns what gives the Authorization of a request.
func keySource(keys Keys, source KeySource) (func(context.Context, keyKind) (string, error), error) {
	if source != nil {
		if !keys.Secret.IsZero() || !keys.Publishable.IsZero() {
			return nil, errors.New("quickstream: both Keys and WithKeySource were given")
		}
		return func(ctx context.Context, kind keyKind) (string, error) {
			current, err := source.keys(ctx)
			if err != nil {
				return "", fmt.Errorf("quickstream: key source: %w", err)
			}
			return current.authorization(kind)
		}, nil
	}
	if keys.Secret.IsZero() && keys.Publishable.IsZero() {
		return nil, fmt.Errorf("quickstream: %w: neither a secret nor a publishable key was given; KeysFromEnv takes them from %s and %s", ErrKeyRequired, secretKeyVariable, publishableKeyVariable)
	}
	// Made once, so that malformed keys are found at start-up.
	var values [2]string
	for _, kind := range [...]keyKind{secretKey, publishableKey} {
		value, err := keys.authorization(kind)
		if err != nil && !errors.Is(err, ErrKeyRequired) {
			return nil, err
		}
		values[kind] = value
	}
	return func(_ context.Context, kind keyKind) (string, error) {
		if values[kind] == "" {
			return keys.authorization(kind)
		}
		return values[kind], nil
	}, nil
}
