package webhooks_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// inbox replaces a table with a unique key of id and digest.
type inbox struct{ rows []row }

type row struct {
	id, digest string
	body       []byte
	done       bool
}

// keep stores a notification and does nothing else. On a database it is one transaction with
//
//	INSERT INTO inbox (id, digest, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
//	SELECT count(*) FROM inbox WHERE id = $1
func (in *inbox) keep(_ context.Context, n *webhooks.Notification) error {
	contents := 1
	for _, known := range in.rows {
		switch {
		case known.id != n.ID:
		case known.digest == n.Digest():
			return nil // delivered again
		default:
			contents++
		}
	}
	in.rows = append(in.rows, row{id: n.ID, digest: n.Digest(), body: n.Raw()})
	if contents > 1 {
		return webhooks.ErrConflict // stored, and for somebody to look at
	}
	return nil
}

// work is the job. It leaves what it cannot confirm for its next run, because an event can precede
// the API's data.
func (in *inbox) work(ctx context.Context, confirmed webhooks.Func) {
	for i, waiting := range in.rows {
		if waiting.done {
			continue
		}
		n, err := webhooks.Parse(waiting.body)
		if err == nil {
			err = confirmed(ctx, n)
		}
		if err != nil {
			fmt.Println("later:", err)
			continue
		}
		in.rows[i].done = true
	}
}

// act stores what the API says. It may be called repeatedly for the same agreement or payment.
func act(_ context.Context, n *webhooks.Notification) error {
	event, err := n.Event()
	if err != nil {
		return err
	}
	switch event := event.(type) {
	case *webhooks.AgreementEvent:
		fmt.Println("agreement", event.Agreement().AgreementToken, event.Agreement().Status)
	case *webhooks.PaymentEvent:
		fmt.Println("payment", event.Transaction().ReceiptNumber, event.Transaction().Status)
	}
	return nil
}

// The endpoint only stores and answers. A job confirms notifications with the API and acts on them.
func Example_inbox() {
	secret := webhooks.NewSecret("the subscription's secret")
	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{secret})
	if err != nil {
		fmt.Println(err)
		return
	}
	table := new(inbox)
	endpoint := webhooks.NewInbox(verifier, table.keep,
		webhooks.WithFailureReport(func(_ context.Context, f webhooks.Failure) { fmt.Println("look at this:", f.Err) }))

	// The service delivers a notification twice, and then with other content.
	const first = `{"id":"8e3c","eventType":"payto.agreement.confirmed","data":{"agreementToken":"AGR0001","status":"ACTIVE"}}`
	signer := webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: secret}
	for _, body := range []string{first, first, strings.Replace(first, "ACTIVE", "SUSPENDED", 1)} {
		request, err := signer.NewRequestWithBody(context.Background(), "https://merchant.example/webhooks", []byte(body))
		if err != nil {
			fmt.Println(err)
			return
		}
		response := httptest.NewRecorder()
		endpoint.ServeHTTP(response, request)
		fmt.Println(response.Code)
	}

	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"agreementToken": "AGR0001", "status": "SUSPENDED"}`)
	}))
	defer service.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(service.URL+"/rest/v1"),
		quickstream.Keys{Secret: quickstream.NewSecretKey("secret-key")})
	if err != nil {
		fmt.Println(err)
		return
	}
	table.work(context.Background(), webhooks.ConfirmWith(client, act))
	// Output:
	// 200
	// 200
	// look at this: webhooks: a notification with this id had other content
	// 200
	// agreement AGR0001 SUSPENDED
	// agreement AGR0001 SUSPENDED
}
