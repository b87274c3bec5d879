package main

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const (
	noFunds     = "4111111111444496"
	notHolder   = "4017950000000009"
	localOrigin = "127.0.0.1:0"
)

// visitor is somebody with a browser.
type visitor struct {
	*testing.T
	*shop

	client *http.Client
	origin string
}

// open opens a shop, whose pages are read all the time until the test ends: none may say what the ledger does not.
func open(t *testing.T) *visitor {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	pages, err := listen(ctx, localOrigin)
	require.NoError(t, err)
	service, err := listen(ctx, localOrigin)
	require.NoError(t, err)
	s, err := openShop(ctx, filepath.Join(t.TempDir(), "shop.db"), origin(pages), origin(service), slog.New(slog.NewTextHandler(t.Output(), nil)))
	require.NoError(t, err)
	server := &http.Server{Handler: s.handler()}
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(pages) })
	v := &visitor{T: t, shop: s, origin: origin(pages)}
	v = v.another()
	running.Go(func() { v.watch(ctx) })
	t.Cleanup(func() {
		cancel()
		_ = server.Close()
		_ = service.Close()
		running.Wait()
		s.close()
	})
	return v
}

// another is somebody else.
func (v *visitor) another() *visitor {
	jar, err := cookiejar.New(nil)
	require.NoError(v, err)
	return &visitor{v.T, v.shop, &http.Client{Jar: jar, Timeout: time.Minute}, v.origin}
}

