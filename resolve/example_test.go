package resolve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// tenOClock is 10:00 on a Wednesday in Sydney.
var tenOClock = time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC)

// exampleShop is a simulator of the service and a client of it.
func exampleShop(opts ...sandbox.Option) (*sandbox.Sandbox, *quickstream.Client) {
	box := sandbox.New(append(opts, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.LookupLag = 0 }))...)
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box),
		quickstream.WithHTTPClient(box.HTTPClient()), quickstream.WithClock(box.Now))
	if err != nil {
		panic(err)
	}
	return box, client
}

// exampleOrder is the order of the examples.
func exampleOrder() quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: decimal.RequireFromString("49.95"), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), CustomerReferenceNumber: "ORDER-1",
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		Source:           quickstream.FromCard(sandboxtest.Card("4242424242424242")),
	}
}

// A job runs at NextLook: it reads the case, looks up once, and stores the case as JSON.
func ExamplePolicy_LookUp() {
	ctx := context.Background()
	clock := sandbox.NewClock(tenOClock)
	box, client := exampleShop(sandbox.WithClock(clock))
	defer box.Close()
	box.NextTransaction(sandbox.Erred().ThenAfter(6*time.Hour, sandbox.Approved())) // the service itself does not know yet
	payment, err := client.Transactions.Pay(ctx, exampleOrder())
	result := resolve.After(payment, err, clock.Now())
	fmt.Println("hold it:", result.Status == resolve.ResultOpen)

	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	stored, err := json.Marshal(result.Case)
	for err == nil {
		var state resolve.Case
		if err = json.Unmarshal(stored, &state); err != nil {
			break
		}
		if state.Status.Final() {
			fmt.Println("then:", state.Outcome)
			return
		}
		clock.Advance(state.NextLook.Sub(clock.Now())) // the queue waits
		state = policy.Next(state, policy.LookUp(ctx, client.Transactions, state), clock.Now())
		fmt.Println(state.Seen.Outcome, "-", state.Status)
		stored, err = json.Marshal(state)
	}
	fmt.Println(err)
	// Output:
	// hold it: true
	// unknown - open
	// approved - settled
	// then: approved
}

// The schedule for a payment that is never found: soon and often, after the cut-off, daily at the
// same time, and finally not_found.
func ExamplePolicy_Next() {
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	state := resolve.Begin(quickstream.Intent{
		Version: quickstream.IntentVersion, Operation: "Transactions.Pay", Reference: "ORDER-1", MadeAt: tenOClock,
	}, tenOClock)
	for !state.Status.Final() {
		now := state.NextLook
		state = policy.Next(state, resolve.Observation{Result: resolve.LookupNone}, now)
		fmt.Printf("after %v: %s, step %d\n", now.Sub(tenOClock), state.Status, state.Step)
	}
	fmt.Println("and looked at on:", !state.NextLook.IsZero())
	// Output:
	// after 0s: open, step 0
	// after 5s: open, step 0
	// after 20s: open, step 0
	// after 1m20s: open, step 0
	// after 5m20s: open, step 0
	// after 21m20s: open, step 0
	// after 1h25m20s: open, step 1
	// after 8h30m0s: open, step 2
	// after 32h30m0s: open, step 2
	// after 56h30m0s: open, step 2
	// after 80h30m0s: open, step 2
	// after 104h30m0s: open, step 2
	// after 128h30m0s: open, step 2
	// after 152h30m0s: open, step 2
	// after 176h30m0s: not_found, step 0
	// and looked at on: true
}

// An event may come before a look-up. Its transaction counts once webhooks.ConfirmWith has read it
// from the API, and if it is the one that was asked for.
func ExampleObserve_event() {
	ctx := context.Background()
	clock := sandbox.NewClock(tenOClock)
	box, client := exampleShop(sandbox.WithClock(clock))
	defer box.Close()
	box.NextTransaction(sandbox.Erred().ThenAfter(time.Hour, sandbox.Declined("54")))
	payment, err := client.Transactions.Pay(ctx, exampleOrder())
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	state := *resolve.After(payment, err, clock.Now()).Case

	clock.Advance(time.Hour)
	fromEvent, err := client.Transactions.Get(ctx, state.Intent.ReceiptNumber)
	if err != nil {
		fmt.Println(err)
		return
	}
	state = policy.Next(state, resolve.Observe(state.Intent.Match(fromEvent)), clock.Now())
	fmt.Println(state.Status, state.Outcome, "-", state.Seen.NextStep)
	// Output: settled declined - pay_again
}

// If the facility lets the service retry declines, a soft decline is held until no retry can
// follow. Paying again before that may charge twice.
func ExampleServiceRetriesFor() {
	ctx := context.Background()
	clock := sandbox.NewClock(tenOClock)
	box, client := exampleShop(sandbox.WithClock(clock))
	defer box.Close()
	box.NextTransaction(sandbox.Declined("51"), sandbox.Declined("51"))
	for _, retries := range []resolve.ServiceRetries{resolve.ServiceRetriesOff(), resolve.ServiceRetriesFor(4 * 24 * time.Hour)} {
		payment, err := client.Transactions.Pay(ctx, exampleOrder())
		result := resolve.After(payment, err, clock.Now()) // open: the client was not told
		policy := resolve.DefaultPolicy(retries)
		state := policy.Next(*result.Case, policy.LookUp(ctx, client.Transactions, *result.Case), clock.Now())
		fmt.Println(state.Status)
	}
	// Output:
	// settled
	// open
}
