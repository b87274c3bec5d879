package webhooks_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// An inbox is a table of verified notifications under their ID and digest. The
// endpoint only stores; a job reads what is there, and confirms and acts on it.
func Example_inbox() {
	type key struct{ id, digest string } // the table's unique key
	inbox := map[key][]byte{}
	secret := webhooks.NewSecret("the subscription's secret")
	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{secret})
	if err != nil {
		fmt.Println(err)
		return
	}
	endpoint := webhooks.NewHandler(verifier, func(_ context.Context, n *webhooks.Notification) error {
		inbox[key{n.ID, n.Digest()}] = n.Raw() // INSERT ... ON CONFLICT DO NOTHING
		return nil
	})

	// The service delivers one notification twice.
	n, err := webhooks.NewNotification(webhooks.EventTypePayToAgreementConfirmed,
		quickstream.Agreement{AgreementToken: "AGR0001", Status: quickstream.AgreementStatusActive})
	if err != nil {
		fmt.Println(err)
		return
	}
	signer := webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: secret}
	for range 2 {
		request, err := signer.NewRequest(context.Background(), "https://merchant.example/webhooks", n)
		if err != nil {
			fmt.Println(err)
			return
		}
		response := httptest.NewRecorder()
		endpoint.ServeHTTP(response, request)
		fmt.Println(response.Code)
	}

	// The job. Put the function into ConfirmWith, so that the API is asked.
	act := func(_ context.Context, n *webhooks.Notification) error {
		event, err := n.Event()
		if err != nil {
			return err // stored all the same, for a human to look at
		}
		switch event := event.(type) {
		case *webhooks.AgreementEvent:
			fmt.Println("agreement", event.Agreement.Status)
		case *webhooks.PaymentEvent:
			fmt.Println("payment", event.Transaction.Status)
		}
		return nil
	}
	for stored, body := range inbox {
		n, err := webhooks.Parse(body)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(n.Digest() == stored.digest, act(context.Background(), n))
	}
	// Output:
	// 200
	// 200
	// agreement ACTIVE
	// true <nil>
}
