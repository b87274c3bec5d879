package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// keeping returns a client of a service that keeps the bodies of requests and refuses them.
func keeping(t *testing.T) (client *quickstream.Client, bodies *[]string) {
	t.Helper()
	bodies = new([]string)
	return clientOf(t, func(r *http.Request) (*http.Response, error) {
		if r.Body == nil {
			r.Body = http.NoBody
		}
		body, err := io.ReadAll(r.Body)
		*bodies = append(*bodies, string(body))
		return answer(http.StatusUnprocessableEntity, `{"developerMessage":"No."}`), err
	}), bodies
}

type (
	// ownWords writes itself.
	ownWords struct{ words string }
	note     struct {
		Note
		Unsent string `json:"-"`
		unsent string
	}
	Note struct {
		Text string `json:"text"`
	}
)

func (o ownWords) MarshalJSON() ([]byte, error) { return []byte(o.words), nil }

// requests are ways to send a text, each in another place of a request.
func requests(t *testing.T, c *quickstream.Client, text string) map[string]func() error {
	t.Helper()
	ctx := t.Context()
	pay := func(change func(*quickstream.PayParams), opts ...quickstream.CallOption) func() error {
		return func() error {
			params := payment()
			change(&params)
			return second(c.Transactions.Pay(ctx, params, opts...))
		}
	}
	do := func(body any) func() error {
		return func() error {
			return c.Do(ctx, quickstream.Request{Method: http.MethodPost, Route: "/notes", Body: body}, nil)
		}
	}
	card := approvedCard()
	card.CardholderName = text
	agreement := currentAgreement(t)
	described := currentAgreement(t)
	described.PaymentDetails.Description = text
	return map[string]func() error{
		"a field":               pay(func(p *quickstream.PayParams) { p.Comment = text }),
		"a name of metadata":    pay(func(p *quickstream.PayParams) { p.Metadata = map[string]string{text: "a"} }),
		"a value of metadata":   pay(func(p *quickstream.PayParams) { p.Metadata = map[string]string{"a": text} }),
		"a card":                pay(func(p *quickstream.PayParams) { p.Source = quickstream.FromCard(card) }),
		"an extra field":        pay(func(*quickstream.PayParams) {}, quickstream.WithExtraField("new", []any{map[string]string{"a": text}})),
		"an extra field's name": pay(func(*quickstream.PayParams) {}, quickstream.WithExtraField("new."+text, 1)),
		"a bank account": pay(func(p *quickstream.PayParams) {
			p.Source = quickstream.FromBankAccount(quickstream.BankAccountDetails{AccountName: text, BSB: "032-999", AccountNumber: quickstream.NewSecret("999994")})
		}),
		"a secret": pay(func(p *quickstream.PayParams) {
			p.Source = quickstream.FromBankAccount(quickstream.BankAccountDetails{AccountName: "Ann", BSB: "032-999", AccountNumber: quickstream.NewSecret(text)})
		}),
		"an agreement": func() error {
			params := agreementParams("REF-1")
			params.Payment.Description = text
			return second(c.PayTo.Create(ctx, "C-1", params))
		},
		"a change of details": func() error {
			details, err := described.Details()
			return errors.Join(err, c.PayTo.AmendUnilaterally(ctx, details))
		},
		"a change of terms": func() error {
			terms, err := agreement.Terms()
			terms.AdditionalInformation = text
			return errors.Join(err, c.PayTo.AmendBilaterally(ctx, terms))
		},
		"a customer": func() error {
			return second(c.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: text}))
		},
		"an update": func() error {
			return second(c.Customers.Update(ctx, "C-1", quickstream.UpdateCustomerParams{Address: &quickstream.Address{City: text}}))
		},
		"a registration": func() error {
			return second(c.Accounts.Register(ctx, "C-1", quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromSingleUseToken(text)}))
		},
		"a token": func() error {
			return second(c.SingleUseTokens.Create(ctx, quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: "SHOP", Account: card}))
		},
		"Do, a text": do(text), "Do, a map": do(map[string]any{"a": []any{text}}), "Do, a key": do(map[string]int{text: 1}), "Do, a slice": do([]*string{&text}),
		"Do, a struct": do(&note{Note: Note{text}}), "Do, JSON": do(json.RawMessage(`{"a":"` + text + `"}`)),
	}
}

// plans are ways to store a text in an intent.
func plans(t *testing.T, c *quickstream.Client, text string) map[string]func() (quickstream.Intent, error) {
	t.Helper()
	ctx := t.Context()
	params := payment()
	params.Source = quickstream.FromAccount("A-1", quickstream.AccountTypeCreditCard)
	pay := func(change func(*quickstream.PayParams)) func() (quickstream.Intent, error) {
		return func() (quickstream.Intent, error) {
			params := params
			change(&params)
			return c.Transactions.Plan(ctx, params)
		}
	}
	agreement := currentAgreement(t)
	return map[string]func() (quickstream.Intent, error){
		"a field":             pay(func(p *quickstream.PayParams) { p.Comment = text }),
		"a name of metadata":  pay(func(p *quickstream.PayParams) { p.Metadata = map[string]string{text: "a"} }),
		"a value of metadata": pay(func(p *quickstream.PayParams) { p.Metadata = map[string]string{"a": text} }),
		"a token": func() (quickstream.Intent, error) {
			return c.Accounts.Plan(ctx, "C-1", quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromSingleUseToken(text)})
		},
		"a change of details": func() (quickstream.Intent, error) {
			details, err := agreement.Details()
			if err != nil {
				return quickstream.Intent{}, err
			}
			details.PayeeReference = text
			return c.PayTo.Plan(ctx, details)
		},
		"a change of terms": func() (quickstream.Intent, error) {
			terms, err := agreement.Terms()
			if err != nil {
				return quickstream.Intent{}, err
			}
			terms.AdditionalInformation = text
			return c.PayTo.Plan(ctx, terms)
		},
	}
}