// do makes a request as a page of the shop does.
func (v *visitor) do(method, path string, form url.Values) (status int, text string) {
	v.Helper()
	r, err := http.NewRequestWithContext(v.Context(), method, v.origin+path, strings.NewReader(form.Encode()))
	require.NoError(v, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	answer, err := v.client.Do(r)
	require.NoError(v, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(v, err)
	return answer.StatusCode, string(body)
}

func (v *visitor) get(path string) string {
	v.Helper()
	status, text := v.do(http.MethodGet, path, nil)
	require.Equal(v, http.StatusOK, status, text)
	return text
}

func (v *visitor) post(path string, values ...string) string {
	v.Helper()
	form := url.Values{}
	for i := 0; i < len(values); i += 2 {
		form.Set(values[i], values[i+1])
	}
	status, text := v.do(http.MethodPost, path, form)
	require.Equal(v, http.StatusOK, status, text)
	return text
}

// hidden is the value of a field of a form.
func (v *visitor) hidden(page, name string) string {
	v.Helper()
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
	require.NotNil(v, found, "no field %s", name)
	return html.UnescapeString(found[1])
}

// buy orders a mug, and returns the order.
func (v *visitor) buy() (id string) {
	v.Helper()
	form := v.hidden(v.get("/"), "form")
	action := regexp.MustCompile(`action="/orders/(ORDER-\d+)/card"`)
	placed := action.FindStringSubmatch(v.post("/orders", "form", form))
	require.NotNil(v, placed)
	require.Equal(v, placed, action.FindStringSubmatch(v.post("/orders", "form", form)), "a second click orders nothing")
	return placed[1]
}

// token is a card's, as the service's script makes it.
func (v *visitor) token(number string) string {
	v.Helper()
	token, err := sandboxtest.CardToken(v.Context(), v.shop.client, number, sandboxtest.ThreeDS)
	require.NoError(v, err)
	return token
}

// pay pays by card, as the page's script does.
func (v *visitor) pay(id, token string) answer {
	v.Helper()
	attempt := regexp.MustCompile(`data-attempt="([^"]*)"`).FindStringSubmatch(v.get("/orders/" + id))
	require.NotNil(v, attempt, "%s cannot be paid", id)
	var said answer
	require.NoError(v, json.Unmarshal([]byte(v.post("/orders/"+id+"/card", "singleUseTokenId", token, "attempt", attempt[1])), &said))
	return said
}

// says waits until an order's page says something.
func (v *visitor) says(id, text string) {
	v.Helper()
	page := ""
	require.Eventually(v, func() bool {
		page = v.get("/orders/" + id)
		return strings.Contains(html.UnescapeString(page), text)
	}, 2*time.Minute, 20*time.Millisecond, "%s does not say: %s", id, text)
}

// net is what the customer has paid, in cents.
func (v *visitor) net(id string) int64 { return v.box.Ledger().Net(id) }

// watch reads the page of each order again and again.
func (v *visitor) watch(ctx context.Context) {
	read := 0
	for ; ctx.Err() == nil; read++ {
		before := fmt.Sprint(v.box.Ledger())
		now, err := v.look(ctx)
		if err != nil || fmt.Sprint(v.box.Ledger()) != before {
			continue // something happens meanwhile, or the test has ended
		}
		for _, a := range now.Accounts {
			if wrong := untrue(a.said, v.box.Ledger(), a.ID); wrong != "" && fmt.Sprint(v.box.Ledger()) == before {
				v.Errorf("the page of %s says %q, %q: %s", a.ID, a.Title, a.Text, wrong)
			}
		}
		if !now.Verdict.Good() {
			v.Errorf("the bar says: %s", now.Verdict.Text())
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	v.Logf("%d readings", read)
}

// untrue is what is wrong with the sentences of an order's page, by the ledger alone.
func untrue(s said, ledger sandbox.Ledger, id string) string {
	charged, net := len(ledger.Charged(id)), ledger.Net(id)
	text := s.Title + " " + s.Text
	switch {
	case charged > 1:
		return "it was charged twice"
	case strings.Contains(text, "not been charged") && charged > 0, strings.Contains(text, "money stays with you") && charged > 0:
		return "it was charged"
	case strings.Contains(text, "You have been charged") && charged != 1 && !strings.Contains(text, "A refund of it is under way"): // it may be done
		return "it was not charged"
	case strings.Contains(text, "refunded in part") && (net <= 0 || net >= 4995), s.Title == "Refunded" && net != 0:
		return fmt.Sprintf("net is %d", net)
	case strings.Contains(text, "pay again below") && charged > 0:
		return "it offers a second charge"
	}
	return ""
}

// Pay by card: at once, with the bank's question, declined and then paid, by somebody else's card, and twice from two tabs.
func TestCard(t *testing.T) {
	t.Parallel()
	v := open(t)
	atOnce := v.buy()
	v.says(atOnce, "Not paid yet")
	assert.Equal(t, answer{Next: nextOrder}, v.pay(atOnce, v.token(sandbox.CardAttempted)))
	v.says(atOnce, "Thank you. It is paid.")

	asked, token := v.buy(), v.token(sandbox.CardChallenge)
	assert.Equal(t, answer{Next: nextChallenge}, v.pay(asked, token))
	assert.Equal(t, answer{Next: nextChallenge}, v.pay(asked, token), "what the browser claims counts for nothing")
	require.NoError(t, v.box.AnswerChallenge(token, sandbox.TransStatusAuthenticated))
	assert.Equal(t, answer{Next: nextOrder}, v.pay(asked, token))
	v.says(asked, "Thank you. It is paid.")

	declined := v.buy()
	assert.Equal(t, answer{nextStop, notConfirmed}, v.pay(declined, v.token(notHolder)))
	v.says(declined, "Not paid yet")
	assert.Equal(t, nextOrder, v.pay(declined, v.token(noFunds)).Next)
	v.says(declined, "Your payment was declined")
	assert.Zero(t, v.net(declined))

	old := v.post("/orders/"+declined+"/card", "singleUseTokenId", v.token(sandbox.CardAttempted), "attempt", declined+"/1")
	assert.Contains(t, old, oldPage, "the form of a tab from before the decline")
	assert.Zero(t, v.net(declined))
	assert.Equal(t, nextOrder, v.pay(declined, v.token(sandbox.CardAttempted)).Next)
	v.says(declined, "Thank you. It is paid.")
	assert.Contains(t, v.post("/orders/"+declined+"/card", "singleUseTokenId", v.token(sandbox.CardAttempted), "attempt", declined+"/9"), "not one of this order")

	both := v.buy()
	var tabs sync.WaitGroup
	for range 6 {
		token := v.token(sandbox.CardAttempted)
		tabs.Go(func() {
			_, _ = v.payCard(t.Context(), both, both+"/1", token)
		})
	}
	tabs.Wait()
	v.says(both, "Thank you. It is paid.")
	for _, id := range []string{atOnce, asked, declined, both} {
		assert.EqualValues(t, 4995, v.net(id))
		assert.NotContains(t, v.get("/orders/"+id), `id="card"`, "it cannot be paid again")
	}
	assert.Contains(t, v.get("/"), "4 charged once, 0 not charged, none twice")
	assert.Contains(t, v.get("/orders"), "to be packed")
}

// Pay once by PayTo: confirmed, declined, and confirmed after the card was charged.
func TestPayTo(t *testing.T) {
	t.Parallel()
	v := open(t)
	ask := func(id string) {
		page := v.get("/orders/" + id)
		form := []string{"attempt", v.hidden(page, "attempt"), "reference", v.hidden(page, "reference"), "name", "Ann Example", "payid", "ann@example.com"}
		v.post("/orders/"+id+"/payto", form...)
		v.post("/orders/"+id+"/payto", form...) // a second click asks nobody again
		v.says(id, "Confirm it in your banking app")
	}
	paid := v.buy()
	status, text := v.do(http.MethodPost, "/orders/"+paid+"/payto", url.Values{"name": {"Ann"}})
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, text, "You have not been charged.")
	ask(paid)
	assert.Len(t, v.box.Agreements(), 1)
	v.post("/orders/"+paid+"/bank", "answer", "confirm")
	v.says(paid, "Thank you. It is paid.")
	assert.EqualValues(t, 4995, v.net(paid))

	no := v.buy()
	ask(no)
	v.post("/orders/"+no+"/bank", "answer", "decline")
	v.says(no, "Your bank said no")
	ask(no)

	card := v.buy()
	ask(card)
	assert.Equal(t, nextOrder, v.pay(card, v.token(sandbox.CardAttempted)).Next)
	v.says(card, "Thank you. It is paid.")
	require.NoError(t, v.answerBank(card+"-P1", true)) // late, on the phone
	require.NoError(t, v.box.Flush(t.Context()))
	require.Eventually(t, func() bool {
		all, err := v.agreements(t.Context())
		return err == nil && all[len(all)-1].Status == agreementUnused
	}, time.Minute, 20*time.Millisecond)
	assert.EqualValues(t, 4995, v.net(card), "nothing is collected for an order that is paid")

	wrong := v.buy()
	page := v.get("/orders/" + wrong)
	v.post("/orders/"+wrong+"/payto", "attempt", v.hidden(page, "attempt"), "reference", v.hidden(page, "reference"), "name", "Ann", "payid", "invalidpayid@example.com")
	v.says(wrong, "Your bank could not be asked")
}

// Each fault, while somebody pays: the page never says what the ledger does not, and each order ends charged once.
func TestTroubles(t *testing.T) {
	for name, meanwhile := range map[string]string{
		faultLost: "We are finding out", faultDown: "The payment service cannot be reached", faultHang: "We are finding out",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := open(t)
			before := v.buy()
			assert.NotContains(t, v.get("/trouble"), ">on<")
			assert.Contains(t, v.get("/"), "Nothing is switched on.")
			page := v.post("/trouble", "do", name+"-on")
			assert.Equal(t, 1, strings.Count(page, `class="state">on<`), "the switch says what is on")
			assert.Contains(t, page, `value="`+name+`-off"`)
			assert.Contains(t, v.get("/orders/"+before), `<span class="on">`, "and so does the bar")
			assert.Equal(t, nextOrder, v.pay(before, v.token(sandbox.CardAttempted)).Next)
			v.says(before, meanwhile)
			page = v.post("/trouble", "do", name+"-off")
			assert.NotContains(t, page, `class="state">on<`)
			v.says(before, "Thank you. It is paid.")
			assert.EqualValues(t, 4995, v.net(before))
		})
	}
}

// The engine is killed in the middle of payments, again and again.
func TestKill(t *testing.T) {
	t.Parallel()
	v := open(t)
	v.post("/trouble", "do", "lost-on")
	var ids []string
	for range 5 {
		id := v.buy()
		ids = append(ids, id)
		assert.Equal(t, nextOrder, v.pay(id, v.token(sandbox.CardAttempted)).Next)
		require.Eventually(t, func() bool { return v.net(id) != 0 }, time.Minute, time.Millisecond, "a kill before would leave nothing to find")
		assert.Contains(t, v.post("/trouble", "do", "kill"), "Killed <strong>")
	}
	v.post("/trouble", "do", "lost-off")
	for _, id := range ids {
		v.says(id, "Thank you. It is paid.")
		assert.EqualValues(t, 4995, v.net(id))
	}
	assert.Contains(t, v.get("/trouble"), "5 times")
}

// Two days pass for everything: no clocks are apart, what is to be done is done, and a payment can be refunded in part.
func TestLater(t *testing.T) {
	t.Parallel()
	v := open(t)
	paid, unknown := v.buy(), v.buy()
	assert.Equal(t, nextOrder, v.pay(paid, v.token(sandbox.CardAttempted)).Next)
	v.says(paid, "Thank you. It is paid.")
	v.box.NextTransactionFor(unknown, sandbox.Erred().ThenAfter(36*time.Hour, sandbox.Approved()))
	assert.Equal(t, nextOrder, v.pay(unknown, v.token(sandbox.CardAttempted)).Next)
	v.says(unknown, "We are finding out")
	before := v.clock.Now()
	page := v.post("/trouble", "do", "later")
	assert.Contains(t, page, "The clock is 1 × 48 hours ahead")
	assert.GreaterOrEqual(t, v.clock.Now().Sub(before), leap)
	v.says(unknown, "Thank you. It is paid.")
	health, err := v.engine.Load().Health(t.Context())
	require.NoError(t, err)
	assert.Less(t, health.At.Sub(v.clock.Now()).Abs(), 5*time.Second)
	v.logIn("Robin")
	office := v.get("/console/")
	assert.NotContains(t, office, "Clocks apart")
	assert.Contains(t, v.get("/console/installation"), "the same as")

	v.refund(paid, "part", "5.00")
	v.says(paid, "Paid, and refunded in part")
	v.says(paid, "$5.00 was refunded")
	assert.EqualValues(t, 4495, v.net(paid))
	v.refund(unknown, "all", "")
	v.says(unknown, "Refunded")
	assert.Zero(t, v.net(unknown))
}

// logIn logs in to the console.
func (v *visitor) logIn(name string) {
	v.Helper()
	v.post("/login", "name", name, "password", v.password)
}

// refund refunds a payment in the console, as a person does.
func (v *visitor) refund(id, how, amount string) {
	v.Helper()
	page := v.get("/console/payment?id=" + url.QueryEscape(id+"/1"))
	form := []string{"id", id + "/1", "version", v.hidden(page, "version"), "write", v.hidden(page, "write"), "currency", "AUD", "how", how, "amount", amount, "note", "a torn bag"}
	assert.Contains(v, v.post("/console/refund", form...), "Refund $")
	assert.Contains(v, v.post("/console/refund", append(form, "sure", "yes")...), "The refund is stored")
}

// The console is behind the password, and two people use it: the second sees what the first has done.
func TestConsole(t *testing.T) {
	t.Parallel()
	v := open(t)
	id := v.buy()
	assert.Equal(t, nextOrder, v.pay(id, v.token(sandbox.CardAttempted)).Next)
	v.says(id, "Thank you. It is paid.")
	payment := "/console/payment?id=" + url.QueryEscape(id+"/1")
	assert.Contains(t, v.get("/console/"), "Password", "it leads to the login")
	status, text := v.do(http.MethodGet, payment, nil)
	assert.Equal(t, http.StatusForbidden, status)
	assert.NotContains(t, text, id)
	for _, wrong := range []url.Values{{"name": {"Robin"}, "password": {"wrong"}}, {"password": {v.password}}} {
		status, text = v.do(http.MethodPost, "/login", wrong)
		assert.Equal(t, http.StatusForbidden, status)
		assert.Contains(t, text, "That is not the password")
	}
	robin, kim := v.another(), v.another()
	robin.logIn("Robin")
	kim.logIn("Kim")
	page := kim.get(payment)
	robin.refund(id, "all", "") // before settlement it is a void
	v.says(id, "Your payment was cancelled")
	assert.Zero(t, v.net(id))
	form := url.Values{"id": {id + "/1"}, "version": {kim.hidden(page, "version")}, "write": {kim.hidden(page, "write")}, "currency": {"AUD"}, "how": {"all"}, "note": {"me too"}, "sure": {"yes"}}
	status, text = kim.do(http.MethodPost, "/console/refund", form)
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, text, "Something has happened to the payment since your page was shown")
	assert.Contains(t, kim.get(payment), "by Robin")
	robin.get("/logout")
	status, _ = robin.do(http.MethodGet, payment, nil)
	assert.Equal(t, http.StatusForbidden, status)
	assert.Equal(t, nextOrder, v.pay(id, v.token(sandbox.CardAttempted)).Next, "a cancelled order can be paid again")
	v.says(id, "Thank you. It is paid.")
}

