package quickstream

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/quickstream-go/quickstream/internal/loopback"
	"github.com/quickstream-go/quickstream/internal/transport"
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
// sandbox's. [NewClient] checks it. Plain http is for localhost and loopback addresses only: the
// client connects to no other address, and uses no proxy. With a Transport of [WithHTTPClient] only
// the text of the host is checked.
func CustomURL(baseURL string) Environment { return Environment(baseURL) }

// EnvironmentFromEnv reads QUICKSTREAM_ENVIRONMENT: TestAU, ProductionAU, TestNZ or ProductionNZ,
// ignoring case, or a base address. A missing or invalid value is an error that does not repeat it.
func EnvironmentFromEnv() (Environment, error) {
	value := strings.TrimSpace(os.Getenv("QUICKSTREAM_ENVIRONMENT"))
	named := map[string]Environment{"testau": TestAU, "productionau": ProductionAU, "testnz": TestNZ, "productionnz": ProductionNZ}
	if env, is := named[strings.ToLower(value)]; is {
		return env, nil
	}
	if value == "" {
		return "", errors.New("quickstream: QUICKSTREAM_ENVIRONMENT is not set; choose TestAU, ProductionAU, TestNZ, ProductionNZ or a URL")
	}
	env := CustomURL(value)
	if _, err := env.base(); err != nil {
		return "", fmt.Errorf("quickstream: QUICKSTREAM_ENVIRONMENT has to be TestAU, ProductionAU, TestNZ, ProductionNZ or a URL: %w", err)
	}
	return env, nil
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
	case u.RawPath != "":
		return nil, errors.New("the environment's URL has a slash or another character in its path that is escaped without need")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the environment's URL has a query or a fragment")
	case u.Scheme == "https":
	case u.Scheme == "http" && loopback.IsHost(u.Hostname()):
	default:
		return nil, errors.New("the environment's URL has to begin with https://; http:// is for localhost and loopback addresses only")
	}
	u.Host = strings.ToLower(u.Host)
	return u, nil
}

// Keys holds the API keys. An operation whose key is missing returns [ErrKeyRequired] and sends
// nothing.
type Keys struct {
	Secret      SecretKey
	Publishable PublishableKey
}

// The variables of [KeysFromEnv].
const (
	secretKeyVariable      = "QUICKSTREAM_SECRET_KEY"
	publishableKeyVariable = "QUICKSTREAM_PUBLISHABLE_KEY"
)

// KeysFromEnv reads the keys from QUICKSTREAM_SECRET_KEY and QUICKSTREAM_PUBLISHABLE_KEY. A client
// reads no environment variables.
func KeysFromEnv() Keys {
	return Keys{
		Secret:      NewSecretKey(strings.TrimSpace(os.Getenv(secretKeyVariable))),
		Publishable: NewPublishableKey(strings.TrimSpace(os.Getenv(publishableKeyVariable))),
	}
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

// authorisers returns functions that make the Authorization header, by the kind of key.
func authorisers(keys Keys, source func(context.Context) (Keys, error)) (by [2]func(context.Context) (string, error), err error) {
	none := keys.Secret.IsZero() && keys.Publishable.IsZero()
	switch {
	case source != nil && !none:
		return by, errors.New("quickstream: both Keys and WithKeySource were given")
	case source == nil && none:
		return by, fmt.Errorf("quickstream: %w: neither a secret nor a publishable key was given; KeysFromEnv takes them from %s and %s", ErrKeyRequired, secretKeyVariable, publishableKeyVariable)
	}
	for _, kind := range [...]keyKind{secretKey, publishableKey} {
		if source != nil {
			by[kind] = func(ctx context.Context) (string, error) {
				current, err := ask(ctx, source)
				if err != nil {
					return "", fmt.Errorf("quickstream: key source: %w", err)
				}
				return current.authorization(kind)
			}
			continue
		}
		value, err := keys.authorization(kind) // made once, so that malformed keys are found at start-up
		if err != nil && !errors.Is(err, ErrKeyRequired) {
			return by, err
		}
		by[kind] = func(context.Context) (string, error) { return value, err }
	}
	return by, nil
}

// ask returns the keys of a source, and its panic as an error.
func ask(ctx context.Context, source func(context.Context) (Keys, error)) (keys Keys, err error) {
	defer transport.Report("it", &err)
	return source(ctx)
}