// TestTextsOfRequests: a text that is not valid UTF-8 would arrive as another one. The
// request is refused before anything is sent or stored, whatever encoding/json makes of it.
func TestTextsOfRequests(t *testing.T) {
	for _, text := range []string{"Ann\xff", "Ann\xed\xa0\x80", "Ann\xc3"} {
		client, bodies := keeping(t)
		for name, send := range requests(t, client, text) {
			err := send()
			require.ErrorIs(t, err, quickstream.ErrNotSent, "%s %q", name, text)
			require.ErrorContains(t, err, "not valid UTF-8", "%s %q", name, text)
			assert.NotContains(t, err.Error(), "Ann", name)
		}
		for name, plan := range plans(t, client, text) {
			intent, err := plan()
			require.ErrorIs(t, err, quickstream.ErrNotSent, "%s %q", name, text)
			require.ErrorContains(t, err, "not valid UTF-8", "%s %q", name, text)
			assert.Empty(t, intent, name)
			assert.NotContains(t, err.Error(), "Ann", name)
		}
		assert.Empty(t, *bodies, "%q", text)
	}
}

// TestReplacementSign: U+FFFD is a text like any other. It is sent and stored as it is.
func TestReplacementSign(t *testing.T) {
	const text = "Ann \ufffd"
	client, bodies := keeping(t)
	for name, send := range requests(t, client, text) {
		*bodies = nil
		require.ErrorIs(t, send(), quickstream.ErrInvalid, name)
		require.Len(t, *bodies, 1, name)
		assert.Contains(t, (*bodies)[0], text, name)
	}
	for name, plan := range plans(t, client, text) {
		intent, err := plan()
		require.NoError(t, err, name)
		assert.Contains(t, string(intent.Request), text, name)
	}
}

// TestOwnWords: what a MarshalJSON of the caller's writes is sent as it stands, and what is
// not sent is not judged.
func TestOwnWords(t *testing.T) {
	client, bodies := keeping(t)
	for want, body := range map[string]any{
		`{"a":"\ufffd"}`: ownWords{`{"a":"\ufffd"}`}, `["\ufffd"]`: []ownWords{{`"\ufffd"`}}, `"/w=="`: []byte("\xff"),
		`{"text":"a"}`: note{Note: Note{"a"}, Unsent: "\xff", unsent: "\xff"},
	} {
		*bodies = nil
		err := client.Do(t.Context(), quickstream.Request{Method: http.MethodPost, Route: "/notes", Body: body}, nil)
		require.ErrorIs(t, err, quickstream.ErrInvalid)
		assert.Equal(t, []string{want}, *bodies)
	}
	*bodies = nil
	err := second(client.Transactions.Pay(t.Context(), payment(), quickstream.WithExtraField("new", ownWords{`"\ufffd"`})))
	require.ErrorIs(t, err, quickstream.ErrInvalid)
	require.Len(t, *bodies, 1)
	assert.Contains(t, (*bodies)[0], `"new":"\ufffd"`)

	loop := map[string]any{}
	loop["a"] = loop
	err = client.Do(t.Context(), quickstream.Request{Method: http.MethodPost, Route: "/notes", Body: loop}, nil)
	require.ErrorIs(t, err, quickstream.ErrNotSent)
}

// TestTextsOfStoredIntents: a stored request that is not valid UTF-8 any more would be read
// as another one. It is not sent, and not renewed either.
func TestTextsOfStoredIntents(t *testing.T) {
	client, bodies := keeping(t)
	claim := func(context.Context) error { t.Error("claimed"); return nil }
	for name, plan := range plans(t, client, "Ann") {
		intent, err := plan()
		require.NoError(t, err, name)
		intent.Request = json.RawMessage(strings.Replace(string(intent.Request), "Ann", "A\xff", 1))
		require.False(t, utf8.Valid(intent.Request), name)
		for _, i := range []quickstream.Intent{intent, intent.Renewed()} {
			switch service, _, _ := strings.Cut(string(i.Operation), "."); service {
			case "Transactions":
				_, err = client.Transactions.Submit(t.Context(), i, claim)
			case "Accounts":
				_, err = client.Accounts.Submit(t.Context(), i, claim)
			default:
				err = client.PayTo.Submit(t.Context(), i, claim)
			}
			require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, name)
		}
	}
	assert.Empty(t, *bodies)
}

// TestTextsOfAgreements: what an agreement holds and the client does not model is sent
// back with an amendment, as it came or not at all.
func TestTextsOfAgreements(t *testing.T) {
	client, bodies := keeping(t)
	agreement := new(quickstream.Agreement)
	require.NoError(t, agreement.UnmarshalJSON([]byte(strings.Replace(currentJSON, `"T1"`, "\"T\xff\"", 1))))
	terms, err := agreement.Terms()
	require.NoError(t, err)
	require.ErrorIs(t, client.PayTo.AmendBilaterally(t.Context(), terms), quickstream.ErrNotSent)
	_, err = client.PayTo.Plan(t.Context(), terms)
	require.ErrorIs(t, err, quickstream.ErrNotSent)
	assert.Empty(t, *bodies)
}