// Six streams and many changes: each tab hears the version that the pages show in the end.
func TestStreams(t *testing.T) {
	t.Parallel()
	v := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	heard := make([]string, 6)
	for i := range heard {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.origin+"/events", http.NoBody)
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(r) //nolint:bodyclose // by who reads it
		require.NoError(t, err)
		go func() {
			defer answer.Body.Close()
			for buffer := make([]byte, 100); ; {
				n, err := answer.Body.Read(buffer)
				if err != nil {
					return
				}
				mu.Lock()
				heard[i] = strings.TrimSpace(strings.TrimPrefix(string(buffer[:n]), "data: "))
				mu.Unlock()
			}
		}()
	}
	id := v.buy()
	assert.Equal(t, nextOrder, v.pay(id, v.token(sandbox.CardAttempted)).Next)
	v.says(id, "Thank you. It is paid.")
	version := regexp.MustCompile(`data-version="([^"]+)"`)
	shown := ""
	require.Eventually(t, func() bool {
		shown = version.FindStringSubmatch(v.get("/orders/" + id))[1]
		mu.Lock()
		defer mu.Unlock()
		for _, one := range heard {
			if one != shown {
				return false
			}
		}
		return true
	}, time.Minute, 20*time.Millisecond)
	v.post("/trouble", "do", "lost-on")
	require.NotEqual(t, shown, version.FindStringSubmatch(v.get("/"))[1], "a switch changes what is shown")
}

