package machine_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/shop/machine"
	"github.com/quickstream-go/quickstream/shop/store"
)

// childVariable makes this program the shop's.
const childVariable = "SHOP_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	config, err := store.ConfigFromEnv()
	if err == nil {
		err = store.Run(machine.UntilStdinEnds(context.Background()), config)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// start starts a shop that ends with the test.
func start(t *testing.T, options ...sandbox.Option) *machine.Machine {
	m, err := machine.Start(t.Context(), machine.Config{
		Listen: "127.0.0.1:0", Child: []string{os.Args[0]}, Env: []string{childVariable + "=1"}, Directory: t.TempDir(), Log: t.Output(), Sandbox: options,
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	return m
}

// customer is a browser without its pages.
type customer struct {
	*testing.T
	machine *machine.Machine
	client  *http.Client
}

func newCustomer(t *testing.T, m *machine.Machine) *customer {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &customer{t, m, &http.Client{Jar: jar, Timeout: time.Minute}}
}

// get opens a page.
func (c *customer) get(path string) (int, string) {
	c.Helper()
	return c.read(c.client.Get(c.machine.Origin() + path))
}

func (c *customer) read(answer *http.Response, err error) (int, string) {
	c.Helper()
	require.NoError(c, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(c, err)
	return answer.StatusCode, string(body)
}

var (
	formToken = regexp.MustCompile(`name="form" value="([^"]+)"`)
	paymentID = regexp.MustCompile(`name="payment" value="([^"]+)"`)
)

// post sends a form, with the form token of a page and the payment's id of a checkout.
func (c *customer) post(page, path string, values url.Values) (int, string, string) {
	c.Helper()
	_, body := c.get(page)
	found := formToken.FindStringSubmatch(body)
	require.NotNil(c, found, body)
	values.Set("form", found[1])
	if id := paymentID.FindStringSubmatch(body); id != nil {
		values.Set("payment", id[1])
	}
	answer, err := c.client.PostForm(c.machine.Origin()+path, values)
	status, body := c.read(answer, err)
	return status, body, answer.Request.URL.Path
}

// order places an order, and returns its number.
func (c *customer) order() string {
	c.Helper()
	_, _, checkout := c.post("/", "/orders", url.Values{"item": {"beans"}})
	order, ok := strings.CutPrefix(checkout, "/checkout/")
	require.True(c, ok, checkout)
	return order
}

// token makes a single-use token of a card, as the script does in a browser.
func (c *customer) token(number string) string {
	c.Helper()
	body := fmt.Sprintf(`{"supplierBusinessCode":"SANDBOX01","accountType":"CREDIT_CARD","cardNumber":%q,"expiryDateMonth":"12","expiryDateYear":"2099",
		"threeDS2":true,"browserProfile":{"browserJavaEnabled":false,"browserLanguage":"en","browserScreenHeight":"600","browserScreenWidth":"800","browserColorDepth":"24","browserTZ":"0"}}`, number)
	r, err := http.NewRequestWithContext(c.Context(), http.MethodPost, c.machine.Service()+"/rest/v1/single-use-tokens", strings.NewReader(body))
	require.NoError(c, err)
	r.Header.Set("Content-Type", "application/json")
	r.SetBasicAuth(c.machine.Sandbox().Keys().Publishable, "")
	status, answer := c.read(http.DefaultClient.Do(r))
	require.Equal(c, http.StatusOK, status, answer)
	var made struct{ SingleUseTokenID string }
	require.NoError(c, json.Unmarshal([]byte(answer), &made))
	return made.SingleUseTokenID
}

// pay presses the button once.
func (c *customer) pay(order string) (int, string) {
	c.Helper()
	status, body, _ := c.post("/checkout/"+order, "/orders/"+order+"/pay", url.Values{
		"token": {c.token("4242424242424242")}, "street": {"1 Example Street"}, "city": {"Sydney"}, "state": {"NSW"}, "postcode": {"2000"},
	})
	return status, body
}

// await waits for a state of an order, as its page does, by server-sent events, which are
// asked for again when the shop was away. A quarter of a minute goes by each time.
func (c *customer) await(order, state string) {
	c.Helper()
	require.Eventually(c, func() bool {
		defer c.machine.Forward(c.Context(), 15*time.Second)
		return c.hears(order, state)
	}, time.Minute, 10*time.Millisecond, "the order is not "+state)
}

// hears listens for a second.
func (c *customer) hears(order, state string) bool {
	ctx, cancel := context.WithTimeout(c.Context(), time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.machine.Origin()+"/changes", nil)
	if err != nil {
		return false
	}
	answer, err := c.client.Do(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if _, page := c.get("/orders/" + order); lines.Text() == "data: changed" && strings.Contains(page, `data-state="`+state+`"`) {
			return true
		}
	}
	return false
}

// turn presses a switch, or a button, of the page of troubles.
func (c *customer) turn(kind, name string) {
	c.Helper()
	status, body, _ := c.post("/trouble", "/trouble", url.Values{kind: {name}})
	require.Equal(c, http.StatusOK, status, body)
}

// The shop's program is killed when the service has just taken the money. The customer is
// told not to pay again, and learns the outcome when it is back; he has paid once.
func TestKilledInThePayment(t *testing.T) {
	m := start(t)
	c := newCustomer(t, m)
	order := c.order()
	c.turn("switch", "kill-in-payment")
	status, body := c.pay(order)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Contains(t, body, "Do not pay again.")
	assert.Contains(t, body, `url=/orders/`+order)
	c.await(order, "approved")
	assert.Len(t, m.Sandbox().Ledger().Charged(order), 1)
	_, body = c.get("/trouble")
	assert.Contains(t, body, "Nobody was charged twice: one order has paid, once.")
	assert.NotContains(t, body, `aria-pressed="true"`, "it is killed once")
}

// Answers are lost, two days go by for the service and the shop, and the service is down:
// whatever is on, the payment is made once, or not at all, and back to normal it is known.
func TestSwitches(t *testing.T) {
	m := start(t)
	c := newCustomer(t, m)
	order := c.order()
	c.turn("switch", "lost-after")
	c.pay(order)
	assert.Len(t, m.Sandbox().Ledger().Charged(order), 1)
	c.turn("do", "normal")
	_, body := c.get("/trouble")
	assert.NotContains(t, body, `aria-pressed="true"`)
	c.await(order, "approved")
	assert.Len(t, m.Sandbox().Ledger().Charged(order), 1)

	before := m.Sandbox().Now()
	c.turn("do", "forward")
	assert.WithinDuration(t, before.Add(48*time.Hour), m.Sandbox().Now(), time.Minute)
	second := c.order()
	token := c.token("4242424242424242")
	c.turn("switch", "down")
	_, body, at := c.post("/checkout/"+second, "/orders/"+second+"/pay", url.Values{"token": {token}, "street": {"x"}, "city": {"x"}, "state": {"NSW"}, "postcode": {"2000"}})
	assert.Equal(t, "/checkout/"+second, at, "3D Secure could not be asked")
	assert.Contains(t, body, "Nothing was charged.")
	assert.Empty(t, m.Sandbox().Ledger().Order(second))
	c.turn("switch", "down")
	c.turn("switch", "no-3ds")
	_, body = c.pay(second)
	assert.Contains(t, body, "cannot be checked")
	c.turn("switch", "no-3ds")
	_, _ = c.pay(second)
	c.await(second, "approved")
	assert.Len(t, m.Sandbox().Ledger().Charged(second), 1)
}

// A program that pays an order twice is told of: the page believes the ledger alone.
func TestTroubleTellsOfTwoCharges(t *testing.T) {
	m := start(t)
	client, err := quickstream.NewClient(quickstream.CustomURL(m.Service()+"/rest/v1"), sandboxtest.Keys(m.Sandbox()))
	require.NoError(t, err)
	for range 2 {
		token, err := sandboxtest.CardToken(t.Context(), client, "4242424242424242")
		require.NoError(t, err)
		_, err = client.Transactions.Pay(t.Context(), quickstream.PayParams{
			SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: decimal.New(1050, -2), Currency: quickstream.CurrencyAUD,
			ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), CustomerReferenceNumber: "O-1",
			StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
			Source:           quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard),
		})
		require.NoError(t, err)
	}
	_, body := newCustomer(t, m).get("/trouble")
	assert.Contains(t, body, "Somebody was charged more than once: order O-1 was charged 2 times.")
	assert.Contains(t, body, "Charged 2 times.</strong> It has cost $21.00.")
}

// Killed at any time the program comes back, and pages lead on by themselves.
func TestKilled(t *testing.T) {
	m := start(t)
	c := newCustomer(t, m)
	order := c.order()
	c.turn("do", "kill")
	status, body := c.get("/checkout/" + order)
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Contains(t, body, `content="1;url=/checkout/`+order)
	require.Eventually(t, func() bool {
		status, _ := c.get("/checkout/" + order)
		return status == http.StatusOK
	}, time.Minute, 50*time.Millisecond)
	_, _ = c.pay(order)
	c.await(order, "approved")
}

// A program that cannot start is an error, and leaves nothing behind.
func TestProgramThatEnds(t *testing.T) {
	_, err := machine.Start(t.Context(), machine.Config{
		Listen: "127.0.0.1:0", Child: []string{os.Args[0]}, Env: []string{childVariable + "=1", "SHOP_DB="}, Directory: t.TempDir(), Log: t.Output(),
	})
	assert.ErrorContains(t, err, "the shop's program has ended")
	_, err = machine.Start(t.Context(), machine.Config{Listen: "127.0.0.1:0", Child: []string{"/nowhere"}, Directory: t.TempDir(), Log: t.Output()})
	assert.ErrorContains(t, err, "the shop's program has ended")
}

// Every answer has the headers that keep its page from others: of the shop, of the bank's app, of the back office and of
// the switches, files, errors and redirects too, and while the program is away. Each page has the bar.
func TestEveryPage(t *testing.T) {
	m := start(t)
	c := newCustomer(t, m)
	order := c.order()
	_, _ = c.pay(order)
	c.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	wrongHost := func(r *http.Request) { r.Host = "evil.example:80" }
	get := func(*http.Request) {}
	post := func(r *http.Request) { r.Method = http.MethodPost }
	walk := func(address string, change func(*http.Request), status int) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		require.NoError(t, err)
		change(r)
		answer, err := c.client.Do(r)
		require.NoError(t, err)
		got, body := c.read(answer, nil)
		assert.Equal(t, status, got, address)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; ", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
			"X-Content-Type-Options": "nosniff", "Permissions-Policy": "camera=()",
		} {
			values := answer.Header.Values(name)
			require.Len(t, values, 1, "%s of %s", name, address)
			assert.Contains(t, values[0], want, address)
		}
		assert.Contains(t, answer.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'", address)
		if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") && strings.Contains(body, "<main") {
			assert.Equal(t, 1, strings.Count(body, `<aside id="bar"`), address)
		}
	}
	for path, status := range map[string]int{
		"/": 200, "/orders/" + order: 200, "/customers/": 200, "/checkout/" + order: 303, "/orders/none": 404, "/nowhere": 404, "/payto/none": 404,
		"/static/live.js": 200, "/static/none": 404, "/office/": 303, "/office/login": 200, "/metrics": 200,
		"/trouble": 200, "/trouble/now": 200, "/trouble/bar": 200, "/trouble/bar.css": 200, "/trouble/bar.js": 200, "/trouble/scenarios.js": 200, "/trouble/away.js": 200,
	} {
		walk(m.Origin()+path, get, status)
	}
	walk(m.Origin()+"/trouble", post, http.StatusForbidden)
	walk(m.Origin()+"/orders", post, http.StatusForbidden)
	walk(m.Origin()+"/webhooks", post, http.StatusUnauthorized)
	walk(m.Origin()+"/", wrongHost, http.StatusForbidden)
	walk(strings.Replace(m.Origin(), "127.0.0.1", "localhost", 1)+"/", get, http.StatusFound)
	for path, status := range map[string]int{sandbox.PayerPage: 200, "/_shop/clock": 200, "/_shop/bar.css": 200, "/_shop/style.css": 200, "/rest/v1/transactions": 401, "/nowhere": 404} {
		walk(m.Service()+path, get, status)
	}
	walk(m.Service()+sandbox.PayerPage, wrongHost, http.StatusForbidden)
	m.Kill()
	walk(m.Origin()+"/orders/"+order, get, http.StatusServiceUnavailable)
	walk(m.Origin()+"/orders/"+order+"/pay", post, http.StatusServiceUnavailable)
}

