package clienttest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// TestEnvironments: what is wrong with an address is said, and what is right.
func TestEnvironments(t *testing.T) {
	for refused, reason := range map[string]string{
		"": "", " ": "", "https://": "", "https://:443/rest/v1": "", "ftp://api.invalid": "", "https:api.invalid": "",
		"http://10.0.0.1": "", "http://localhost.invalid": "", "http://evillocalhost": "", "http://127.0.0.1.invalid": "", "http://[::2]": "", "http://box.localhost": "", "http://a.b.localhost:1": "", "http://[::1%25lo]": "",
		"api.invalid/rest/v1":        "has no scheme; begin it with https://",
		"localhost:8642/rest/v1":     "has no scheme; begin it with https://, or with http:// on this machine",
		"127.0.0.1:8642/rest/v1":     "has no scheme",
		"//api.invalid/rest/v1":      "has no scheme",
		"http://api.invalid/rest/v1": "http:// is for localhost and loopback addresses only",
		"https:///rest/v1":           "not an absolute URL",
	} {
		client, err := quickstream.NewClient(quickstream.CustomURL(refused), testKeys())
		require.ErrorContains(t, err, reason, refused)
		assert.Nil(t, client)
	}
	for _, accepted := range []string{
		"https://api.invalid", "HTTPS://API.INVALID/rest/v1", "https://api.invalid:8443/rest/v1/", "https://10.0.0.1/rest/v1",
		"http://localhost", "http://LOCALHOST:8080/rest/v1", "http://127.0.0.1:1", "http://127.8.9.1", "http://[::1]:80/x",
	} {
		client, err := quickstream.NewClient(quickstream.CustomURL(accepted), testKeys())
		require.NoError(t, err, accepted)
		assert.NotContains(t, fmt.Sprint(client), "/rest")
	}
	for _, env := range []quickstream.Environment{quickstream.ProductionAU, quickstream.ProductionNZ, quickstream.TestAU, quickstream.TestNZ} {
		_, err := quickstream.NewClient(env, testKeys())
		assert.NoError(t, err, env)
	}
}

type sourcedClient struct{ *quickstream.Client }

func sourced(t *testing.T, sent *int, source func(context.Context) (quickstream.Keys, error)) sourcedClient {
	t.Helper()
	client, err := quickstream.NewClient(quickstream.CustomURL(baseURL), quickstream.Keys{}, quickstream.WithKeySource(source),
		quickstream.WithHTTPClient(&http.Client{Transport: service(func(*http.Request) (*http.Response, error) {
			*sent++
			return answer(422, ""), nil
		})}))
	require.NoError(t, err)
	return sourcedClient{client}
}

// call makes a call with each kind of key.
func (c sourcedClient) call(t *testing.T) (result any, err error) {
	t.Helper()
	first := c.Check(t.Context())
	token, second := c.SingleUseTokens.Create(t.Context(), quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: "SHOP", Account: approvedCard()})
	return token, errors.Join(first, second)
}

func TestEnvironmentFromEnv(t *testing.T) {
	for value, env := range map[string]quickstream.Environment{
		"TestAU": quickstream.TestAU, " productionau\n": quickstream.ProductionAU, "TESTNZ": quickstream.TestNZ, "ProductionNZ": quickstream.ProductionNZ,
		"http://localhost:8642/rest/v1": quickstream.CustomURL("http://localhost:8642/rest/v1"),
	} {
		t.Setenv("QUICKSTREAM_ENVIRONMENT", value)
		read, err := quickstream.EnvironmentFromEnv()
		require.NoError(t, err, value)
		assert.Equal(t, env, read)
	}
	for _, refused := range []string{
		"", " ", "production", "Test AU", "SECRET_KEY_1", "http://api.invalid/SECRET_KEY_1", "https://SECRET_KEY_1@api.invalid", "https://api.invalid/SECRET_KEY_1%zz",
	} {
		t.Setenv("QUICKSTREAM_ENVIRONMENT", refused)
		env, err := quickstream.EnvironmentFromEnv()
		require.ErrorContains(t, err, "quickstream: QUICKSTREAM_ENVIRONMENT ", refused)
		assert.ErrorContains(t, err, "TestAU, ProductionAU, TestNZ, ProductionNZ or a URL")
		assert.NotContains(t, err.Error(), "SECRET_KEY_1", "a mistaken value may be a key")
		assert.Empty(t, env)
	}
}

