package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// answering is a client of a service that gives every request the same answer; with no status it breaks off.
func answering(t *testing.T, status int, body string, opts ...quickstream.ClientOption) *quickstream.Client {
	t.Helper()
	keys := quickstream.Keys{Secret: quickstream.NewSecretKey("S"), Publishable: quickstream.NewPublishableKey("P")}
	opts = append(opts, quickstream.WithoutResend(), quickstream.WithHTTPClient(&http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if status == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})}))
	client, err := quickstream.NewClient(quickstream.CustomURL("https://api.invalid/rest/v1"), keys, opts...)
	require.NoError(t, err)
	return client
}

// unkeyed is a client whose source of keys fails.
func unkeyed(t *testing.T) *quickstream.Client {
	t.Helper()
	client, err := quickstream.NewClient(quickstream.CustomURL("https://api.invalid/rest/v1"), quickstream.Keys{},
		quickstream.WithKeySource(func(context.Context) (quickstream.Keys, error) {
			return quickstream.Keys{}, errors.New("the store of secrets is down")
		}))
	require.NoError(t, err)
	return client
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// said describes a result: its status, its outcome, and the case's step, operation and receipt.
func said(r resolve.Result) string {
	text := string(r.Status)
	if r.Outcome != "" {
		text += " " + string(r.Outcome)
	}
	if c := r.Case; c != nil {
		text += fmt.Sprintf(", %s %d %s %s", c.Status, c.Step, c.Intent.Operation, c.Intent.ReceiptNumber)
	}
	return strings.TrimRight(text, " ")
}

// TestAfterACall: After judges the two results of each method.
func TestAfterACall(t *testing.T) {
	const (
		paid, soft, hard   = `"status":"Approved","summaryCode":"0"`, `"status":"Declined","summaryCode":"1","responseCode":"51"`, `"status":"Declined","summaryCode":"1","responseCode":"54"`
		rejected, pending  = `"status":"Declined","summaryCode":"3","responseCode":"QA"`, `"status":"Pending"`
		suspended, erred   = `"status":"Suspended","summaryCode":"1","responseCode":"34"`, `"status":"Declined","summaryCode":"2"`
		voided, refusal    = `"status":"Voided","summaryCode":"0"`, `{"errors":[{"fieldName":"amount","messages":["is wrong"]}]}`
		final, untold      = "final declines", ""
		pays, voids, reads = "Pay", "Void", "Get"
		collects, submits  = "Collect", "Submit of Collect"
	)
	collect := quickstream.CollectParams{
		SupplierBusinessCode: "SHOP", PrincipalAmount: exampleOrder().PrincipalAmount, Currency: quickstream.CurrencyAUD, AgreementToken: "A-1",
	}
	type answered = *quickstream.Transaction
	calls := map[string]func(*quickstream.Client) (answered, error){
		pays:     func(c *quickstream.Client) (answered, error) { return c.Transactions.Pay(t.Context(), exampleOrder()) },
		voids:    func(c *quickstream.Client) (answered, error) { return c.Transactions.Void(t.Context(), "R1") },
		reads:    func(c *quickstream.Client) (answered, error) { return c.Transactions.Get(t.Context(), "R1") },
		collects: func(c *quickstream.Client) (answered, error) { return c.PayTo.Collect(t.Context(), collect) },
		submits: func(c *quickstream.Client) (answered, error) {
			intent, err := c.Transactions.Plan(t.Context(), collect)
			require.NoError(t, err)
			return c.Transactions.Submit(t.Context(), intent, func(context.Context) error { return nil })
		},
	}
	for _, c := range []struct{ call, told, answer, want string }{
		{pays, untold, paid, "ended approved"},
		{pays, untold, hard, "ended declined"},
		{pays, untold, rejected, "ended rejected"},
		{pays, untold, soft, "open, open 1 Transactions.Pay R1"},
		{pays, final, soft, "ended declined"},
		{pays, final, suspended, "open, open 1 Transactions.Pay R1"},
		{pays, untold, pending, "open, open 1 Transactions.Pay R1"},
		{pays, untold, erred, "open, open 1 Transactions.Pay R1"},
		{pays, untold, voided, "open, open 1 Transactions.Pay R1"},
		{pays, untold, "422", "refused"},
		{pays, untold, "401", "open, open 0 Transactions.Pay"},
		{pays, untold, "", "open, open 0 Transactions.Pay"},
		{voids, untold, voided, "ended voided"},
		{voids, untold, paid, "open, open 0 Transactions.Void"},
		{voids, untold, "422", "refused"},
		{voids, untold, "", "open, open 0 Transactions.Void"},
		{collects, untold, pending, "open, open 1 PayTo.Collect R1"},
		{submits, untold, pending, "open, open 1 PayTo.Collect R1"},
		{collects, untold, paid, "ended approved"},
		{submits, untold, paid, "ended approved"},
		{collects, untold, hard, "ended declined"},
		// What is read has no intent of its own.
		{reads, untold, paid, "ended approved"},
		{reads, untold, voided, "ended voided"},
		{reads, untold, soft, "open, open 1 Transactions.Pay R1"},
		{reads, final, soft, "ended declined"},
		{reads, untold, pending, "open, open 1 Transactions.Pay R1"},
		{reads, untold, erred, "open, open 1 Transactions.Pay R1"},
		{reads, untold, "422", "open"}, // says nothing of the transaction
		{reads, untold, "401", "open"},
		{reads, untold, "", "open"},
	} {
		status, body := http.StatusOK, fmt.Sprintf(`{"receiptNumber":"R1",%s}`, c.answer)
		switch c.answer {
		case "422":
			status, body = http.StatusUnprocessableEntity, refusal
		case "401":
			status, body = http.StatusUnauthorized, "<html>"
		case "":
			status = 0
		}
		var opts []quickstream.ClientOption
		if c.told == final {
			opts = append(opts, quickstream.WithFinalDeclines(true))
		}
		client := answering(t, status, body, opts...)
		tx, err := calls[c.call](client)
		now := time.Now()
		result := resolve.After(tx, err, now)
		assert.Equal(t, c.want, said(result), "%+v: %v", c, err)
		if result.Case != nil {
			assert.True(t, result.Case.NextLook.Equal(now), "%+v", c)
		}
		for _, wrapped := range []error{fmt.Errorf("shop: %w", err), errors.Join(errors.New("the store is down"), err)} {
			if err != nil {
				assert.Equal(t, c.want, said(resolve.After(tx, wrapped, now)), "%+v: %v", c, wrapped)
			}
		}
	}
}

// TestAfterErrors: only an error that proves that a write took nothing is refused. Of several
// errors the most careful one counts.
func TestAfterErrors(t *testing.T) {
	lost := &quickstream.UnknownOutcomeError{Intent: &quickstream.Intent{Operation: quickstream.OperationPay, Reference: "A"}}
	unsent := fmt.Errorf("pay: %w", quickstream.ErrNotSent)
	read := quickstream.CallInfo{Operation: "Transactions.Get", Method: http.MethodGet}
	refused := &quickstream.APIError{Reason: quickstream.ReasonInvalid}
	client := answering(t, http.StatusOK, "")
	hooked := func(cause error) error {
		_, err := client.Transactions.Pay(t.Context(), exampleOrder(), quickstream.WithBeforeSend(func(context.Context, quickstream.Intent) error { return cause }))
		return err
	}
	plan, err := client.Transactions.PlanVoid(t.Context(), "R1")
	require.NoError(t, err)
	_, unclaimed := client.Transactions.Submit(t.Context(), plan, func(context.Context) error { return errors.New("taken") })
	_, invalid := client.Transactions.Pay(t.Context(), quickstream.PayParams{})
	unread := &quickstream.APIError{CallInfo: read, Reason: quickstream.ReasonNotFound}
	_, unsentRead := unkeyed(t).Transactions.Get(t.Context(), "R1")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nothing":                        {nil, "open"},
		"another error":                  {errors.New("mine"), "open"},
		"the context's":                  {context.Canceled, "open"},
		"unknown":                        {lost, "open, open 0 Transactions.Pay"},
		"unknown, without an intent":     {&quickstream.UnknownOutcomeError{}, "open"},
		"unknown, with a refused cause":  {&quickstream.UnknownOutcomeError{Cause: refused}, "open"},
		"declined, without transaction":  {&quickstream.DeclinedError{}, "open"},
		"pending, without transaction":   {&quickstream.PendingError{}, "open"},
		"declined":                       {&quickstream.DeclinedError{Transaction: declined("R1", "54")}, "ended declined"},
		"pending":                        {&quickstream.PendingError{Transaction: payTo("R1", "A")}, "open, open 1 Transactions.Pay R1"},
		"refused":                        {refused, "refused"},
		"not sent":                       {unsent, "refused"},
		"network":                        {&quickstream.NetworkError{}, "refused"},
		"validation":                     {invalid, "refused"},
		"a hook":                         {hooked(errors.New("no database")), "refused"},
		"a hook's own refusal":           {hooked(refused), "refused"},
		"a hook's failed read":           {hooked(unread), "refused"},
		"a hook's read without a key":    {hooked(unsentRead), "refused"},
		"a read without a key":           {unsentRead, "open"},
		"not sent, because of a read":    {fmt.Errorf("%w: the agreement: %w", quickstream.ErrNotSent, unread), "refused"},
		"a hook's own decline":           {hooked(&quickstream.DeclinedError{Transaction: declined("R1", "54")}), "ended declined"},
		"a hook's own lost call":         {hooked(lost), "open, open 0 Transactions.Pay"},
		"before the claim":               {unclaimed, "open, open 0 Transactions.Void"},
		"of a read":                      {&quickstream.APIError{CallInfo: read, Reason: quickstream.ReasonNotFound}, "open"},
		"of a read without a connection": {&quickstream.NetworkError{CallInfo: read, Kind: quickstream.NetworkKindDNS}, "open"},
		"undecodable":                    {&quickstream.DecodeError{CallInfo: read}, "open"},
		"refused, and unknown":           {errors.Join(refused, lost), "open, open 0 Transactions.Pay"},
		"declined, and no intent":        {errors.Join(&quickstream.DeclinedError{Transaction: declined("R1", "54")}, &quickstream.UnknownOutcomeError{}), "open"},
		"refused, and no intent":         {errors.Join(refused, &quickstream.UnknownOutcomeError{}), "open"},
		"not sent, and pending":          {errors.Join(unsent, &quickstream.PendingError{Transaction: payTo("R1", "A")}), "open, open 1 Transactions.Pay R1"},
		"declined, and unknown":          {errors.Join(&quickstream.DeclinedError{Transaction: declined("R1", "54")}, lost), "open, open 0 Transactions.Pay"},
		"dialled":                        {&net.OpError{Op: "dial"}, "open"}, // not the client's
	} {
		assert.Equal(t, c.want, said(resolve.After(nil, c.err, wednesday())), name)
	}
}

// TestAfterWhatCameNext: a payment that was made counts, whatever failed after it.
func TestAfterWhatCameNext(t *testing.T) {
	refused := &quickstream.APIError{CallInfo: quickstream.CallInfo{Method: http.MethodPost}, Reason: quickstream.ReasonInvalid}
	for _, next := range []error{refused, &quickstream.UnknownOutcomeError{}, &quickstream.DeclinedError{Transaction: declined("R2", "54")}, fmt.Errorf("keep: %w", quickstream.ErrNotSent), errors.New("mine")} {
		assert.Equal(t, "ended approved", said(resolve.After(approved("R1"), next, wednesday())), next)
	}
}

// TestPlanned: a planned intent has no time, so after a crash its case counts from then, and not from the plan.
func TestPlanned(t *testing.T) {
	intent, err := answering(t, http.StatusOK, "").Transactions.PlanVoid(t.Context(), "R1")
	require.NoError(t, err)
	assert.Zero(t, intent.MadeAt)
	assert.Equal(t, wednesday(), resolve.Begin(intent, wednesday()).Intent.MadeAt)
}