// 200 posts of a megabyte at once take less than 32 megabytes of the proxy, and are refused before they are read.
func TestLongBodies(t *testing.T) {
	m := start(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var posts sync.WaitGroup
	for range 200 {
		posts.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.Origin()+"/orders", io.LimitReader(zeros{}, 1<<20))
			if !assert.NoError(t, err) {
				return
			}
			r.ContentLength = 1 << 20
			answer, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				return // the connection ends while the rest is sent
			}
			assert.NoError(t, answer.Body.Close())
			assert.Equal(t, http.StatusRequestEntityTooLarge, answer.StatusCode)
		})
	}
	posts.Wait()
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), "allocated in all, what is free again included")
}

// zeros has no end.
type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Only the page of switches itself switches: not other sites, nor who lacks its cookie.
func TestTroubleIsGuarded(t *testing.T) {
	m := start(t)
	c := newCustomer(t, m)
	_, body := c.get("/trouble")
	token := formToken.FindStringSubmatch(body)[1]
	post := func(client *http.Client, values url.Values, header ...string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.Origin()+"/trouble", strings.NewReader(values.Encode()))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		status, _ := c.read(client.Do(r))
		return status
	}
	on := url.Values{"form": {token}, "switch": {"down"}}
	assert.Equal(t, http.StatusForbidden, post(http.DefaultClient, on), "no cookie")
	assert.Equal(t, http.StatusForbidden, post(c.client, url.Values{"switch": {"down"}}), "no form token")
	assert.Equal(t, http.StatusForbidden, post(c.client, on, "Origin", "http://evil.example"))
	assert.Equal(t, http.StatusForbidden, post(c.client, on, "Sec-Fetch-Site", "same-site"))
	assert.Equal(t, http.StatusUnprocessableEntity, post(c.client, url.Values{"form": {token}, "switch": {"nothing"}}))
	_, body = c.get("/trouble")
	assert.NotContains(t, body, `aria-pressed="true"`)
	assert.Equal(t, http.StatusOK, post(c.client, on, "Origin", m.Origin(), "Sec-Fetch-Site", "same-origin"))
	_, body = c.get("/trouble")
	assert.Contains(t, body, `aria-pressed="true"`)
	answer, err := http.Get(m.Origin() + "/trouble")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.Regexp(t, `HttpOnly; SameSite=Strict$`, answer.Header.Get("Set-Cookie"))
}

