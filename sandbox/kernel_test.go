package sandbox

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRootTakesEitherKey(t *testing.T) {
	bubble(t, func(c *caller) {
		for kind, key := range map[string]string{"secret": c.keys.Secret, "publishable": c.keys.Publishable} {
			for _, path := range []string{"", "/"} {
				body := c.must(200, c.do("GET", path, key, nil))
				assert.Contains(t, body["keyName"], kind)
				assert.Equal(t, "SANDBOX", body["communityCode"])
				assert.Equal(t, c.base, linkOf(body, "self"))
			}
		}
	})
}

func TestAuthentication(t *testing.T) {
	bubble(t, func(c *caller) {
		basic := func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }
		for name, header := range map[string]string{
			"none":           "",
			"unknown":        basic("SANDBOX_SEC_NOBODY:"),
			"wrong kind":     basic(c.keys.Publishable + ":"),
			"password":       basic(c.keys.Secret + ":x"),
			"without colon":  basic(c.keys.Secret),
			"another scheme": "Bearer " + c.keys.Secret,
		} {
			r := c.request("GET", "/customers", "", nil)
			if header != "" {
				r.Header.Set("Authorization", header)
			}
			out, err := c.try(r)
			require.NoError(t, err)
			c.must(401, out)
			assert.NotEmpty(t, out.body["developerMessage"], name)
			assert.NotContains(t, string(out.raw), c.keys.Secret, name)
		}
		assert.Equal(t, 401, c.do("POST", "/single-use-tokens", c.keys.Secret, cardToken(goodCard)).status)
	})
}

func TestKeysExpireAndAreRenewed(t *testing.T) {
	bubble(t, func(c *caller) {
		renewed := c.box.RenewKey(KeySecret, time.Hour)
		assert.Equal(t, renewed, c.box.Keys().Secret)
		assert.Equal(t, c.keys.Publishable, c.box.Keys().Publishable)
		c.must(200, c.get("/customers"))
		c.must(200, c.do("GET", "/customers", renewed, nil))
		c.sleep(time.Hour)
		c.must(401, c.get("/customers"))
		c.must(200, c.do("GET", "/customers", renewed, nil))
		c.box.RenewKey(KeyPublishable, 0)
		c.must(200, c.do("GET", "/customers", renewed, nil))
		c.must(401, c.post("/single-use-tokens", cardToken(goodCard)))
		c.keys = c.box.Keys()
		c.must(200, c.get("/customers"))
		c.token(cardToken(goodCard))
	})
}

func TestRouting(t *testing.T) {
	bubble(t, func(c *caller) {
		for _, path := range []string{"/nothing", "/customers/1/2/3/4", "/customers/", "http://localhost/rest/v10/customers", "http://localhost/"} {
			body := c.must(404, c.get(path))
			assert.Equal(t, "404", body["status"], path)
		}
		for _, r := range c.box.Requests() {
			assert.Empty(t, r.Operation)
		}

		out := c.do("DELETE", "/customers/1", c.keys.Secret, nil)
		c.must(405, out)
		assert.Equal(t, "GET, PUT", out.header.Get("Allow"))
		assert.Equal(t, "DELETE", out.body["requestMethod"])

		// A literal wins over a parameter, and an escaped slash stays in its segment.
		c.findings(c.get("/transactions/for-reference-number"))
		assert.Equal(t, "There is no such customer.", c.get("/customers/a%2Fb").body["developerMessage"])
	})
}