// In each state, for each reason, the page says that an order is paid if it is, and offers a payment if it may be paid.
func TestSays(t *testing.T) {
	t.Parallel()
	reasons := []durable.Reason{
		durable.ReasonNone, durable.ReasonRejected, durable.ReasonRefused, durable.ReasonTooLate, durable.ReasonCancelled, durable.ReasonMoneyBack, durable.ReasonNothingLeft,
		durable.ReasonOtherPaid, durable.ReasonSuspended, durable.ReasonReversed, durable.ReasonImpossible, durable.ReasonAltered,
		durable.ReasonRestored, durable.ReasonUnresolved, durable.ReasonNotFound, durable.ReasonLookupsFailed, durable.ReasonDoubleCharged,
	}
	for _, state := range durable.States() {
		for _, reason := range reasons {
			w := durable.Write{ID: "ORDER-1/1", Order: "ORDER-1", Standing: durable.Standing{State: state, Reason: reason}, Amount: price()}
			a := accountOf(order{ID: "ORDER-1"}, []durable.Write{w}, nil)
			text := a.Title + " " + a.Text
			assert.Equal(t, w.MayPayAgain(), a.MayPay, text)
			assert.Equal(t, w.Paid(), strings.Contains(text, "You have been charged") || strings.Contains(text, "You were charged twice"), "%s: %s", w.Name(), text)
			assert.Equal(t, !w.MayPayAgain() && !w.Paid(), strings.Contains(text, "Please do not pay again"), "%s: %s", w.Name(), text)
			never := state == durable.StateDeclined || state == durable.StateNotSent
			assert.Equal(t, never, strings.Contains(text, "You have not been charged.") || strings.Contains(text, "not been charged by this one"), "%s: %s", w.Name(), text)
			assert.False(t, a.Claim == claimPaid && !w.Paid() || a.Claim == claimNotPaid && !w.MayPayAgain(), w.Name())
		}
	}
	one := durable.Write{Order: "ORDER-1", Standing: durable.Standing{State: durable.StateDeclined}, Amount: price()}
	two := one
	two.State, two.Reason = durable.StateNeedsPerson, durable.ReasonNotFound
	assert.False(t, accountOf(order{}, []durable.Write{one, two}, nil).MayPay, "an older payment that may be charged counts")
}

