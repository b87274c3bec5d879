package exhaustive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// beforeResolving are the points of a process up to its first look-ups.
const beforeResolving = 12

// contract is one way of a write on agreements, which moves no money: it is made, or looked
// up with the stored intent, by one process after another.
type contract struct {
	name, operation string
	class           transport.Class
	letters         []letter
	dies            int
	patience        time.Duration

	begin func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client, c *contract)
	call  func(context.Context, *quickstream.Client, ...quickstream.CallOption) error
	// look returns whether the write has happened; an error means that it is not known yet.
	look     func(context.Context, *quickstream.Client, quickstream.Intent) (bool, error)
	happened func(*sandbox.Sandbox) int
}

func (c contract) String() string {
	return fmt.Sprintf("%s, attempts meet %v, process dies at point %d", c.name, c.letters, c.dies)
}

func (l letter) String() string { return l.name }

func agreementParams() quickstream.CreateAgreementParams {
	return quickstream.CreateAgreementParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PayeeReference: "AGREEMENT-1",
		Payment: quickstream.AgreementPaymentDetails{
			Purpose: quickstream.AgreementPurposeUtility, Description: "Broadband",
			StartDate: quickstream.DateOf(time.Now().Add(14 * time.Hour)), AutomaticRenewal: true,
		},
		Terms: quickstream.AgreementTermsParams{
			Frequency: quickstream.AgreementFrequencyMonthly, Type: quickstream.AgreementTypeVariable,
			MaximumPaymentAmount: new(decimal.RequireFromString("150")),
		},
		Payer: quickstream.AgreementPayerParams{
			Type: quickstream.PayerTypePerson, ID: "P-1", Name: "Ann Example", BSB: "650000", AccountNumber: quickstream.NewSecret("111111"),
		},
	}
}

func createdAgreement() contract {
	return contract{
		name: "agreement", operation: "POST /customers/{customerId}/payto-agreements", class: transport.Post,
		begin: func(t *testing.T, _ *sandbox.Sandbox, client *quickstream.Client, c *contract) {
			customer, err := client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Ann Example"})
			require.NoError(t, err)
			params := agreementParams()
			c.call = func(ctx context.Context, client *quickstream.Client, opts ...quickstream.CallOption) error {
				_, err := client.PayTo.Create(ctx, customer.CustomerID, params, opts...)
				return err
			}
		},
		look: func(ctx context.Context, client *quickstream.Client, intent quickstream.Intent) (bool, error) {
			_, err := client.PayTo.Resume(ctx, intent)
			return err == nil, err
		},
		happened: func(box *sandbox.Sandbox) int { return len(box.Agreements()) },
	}
}

func cancelledAgreement() contract {
	return contract{
		name: "amendment", operation: "PATCH /payto-agreements/{agreementToken}", class: transport.Change,
		begin: func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client, c *contract) {
			other := createdAgreement()
			other.begin(t, box, client, &other)
			require.NoError(t, other.call(t.Context(), client))
			wait(time.Minute)
			token := box.Agreements()[0].Token
			require.NoError(t, box.Payer(token, sandbox.ConfirmAgreement))
			c.call = func(ctx context.Context, client *quickstream.Client, opts ...quickstream.CallOption) error {
				return client.PayTo.Cancel(ctx, token, quickstream.AgreementReason{Code: quickstream.AgreementReasonInitiatingParty}, opts...)
			}
		},
		look: func(ctx context.Context, client *quickstream.Client, intent quickstream.Intent) (bool, error) {
			state, err := client.PayTo.ResumeChange(ctx, intent)
			if err != nil {
				return false, err
			}
			return state.AsAsked, nil
		},
		happened: func(box *sandbox.Sandbox) (n int) {
			for _, a := range box.Agreements() {
				if a.Status == string(quickstream.AgreementStatusCancelled) {
					n++
				}
			}
			return n
		},
	}
}

func agreements(t *testing.T, c *census) { createdAgreement().grow(t, c) }

func amendments(t *testing.T, c *census) { cancelledAgreement().grow(t, c) }

// grow walks all letters at every attempt, the death of the process at every point, and
// callers whose context ends.
func (c contract) grow(t *testing.T, census *census) {
	attempts, points := c.play(t, census)
	alone := len(c.letters) == 1
	for c.dies = 1; len(c.letters) <= 1 && c.dies <= min(points, beforeResolving); c.dies++ {
		c.play(t, census)
	}
	if c.dies = 0; alone {
		c.patience = 5 * time.Second
		c.play(t, census)
		c.patience = 0
	}
	if attempts <= len(c.letters) {
		return
	}
	next := append(honest(), lies(c.class)...)
	if len(c.letters) >= 2 { // none of them was sent
		next = append(lost(), endings()...)
	}
	for _, l := range next {
		branch := c
		branch.letters = append(c.letters[:len(c.letters):len(c.letters)], l)
		branch.grow(t, census)
	}
}