func TestErrorBody(t *testing.T) {
	bubble(t, func(c *caller) {
		out := c.post("/customers", object{"customerNumber": "", "supplierBusinessCode": "nobody", "Customername": "K"})
		assert.Equal(t, map[string]string{
			"customerNumber": "is required", "customerName": "is required",
			"supplierBusinessCode": "is not the code of a business of this facility", "Customername": "is not a member of this request",
		}, c.findings(out))
		assert.Equal(t, "422", out.body["status"])
		assert.Equal(t, "POST", out.body["requestMethod"])
		assert.Equal(t, c.base+"/customers", out.body["requestUrl"])
		assert.Equal(t, c.base+"/customers?page=x", c.get("/customers?page=x").body["requestUrl"])
		assert.NotEmpty(t, out.body["customerMessage"])
		assert.NotEmpty(t, out.body["traceCode"])
		value := ""
		for _, e := range out.body["errors"].([]any) {
			if e.(object)["fieldName"] == "supplierBusinessCode" {
				value = e.(object)["fieldValue"].(string)
			}
		}
		assert.Equal(t, "nobody", value)
		assert.Nil(t, c.get("/customers/1").body["errors"])
	})
	bubble(t, func(c *caller) {
		out := c.get("/customers/1")
		assert.Contains(t, string(out.raw), `"status":404,`)
		assert.Equal(t, []any{}, out.body["errors"])
	}, assuming(func(a *Assumptions) { a.ErrorStatusAsString, a.NullErrorList = false, false }))
}

func TestBodiesThatCannotBeRead(t *testing.T) {
	bubble(t, func(c *caller) {
		for _, body := range []string{``, `[]`, `"x"`, `{"customerNumber":`, `{"customerNumber":"1"} {}`, `{"customerNumber":"1","customerNumber":"2"}`, `{"a":}`} {
			c.must(400, c.post("/customers", body))
		}
		c.must(415, c.post("/customers", object{}, "Content-Type", "text/plain"))
		assert.Equal(t, "must be a string", c.findings(c.post("/customers", `{"customerNumber":1,"customerName":"K"}`))["customerNumber"])
	})
}

func TestUnknownMembersAndValues(t *testing.T) {
	bubble(t, func(c *caller) {
		body := c.must(201, c.post("/transactions", changed(cardPayment("O"), "metadata", object{"a": "}{", "metadata": "x"})))
		assert.Equal(t, object{"a": "}{", "metadata": "x"}, body["metadata"])
		for _, name := range []string{"creditCard", "principalAmount", "merchantAccount"} {
			assert.Contains(t, body[name], "addedLater", name)
		}
		assert.Contains(t, body, "addedLater")
		assert.NotEqual(t, "RESTAPI", body["source"])
		assert.NotEmpty(t, linkOf(body, unknownEnumValue))
		prepaid := c.must(200, c.post("/single-use-tokens", cardToken("4017950000000009")))
		assert.Equal(t, "PREPAID", prepaid["creditCard"].(object)["cardType"])
	})
	bubble(t, func(c *caller) {
		body := c.must(201, c.post("/transactions", changed(cardPayment("O"), "misspelt", 1)))
		assert.NotContains(t, body, "addedLater")
		assert.Equal(t, "RESTAPI", body["source"])
		assert.Empty(t, linkOf(body, unknownEnumValue))
		prepaid := c.must(200, c.post("/single-use-tokens", cardToken("4017950000000009")))
		assert.Equal(t, "CREDIT", prepaid["creditCard"].(object)["cardType"])
	}, assuming(func(a *Assumptions) {
		a.UnknownMembers, a.UnknownEnumValues, a.RefuseUnknownMembers = "none", false, false
	}))
}

