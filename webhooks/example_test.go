package webhooks_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

func ExampleNotification_Event() {
	n, err := webhooks.Parse([]byte(`{
		"id": "0b0c7c36-5c1f-4a8e-9b77-2f6f0a4f9d11",
		"timestamp": "2024-02-08T00:12:50+1100",
		"eventType": "payto.payment.approved",
		"data": {"receiptNumber": "1000000001", "status": "Approved", "summaryCode": "0"}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	event, err := n.Event()
	if err != nil {
		fmt.Println(err)
		return
	}
	switch event := event.(type) {
	case *webhooks.PaymentEvent:
		fmt.Println(event.Transaction().ReceiptNumber, event.Transaction().Status)
	case *webhooks.AgreementEvent:
		fmt.Println(event.Agreement().AgreementToken, event.Agreement().Status)
	case *webhooks.UnknownEvent:
		// An event type of no interest, or a new one.
		fmt.Println(n.EventType, len(event.Data()))
	}
	// Output: 1000000001 Approved
}

func ExampleNewHandler() {
	const secret = "the subscription's secret"
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{secret})
	if err != nil {
		fmt.Println(err)
		return
	}
	save := func(_ context.Context, n *webhooks.Notification) error {
		// An error asks for redelivery.
		fmt.Println("saved", n.EventType)
		return nil
	}
	handler := webhooks.NewHandler(verifier, save, webhooks.WithStore(new(webhooks.MemoryStore)))

	// In a test, a Signer plays the service.
	signer := webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: secret}
	forger := webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: "a forger's guess"}
	notification, err := webhooks.NewNotification(webhooks.EventTypePayToAgreementConfirmed,
		quickstream.Agreement{AgreementToken: "AGR0001", Status: quickstream.AgreementStatusActive})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range []webhooks.Signer{signer, signer, forger} { // the second is a duplicate
		request, err := s.NewRequest(context.Background(), "https://merchant.example/webhooks", notification)
		if err != nil {
			fmt.Println(err)
			return
		}
		response := httptest.NewRecorder()
		handler.ServeHTTP(response, request)
		fmt.Println(response.Code)
	}
	// Output:
	// saved payto.agreement.confirmed
	// 200
	// 200
	// 401
}

func ExampleConfirmWith() {
	// The service knows one agreement, which is active.
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/rest/v1/payto-agreements/AGR0001":
			_, _ = io.WriteString(w, `{"agreementToken": "AGR0001", "status": "ACTIVE"}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer service.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(service.URL+"/rest/v1"),
		quickstream.Keys{Secret: quickstream.NewSecretKey("secret-key")})
	if err != nil {
		fmt.Println(err)
		return
	}

	handle := webhooks.ConfirmWith(client, func(_ context.Context, n *webhooks.Notification) error {
		event, err := n.Event()
		if err != nil {
			return err
		}
		if event, ok := event.(*webhooks.AgreementEvent); ok { // as the API describes it now
			fmt.Println(event.Agreement().AgreementToken, event.Agreement().Status)
		}
		return nil
	})
	for _, token := range []string{"AGR0001", "AGR0002"} {
		n, err := webhooks.NewNotification(webhooks.EventTypePayToAgreementConfirmed,
			quickstream.Agreement{AgreementToken: token, Status: quickstream.AgreementStatusSuspended})
		if err != nil {
			fmt.Println(err)
			return
		}
		err = handle(context.Background(), n)
		fmt.Println(errors.Is(err, webhooks.ErrUnconfirmed), errors.Is(err, quickstream.ErrNotFound))
	}
	// Output:
	// AGR0001 ACTIVE
	// false false
	// true true
}

// The endpoint only stores and answers. A job confirms what is stored with the API, and acts on it.
func ExampleNewInbox() {
	const secret = "the subscription's secret"
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{secret})
	if err != nil {
		fmt.Println(err)
		return
	}
	// On a database: INSERT INTO inbox (id, digest, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING
	inbox := map[string][]byte{}
	endpoint := webhooks.NewInbox(verifier, func(_ context.Context, n *webhooks.Notification) error {
		inbox[n.ID+n.Digest()] = n.Raw()
		return nil
	})

	// The service delivers a notification twice.
	signer := webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: secret}
	for range 2 {
		request, err := signer.NewRequestWithBody(context.Background(), "https://merchant.example/webhooks",
			[]byte(`{"id":"8e3c","eventType":"payto.agreement.confirmed","data":{"agreementToken":"AGR0001","status":"ACTIVE"}}`))
		if err != nil {
			fmt.Println(err)
			return
		}
		response := httptest.NewRecorder()
		endpoint.ServeHTTP(response, request)
		fmt.Println(response.Code)
	}
	for _, stored := range inbox {
		n, err := webhooks.Parse(stored) // for the function of webhooks.ConfirmWith
		fmt.Println(n, err)
	}
	// Output:
	// 200
	// 200
	// webhooks.Notification("8e3c", payto.agreement.confirmed) <nil>
}