// play walks the way, and returns the number of attempts and of the first process's points.
func (c contract) play(t *testing.T, census *census) (attempts, points int) {
	census.begin(c.name + "s")
	synctest.Test(t, func(t *testing.T) {
		wait(57 * time.Hour)
		box, plain := sandboxtest.New(t, sandbox.WithAssumptions(sandbox.Unkind))
		c.begin(t, box, plain, &c)
		wait(time.Minute)
		box.ResetRequests()
		inject(t, box, c.operation, c.letters)

		m := &clerk{contract: c, box: box}
		p := m.live(t, c.dies)
		points = p.points
		if p.dead {
			wait(time.Second)
			m.live(t, 0)
		}
		wait(60 * time.Hour)
		attempts = m.resp.Attempts
		reason, got := transport.Reason("no call"), transport.NotSent
		if m.called {
			reason, got = census.cell(c, c.name, c.class, m.sent, m.resp.Attempts)
		}
		census.state(box, c.name, got, reason, m.said, c.happened(box))
		if wrong := m.verdict(); wrong != "" {
			census.fails(c, wrong, fmt.Sprint(m.said, " ", m.sent), box)
		}
	})
	return attempts, points
}

// clerk makes the write, or looks it up if something may have been sent.
type clerk struct {
	contract
	box  *sandbox.Sandbox
	disk []byte
	said []word
	sent error
	resp quickstream.Response
	// called handles the end of a call in a living process.
	called bool
}

func (m *clerk) live(t *testing.T, dies int) *process {
	p := &process{dies: dies}
	p.ctx, p.cancel = context.WithCancel(t.Context())
	defer p.cancel()
	client := sandboxtest.Client(
		t, m.box, quickstream.WithMaxAttempts(4), quickstream.WithAttemptTimeout(10*time.Second),
		quickstream.WithHTTPClient(&http.Client{Transport: wire{m.box.HTTPClient().Transport, func() *process { return p }}}),
	)
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.work(t, p, client)
	}()
	<-done
	return p
}

func (m *clerk) say(p *process, said word) {
	p.point()
	m.said = append(m.said, said)
	p.point()
}

func (m *clerk) work(t *testing.T, p *process, client *quickstream.Client) {
	if len(m.said) > 0 {
		return
	}
	if m.disk == nil {
		said, unknown := m.make(t, p, client)
		if !unknown {
			m.say(p, said)
			return
		}
	}
	var intent quickstream.Intent
	require.NoError(t, json.Unmarshal(m.disk, &intent))
	for _, pause := range []time.Duration{time.Minute, time.Hour, 12 * time.Hour, 12 * time.Hour, 12 * time.Hour, 12 * time.Hour, 0} {
		p.point()
		if found, err := m.look(p.ctx, client, intent); found {
			m.say(p, isDone)
			return
		} else if err != nil {
			require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
		}
		p.point()
		wait(pause)
	}
	m.say(p, isHeld) // nothing says when an agreement that cannot be found is absent
}

// make makes the call, and reports whether its outcome is unknown.
func (m *clerk) make(t *testing.T, p *process, client *quickstream.Client) (said word, unknown bool) {
	ctx := p.ctx
	if m.patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, m.patience)
		defer cancel()
	}
	err := m.call(ctx, client, quickstream.WithResponseInto(&m.resp), quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) error {
		p.point()
		m.disk = encoded(t, intent)
		p.point()
		return nil
	}))
	if p.dead {
		runtime.Goexit()
	}
	m.sent, m.called = err, true
	switch {
	case err == nil:
		return isDone, false
	case errors.Is(err, quickstream.ErrOutcomeUnknown):
		return saysNothing, true
	case errors.Is(err, quickstream.ErrNotSent):
		return isNotSent, false
	}
	return isRefused, false
}

// verdict returns what is wrong, by the sandbox's final state.
func (m *clerk) verdict() string {
	done := m.happened(m.box)
	if done > 1 {
		return fmt.Sprintf("was carried out %d times", done)
	}
	if len(m.said) == 0 {
		return "has come to no end"
	}
	switch said := m.said[0]; {
	case said == isDone && done == 0:
		return "is done, as the merchant believes, and was not carried out"
	case said != isDone && done == 1:
		return "was carried out, and the merchant was told that it is " + string(said)
	case said == isNotSent && len(m.writes()) > 0:
		return "was sent, and the error matches ErrNotSent"
	}
	return ""
}

func (m *clerk) writes() (sent []sandbox.Request) {
	for _, r := range m.box.Requests() {
		if r.Operation == m.operation {
			sent = append(sent, r)
		}
	}
	return sent
}