func TestRecord(t *testing.T) {
	bubble(t, func(c *caller) {
		c.get("/customers?customerNumber=7")
		c.post("/single-use-tokens", cardToken(goodCard))
		c.findings(c.post("/transactions", changed(cardPayment("O"), "creditCard", cardDetails(realPAN)), "Idempotency-Key", "k1"))
		c.findings(c.post("/customers", fmt.Sprintf(`{"customerNumber":"card %s-%s","cvn":"837"}`, realPAN[:4], realPAN[4:])))

		list := c.box.Requests()
		require.Len(t, list, 4)
		assert.Equal(t, "GET /customers", list[0].Operation)
		assert.Equal(t, "7", list[0].Query.Get("customerNumber"))
		assert.Equal(t, []string{"secret", "publishable"}, []string{list[0].Header.Get("Authorization"), list[1].Key})
		assert.True(t, list[1].Committed)
		assert.Contains(t, string(list[1].Body), goodCard)
		assert.Contains(t, string(list[1].Body), testCVN)
		assert.Equal(t, "k1", list[2].IdempotencyKey)
		assert.Equal(t, 422, list[2].Status)
		assert.False(t, list[2].Committed)
		for _, e := range list[2:] {
			assert.NotContains(t, onlyDigits(string(e.Body)), realPAN)
			assert.NotContains(t, string(e.Body), testCVN)
		}
		assert.False(t, list[3].Time.IsZero())

		list[0].Header.Set("Authorization", "mine")
		list[1].Body[0] = 'x'
		assert.Equal(t, "secret", c.box.Requests()[0].Header.Get("Authorization"))
		assert.Equal(t, byte('{'), c.box.Requests()[1].Body[0])
		c.box.ResetRequests()
		assert.Empty(t, c.box.Requests())
	})
}

func TestRecordIsBounded(t *testing.T) {
	bubble(t, func(c *caller) {
		for range maxRecorded + 5 {
			c.box.mu.Lock()
			c.box.requests.add(&Request{Method: "GET", Path: "/x"})
			c.box.mu.Unlock()
		}
		assert.Len(t, c.box.Requests(), maxRecorded-maxRecorded/10+5)
	})
}

func TestOtherHostsDoNotResolve(t *testing.T) {
	bubble(t, func(c *caller) {
		_, err := c.try(c.request("GET", "http://other.localhost/rest/v1", c.keys.Secret, nil))
		var dns *net.DNSError
		require.ErrorAs(t, err, &dns)
		assert.Equal(t, "other.localhost", dns.Name)
		assert.Empty(t, c.box.Requests())
	})
}

func TestListen(t *testing.T) {
	box := New()
	defer box.Close()
	url, err := box.Listen("127.0.0.1:0")
	require.NoError(t, err)
	c := &caller{t: t, box: box, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, base: url, keys: box.Keys()}
	body := c.must(200, c.get(""))
	assert.Equal(t, url, linkOf(body, "self"))

	// The headers of proxies about the host are ignored.
	out := c.do("GET", "", c.keys.Secret, nil, "X-Forwarded-Host", "evil.invalid", "X-Forwarded-Proto", "https")
	assert.NotContains(t, string(out.raw), "evil.invalid")

	require.NoError(t, box.Inject(Fault{Operation: "GET /", Kind: ResetBeforeCommit()}))
	_, err = c.try(c.request("GET", "", c.keys.Secret, nil))
	require.ErrorIs(t, err, syscall.ECONNRESET)

	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.invalid:0", "nonsense"} {
		_, err := box.Listen(addr)
		require.Error(t, err, addr)
	}
	closed := New()
	closed.Close()
	_, err = closed.Listen("127.0.0.1:0")
	require.ErrorContains(t, err, "closed")
}

func TestCloseEndsEverything(t *testing.T) {
	bubble(t, func(c *caller) {
		require.NoError(t, c.box.Inject(Fault{Operation: "GET /", Kind: HangBeforeCommit()}, Fault{Operation: "GET /customers", Kind: DelayBeforeCommit(time.Hour)}))
		errs := make(chan error, 2)
		for _, path := range []string{"/", "/customers"} {
			r := c.request("GET", path, c.keys.Secret, nil)
			go func() { _, err := c.try(r); errs <- err }()
		}
		c.sleep(time.Minute)
		c.box.Close()
		require.Error(t, <-errs)
		require.Error(t, <-errs)
		c.box.Close()
		_, err := c.try(c.request("GET", "/", c.keys.Secret, nil))
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		// The bubble fails if a goroutine is left.
	})
}

