package clienttest_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

func TestEnvironments(t *testing.T) {
	for _, refused := range []string{
		"", " ", "api.invalid", "//api.invalid/rest/v1", "https://", "https:///rest/v1", "https://:443/rest/v1", "ftp://api.invalid", "https:api.invalid",
		"http://api.invalid/rest/v1", "http://10.0.0.1", "http://localhost.invalid", "http://evillocalhost", "http://127.0.0.1.invalid", "http://[::2]",
	} {
		client, err := quickstream.NewClient(quickstream.CustomURL(refused), testKeys())
		require.Error(t, err, refused)
		assert.Nil(t, client)
	}
	for _, accepted := range []string{
		"https://api.invalid", "HTTPS://API.INVALID/rest/v1", "https://api.invalid:8443/rest/v1/", "https://10.0.0.1/rest/v1",
		"http://localhost", "http://LOCALHOST:8080/rest/v1", "http://127.0.0.1:1", "http://127.8.9.1", "http://[::1]:80/x", "http://box.localhost", "http://a.b.localhost:1",
	} {
		client, err := quickstream.NewClient(quickstream.CustomURL(accepted), testKeys())
		require.NoError(t, err, accepted)
		assert.NotContains(t, client.String(), "/rest")
	}
	for _, env := range []quickstream.Environment{quickstream.ProductionAU, quickstream.ProductionNZ, quickstream.TestAU, quickstream.TestNZ} {
		_, err := quickstream.NewClient(env, testKeys())
		assert.NoError(t, err, env)
	}
}

// TestIsProduction: where real money moves there is no way to write the address
// that hides it.
func TestIsProduction(t *testing.T) {
	for _, production := range []quickstream.Environment{quickstream.ProductionAU, quickstream.ProductionNZ} {
		u, err := url.Parse(string(production))
		require.NoError(t, err)
		assert.True(t, production.IsProduction())
		for _, same := range []string{
			"https://" + strings.ToUpper(u.Host) + u.Path, "HTTPS://" + u.Host, "https://" + u.Host + ":443" + u.Path, "https://" + u.Host + "/other",
			"https://" + u.Host + "." + u.Path, "https://" + u.Host + ".:443/",
		} {
			assert.True(t, quickstream.CustomURL(same).IsProduction(), same)
		}
		assert.False(t, quickstream.CustomURL("https://"+u.Host+".invalid").IsProduction())
		assert.False(t, quickstream.CustomURL("https://proxy.invalid/"+u.Host).IsProduction())
	}
	for _, other := range []quickstream.Environment{quickstream.TestAU, quickstream.TestNZ, "", "http://localhost", "::"} {
		assert.False(t, other.IsProduction(), other)
	}
}

type sourcedClient struct{ *quickstream.Client }

func sourced(t *testing.T, sent *int, source quickstream.KeySource) sourcedClient {
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

func TestKeysFromEnv(t *testing.T) {
	t.Setenv("QUICKSTREAM_SECRET_KEY", " SECRET_KEY_1\n")
	t.Setenv("QUICKSTREAM_PUBLISHABLE_KEY", "")
	keys := quickstream.KeysFromEnv()
	assert.True(t, keys.Secret.Equal(quickstream.NewSecretKey("SECRET_KEY_1")))
	assert.False(t, keys.Secret.Equal(quickstream.NewSecretKey("SECRET_KEY_2")))
	assert.True(t, keys.Publishable.IsZero())
	assert.True(t, keys.Publishable.Equal(quickstream.PublishableKey{}))
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

	broken, sent := errors.New("vault is sealed"), 0
	_, err := sourced(t, &sent, func(context.Context) (quickstream.Keys, error) { return testKeys(), broken }).call(t)
	assert.ErrorIs(t, err, broken)
	assert.Zero(t, sent)
	assert.NotContains(t, matching(err), "unknown")
}