// Nothing of a request reaches the shop's program before all of it is there: an answer
// that comes while a page still sends is one that its browser may never see.
func TestWholeRequests(t *testing.T) {
	m := start(t)
	host := strings.TrimPrefix(m.Origin(), "http://")
	connection, err := net.Dial("tcp", host)
	require.NoError(t, err)
	defer connection.Close()
	_, err = fmt.Fprintf(connection, "POST /orders HTTP/1.1\r\nHost: %s\r\nContent-Length: 10000\r\n\r\n%s", host, strings.Repeat("x", 5_000))
	require.NoError(t, err)
	require.NoError(t, connection.(*net.TCPConn).CloseWrite())
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusBadRequest, answer.StatusCode)
	assert.Contains(t, string(body), "could not be read")
}

// Neither port answers under a name that is not this machine's, nor the service to other sites.
func TestPortsAreGuarded(t *testing.T) {
	m := start(t)
	c := newCustomer(t, m)
	get := func(address, host string, header ...string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		require.NoError(t, err)
		if host != "" {
			r.Host = host
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		status, _ := c.read(c.client.Do(r))
		return status
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(m.Origin(), "http://"), ":")
	answer, err := http.DefaultTransport.RoundTrip(httptest.NewRequest(http.MethodGet, "http://localhost:"+port+"/trouble", nil))
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.Equal(t, m.Origin()+"/trouble", answer.Header.Get("Location"), "another name leads to the one that the service knows")
	for _, address := range []string{m.Origin() + "/trouble", m.Service() + "/_shop/payer"} {
		assert.Equal(t, http.StatusOK, get(address, ""))
		assert.Equal(t, http.StatusForbidden, get(address, "evil.example:80"))
	}
	payer := m.Service() + "/_shop/payer"
	assert.Equal(t, http.StatusForbidden, get(payer, "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Referer", "http://evil.example/"))
	assert.Equal(t, http.StatusOK, get(payer, "", "Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate", "Referer", m.Origin()+"/"))
	assert.Equal(t, http.StatusForbidden, get(m.Service()+"/_shop/clock", "", "Origin", m.Origin()))
	_, err = machine.Start(t.Context(), machine.Config{Listen: "0.0.0.0:0"})
	assert.ErrorContains(t, err, "not a loopback address")
}
