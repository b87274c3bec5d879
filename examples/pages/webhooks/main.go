// Command webhooks is the program of docs/webhooks.md.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/shopspring/decimal"
	_ "modernc.org/sqlite" // the driver

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// inbox is a table of notifications. A redelivery has the same id and digest.
type inbox struct{ db *sql.DB }

const schema = `CREATE TABLE IF NOT EXISTS notifications (
	id TEXT, digest TEXT, body BLOB, done INTEGER DEFAULT 0, PRIMARY KEY (id, digest))`

// endpoint is what you serve at the address that you enter in the portal.
func (in inbox) endpoint(secret string) (http.Handler, error) {
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{secret})
	if err != nil {
		return nil, err
	}
	return webhooks.NewInbox(verifier, in.keep), nil
}

// keep runs in the request. It stores, and does nothing else.
func (in inbox) keep(ctx context.Context, n *webhooks.Notification) error {
	_, err := in.db.ExecContext(ctx, `INSERT INTO notifications (id, digest, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, n.ID, n.Digest(), n.Raw())
	if err != nil {
		return err
	}
	var same int
	err = in.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM notifications WHERE id = ?`, n.ID).Scan(&same)
	if err == nil && same > 1 {
		return webhooks.ErrConflict // one id with two contents: a person looks at it
	}
	return err
}

// work is a job. A notification that fails is tried again at the next run.
func (in inbox) work(ctx context.Context, client *quickstream.Client) error {
	rows, err := in.db.QueryContext(ctx, `SELECT body FROM notifications WHERE done = 0`)
	if err != nil {
		return err
	}
	var bodies [][]byte
	for rows.Next() {
		var body []byte
		err = errors.Join(err, rows.Scan(&body))
		bodies = append(bodies, body)
	}
	err = errors.Join(err, rows.Close(), rows.Err())
	confirmed := webhooks.ConfirmWith(client, act)
	for _, body := range bodies {
		n, failed := webhooks.Parse(body)
		if failed == nil {
			failed = confirmed(ctx, n)
		}
		if failed == nil {
			_, failed = in.db.ExecContext(ctx, `UPDATE notifications SET done = 1 WHERE id = ? AND digest = ?`, n.ID, n.Digest())
		}
		err = errors.Join(err, failed)
	}
	return err
}

// act gets what the API says now. It may run twice for one notification.
func act(_ context.Context, n *webhooks.Notification) error {
	event, err := n.Event()
	switch event := event.(type) {
	case *webhooks.AgreementEvent:
		fmt.Println(n.EventType, "and the API says", event.Agreement().Status)
	case *webhooks.PaymentEvent:
		fmt.Println(n.EventType, "and the API says", event.Transaction().Outcome())
	}
	return err
}

func run(ctx context.Context) error {
	box, client, err := sandboxtest.Open()
	if err != nil {
		return err
	}
	defer box.Close()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return err
	}
	table := inbox{db}
	const secret = "the subscription's secret"
	endpoint, err := table.endpoint(secret)
	if err != nil {
		return err
	}
	if err := box.Subscribe(sandbox.Subscription{Handler: endpoint, Secret: secret, Scheme: signature.AssumedHMAC{}}); err != nil { // in the portal
		return err
	}
	box.NextDelivery(sandbox.DeliveryFault{Twice: true}) // the service delivers at least once
	if err := confirmAgreement(ctx, box, client); err != nil {
		return err
	}
	if err := box.Flush(ctx); err != nil { // until the notifications have arrived
		return err
	}
	return table.work(ctx, client)
}

// confirmAgreement makes the service notify: a payer confirms an agreement.
func confirmAgreement(ctx context.Context, box *sandbox.Sandbox, client *quickstream.Client) error {
	customer, err := client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: "C-1001", CustomerName: "Ann Example"})
	if err != nil {
		return err
	}
	agreement, err := client.PayTo.Create(ctx, customer.CustomerID, quickstream.CreateAgreementParams{
		PayeeReference: "BROADBAND-1001",
		Payment: quickstream.AgreementPaymentDetails{
			Purpose: quickstream.AgreementPurposeUtility, Description: "Broadband", StartDate: quickstream.DateOf(time.Now().Add(48 * time.Hour)), AutomaticRenewal: true,
		},
		Terms: quickstream.AgreementTermsParams{
			Frequency: quickstream.AgreementFrequencyMonthly, Type: quickstream.AgreementTypeVariable,
			MaximumPaymentAmount: new(decimal.RequireFromString("150.00")),
		},
		Payer: quickstream.AgreementPayerParams{
			Type: quickstream.PayerTypePerson, ID: "C-1001", Name: "Ann Example",
			PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret("ann@example.com"),
		},
	})
	if err != nil {
		return err
	}
	return box.Payer(agreement.AgreementToken, sandbox.ConfirmAgreement)
}