// TestKeySource asks at every call, and hands its context and error through.
func TestKeySource(t *testing.T) {
	type trace struct{}
	synctest.Test(t, func(t *testing.T) {
		box := sandbox.New()
		t.Cleanup(box.Close)
		secret, asked := quickstream.NewSecretKey(box.Keys().Secret), 0
		client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), quickstream.Keys{}, quickstream.WithHTTPClient(box.HTTPClient()),
			quickstream.WithKeySource(func(ctx context.Context) (quickstream.Keys, error) {
				asked++
				assert.Equal(t, "t", ctx.Value(trace{}))
				return quickstream.Keys{Secret: secret}, nil
			}))
		require.NoError(t, err)
		ctx := context.WithValue(t.Context(), trace{}, "t")
		err = client.Check(ctx)
		require.NoError(t, err)
		renewed := box.RenewKey(sandbox.KeySecret, 0)
		err = client.Check(ctx)
		require.ErrorIs(t, err, quickstream.ErrUnauthorized)
		secret = quickstream.NewSecretKey(renewed)
		err = client.Check(ctx)
		require.NoError(t, err, "rotated without a new client")
		assert.Equal(t, 3, asked)
	})
}

// TestAttack26HeaderValues: a header's value ends the header, is not ASCII, or is so long
// that the service refuses the request, which of a payment would be an unknown outcome.
// It is refused at once.
func TestAttack26HeaderValues(t *testing.T) {
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		t.Error("it was sent")
		return answer(431, ""), nil
	})
	for _, value := range []string{"a\r\nAuthorization: x", "a\nb", "a\rb", "\x00", "é", "\u202e", "\xff", "a\tb", "\x7f", strings.Repeat("x", 8<<10+1), strings.Repeat("x", 2<<20)} {
		_, err := quickstream.NewClient(quickstream.CustomURL(baseURL), testKeys(), quickstream.WithHeader("X-Own", value))
		require.Error(t, err, "%.20q", value)
		assert.Less(t, len(err.Error()), 200, "it repeats nothing")
		for name, option := range map[string]quickstream.CallOption{"header": quickstream.WithHeader("X-Own", value), "key": quickstream.WithIdempotencyKey(value)} {
			_, err = client.Transactions.Pay(t.Context(), payment(), option)
			assert.ErrorIs(t, err, quickstream.ErrNotSent, "%s: %.20q", name, value)
		}
	}
	for _, key := range []string{strings.Repeat("k", 1<<10+1), strings.Repeat("k", 2<<20)} {
		_, err := quickstream.NewClient(quickstream.CustomURL(baseURL), quickstream.Keys{Secret: quickstream.NewSecretKey(key)})
		require.ErrorContains(t, err, "the secret key", "a file that was taken for a key")
		assert.Less(t, len(err.Error()), 300)
	}
}

// TestAttack27Keys: a key holds a colon, which would end it, or what came along when it was
// copied. It is refused at once, and nothing shows it.
func TestAttack27Keys(t *testing.T) {
	env := quickstream.CustomURL(baseURL)
	_, err := quickstream.NewClient(env, quickstream.Keys{})
	assert.ErrorIs(t, err, quickstream.ErrKeyRequired)
	for _, bad := range []string{"KEY_1:", "a:KEY_1", "KEY_1\n", "KEY_1\r\n", " KEY_1", "KEY_1 ", "KEY 1KEY_1", "KEY_1\x00", "KEY_1\x7f", "KEY_1é", "KEY_1\u200b", "\tKEY_1"} {
		for _, keys := range []quickstream.Keys{
			{Secret: quickstream.NewSecretKey(bad)},
			{Publishable: quickstream.NewPublishableKey(bad)},
			{Secret: quickstream.NewSecretKey("GOOD"), Publishable: quickstream.NewPublishableKey(bad)},
		} {
			_, err := quickstream.NewClient(env, keys)
			require.Error(t, err, "%q", bad)
			assert.NotContains(t, err.Error(), "KEY_1")

			if !keys.Secret.IsZero() && !keys.Publishable.IsZero() {
				continue // a call with the other key would be sent
			}
			sent := 0
			_, err = sourced(t, &sent, func(context.Context) (quickstream.Keys, error) { return keys, nil }).call(t)
			assert.Error(t, err, "%q", bad)
			assert.Zero(t, sent)
		}
	}
}