func TestRequestCutOffWhileSending(t *testing.T) {
	bubble(t, func(c *caller) {
		conn, err := c.box.listener.Dial(context.Background())
		require.NoError(t, err)
		_, err = conn.Write([]byte("POST /rest/v1/customers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"))
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		c.sleep(time.Second)
		assert.Empty(t, c.box.Requests())
	})
}

func TestSeedRepeatsARun(t *testing.T) {
	run := func(seed uint64) (ids []string) {
		bubble(t, func(c *caller) {
			ids = append(ids, c.keys.Secret, c.token(cardToken(goodCard)), c.pay("O"))
			ids = append(ids, c.must(201, c.post("/customers", object{"customerNumber": "1", "customerName": "K"}))["customerId"].(string))
		}, WithSeed(seed))
		return ids
	}
	assert.Equal(t, run(1), run(1))
	assert.NotEqual(t, run(1), run(2))
	a, b := New(), New()
	defer a.Close()
	defer b.Close()
	assert.NotEqual(t, a.Keys(), b.Keys())
}

func TestErrorURLHidesAccountNumbers(t *testing.T) {
	bubble(t, func(c *caller) {
		out := c.get("/for-bank?accountNumber=999994&bsb=032-999")
		c.must(404, out)
		assert.True(t, strings.Contains(out.body["requestUrl"].(string), "accountNumber=xxx"))
	})
}

// TestUnknownQuery: a misspelt filter would list everything.
func TestUnknownQuery(t *testing.T) {
	lists := func(c *caller) (paths []string) {
		path := strings.NewReplacer("{customerId}", c.customerNumbered("1"), "{supplierBusinessCode}", DefaultBusiness, "{receiptNumber}", c.pay("O"), "{firstSixDigits}", "424242")
		for _, op := range c.box.operations() {
			if method, place, _ := strings.Cut(op.id, " "); method == http.MethodGet {
				paths = append(paths, path.Replace(place))
			}
		}
		return paths
	}
	key := func(c *caller, path string) string {
		if strings.HasPrefix(path, "/credit-cards/") || strings.HasSuffix(path, "/accepted-cards") || strings.HasSuffix(path, "/card-surcharges") {
			return c.keys.Publishable
		}
		return c.box.Keys().Secret
	}
	bubble(t, func(c *caller) {
		for _, path := range lists(c) {
			found := c.findings(c.do("GET", path+"?customernumber=1", key(c, path), nil))
			assert.Equal(t, map[string]string{"customernumber": "is not a parameter of this request"}, found, path)
		}
		c.findings(c.post("/customers?x=1", object{"customerNumber": "2", "customerName": "K"}))
	})
	bubble(t, func(c *caller) {
		for _, path := range lists(c) {
			status := c.do("GET", path+"?customernumber=1", key(c, path), nil)
			assert.NotContains(t, fmt.Sprint(status.body["errors"]), "customernumber", path)
		}
		c.must(201, c.post("/customers?x=1", object{"customerNumber": "2", "customerName": "K"}))
	}, assuming(func(a *Assumptions) { a.IgnoreUnknownQuery = true }))
}

// TestKeysWithoutColon: they are not HTTP Basic, and a public client sends them.
func TestKeysWithoutColon(t *testing.T) {
	bare := func(c *caller) response {
		return c.do("GET", "/customers", "", nil, "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.keys.Secret)))
	}
	bubble(t, func(c *caller) {
		assert.Contains(t, c.must(401, bare(c))["developerMessage"], "colon")
		assert.Contains(t, c.must(401, c.do("GET", "/customers", "", nil))["developerMessage"], "No API key was given")
	})
	bubble(t, func(c *caller) {
		c.must(200, bare(c))
		c.must(401, c.do("GET", "/customers", "", nil))
	}, assuming(func(a *Assumptions) { a.BareKeys = true }))
}