// The shop is for this machine: not for other names of it, other sites, and other addresses.
func TestGuard(t *testing.T) {
	t.Parallel()
	v := open(t)
	for _, change := range []func(r *http.Request){
		func(r *http.Request) { r.Host = "shop.example:80" },
		func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.origin+"/trouble", strings.NewReader("do=kill"))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		change(r)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		answer.Body.Close()
		assert.GreaterOrEqual(t, answer.StatusCode, 400)
	}
	assert.NotContains(t, v.get("/trouble"), "Killed")
	_, err := listen(t.Context(), "0.0.0.0:0")
	require.Error(t, err)
	policy, err := http.Get(v.origin)
	require.NoError(t, err)
	policy.Body.Close()
	assert.NotContains(t, policy.Header.Get("Content-Security-Policy"), "unsafe")
	status, _ := v.do(http.MethodGet, "/orders/ORDER-1", nil)
	assert.Equal(t, http.StatusNotFound, status)
}

// A decline that OnOutcome is notified of late does not open an order that another payment has paid.
func TestLateDecline(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "shop.db"))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), schema+`INSERT INTO shop_order (id, number, form, placed) VALUES ('A', 1, 'f', 0)`)
	require.NoError(t, err)
	for _, step := range []struct {
		payment string
		state   durable.State
		want    string
	}{{"2", durable.StateApproved, "paid"}, {"1", durable.StateDeclined, "paid"}, {"2", durable.StateVoided, "open"}} {
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		w := durable.Write{ID: step.payment, Order: "A", Amount: price(), Standing: durable.Standing{State: step.state}}
		require.NoError(t, markOrder(t.Context(), tx, durable.OutcomeChange{Write: w}))
		require.NoError(t, tx.Commit())
		var state string
		require.NoError(t, db.QueryRowContext(t.Context(), "SELECT state FROM shop_order").Scan(&state))
		assert.Equal(t, step.want, state)
	}
}