// TestAttack28KeyInTheAddress: somebody writes the key into the base address. It is refused
// where a key can be meant, and no error shows it.
func TestAttack28KeyInTheAddress(t *testing.T) {
	for _, refused := range []string{
		"https://SECRET_KEY_1@api.invalid", "https://SECRET_KEY_1:@api.invalid", "https://a:SECRET_KEY_1@api.invalid", "http://SECRET_KEY_1@localhost",
		"https://api.invalid/rest/v1?key=SECRET_KEY_1", "https://api.invalid/rest/v1#SECRET_KEY_1", "https://api.invalid/SECRET_KEY_1%zz", "https://a b/SECRET_KEY_1",
		" https://api.invalid/SECRET_KEY_1", "https://api.invalid:SECRET_KEY_1/",
	} {
		client, err := quickstream.NewClient(quickstream.CustomURL(refused), testKeys())
		require.Error(t, err, refused)
		assert.Nil(t, client)
		assert.NotContains(t, err.Error(), "SECRET_KEY_1")
	}
	client, err := quickstream.NewClient(quickstream.CustomURL("http://127.0.0.1:1/SECRET_KEY_1"), testKeys(), quickstream.WithMaxAttempts(1))
	require.NoError(t, err)
	err = client.Check(t.Context())
	require.Equal(t, network, ending(err))
	for ; err != nil; err = errors.Unwrap(err) {
		assert.NotContains(t, err.Error(), "SECRET_KEY_1", "not in a path either")
	}
}

// TestAttack29WrongKindOfKey: a program has one kind of key and makes the other's calls.
// Nothing is sent, and neither takes the other's place: the types tell them apart. What a
// browser may do takes the publishable key.
func TestAttack29WrongKindOfKey(t *testing.T) {
	publishable := 0
	for _, op := range operations() {
		for _, keys := range []quickstream.Keys{{Secret: testKeys().Secret}, {Publishable: testKeys().Publishable}} {
			var sent []string
			rt := service(func(r *http.Request) (*http.Response, error) {
				user, password, _ := r.BasicAuth()
				assert.Empty(t, password)
				sent = append(sent, user)
				return answer(422, ""), nil
			})
			for _, opts := range [][]quickstream.ClientOption{nil, {quickstream.WithKeySource(func(context.Context) (quickstream.Keys, error) { return keys, nil })}} {
				given := keys
				if opts != nil {
					given = quickstream.Keys{}
				}
				sent = nil
				client, err := quickstream.NewClient(quickstream.CustomURL(baseURL), given, append(opts, quickstream.WithHTTPClient(&http.Client{Transport: rt}))...)
				require.NoError(t, err)
				result, err := op.call(t.Context(), client, "ID-1")
				require.Error(t, err)
				assert.Nil(t, result)
				needsSecret := !slices.Contains([]string{
					"SingleUseTokens.Create", "Businesses.PublicCardSurcharges", "Businesses.AcceptedCards", "Businesses.QueryCardSurcharge", "Businesses.CardScheme",
				}, op.name)
				if needsSecret == keys.Secret.IsZero() {
					assert.ErrorIs(t, err, quickstream.ErrKeyRequired, op.name)
					assert.Empty(t, sent, op.name)
					publishable++
				} else {
					require.Len(t, sent, 1, op.name)
					assert.Equal(t, map[bool]string{true: "SECRET_KEY_1", false: "PUBLISHABLE_KEY_1"}[needsSecret], sent[0], op.name)
				}
			}
		}
	}
	assert.Equal(t, 2*len(operations()), publishable)
}
