package worlds

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// What every value of the dimension Fault does to a payment: the answer to its first
// call, 0 for none, and how often it was carried out.
func TestFaultsOfWorlds(t *testing.T) {
	type end struct{ status, made int }
	want := map[string]end{
		"notSent": {0, 0}, "lostBeforeCommit": {0, 0}, "lostAfterCommit": {0, 1}, "lostTwice": {0, 1}, "hangAfterCommit": {0, 1},
		"commitLate": {0, 1}, "cutBody": {0, 1}, "slowBody": {201, 1}, "htmlFor201": {201, 1},
		"500before": {500, 0}, "500after": {500, 1}, "502after": {502, 1},
		"503own": {503, 0}, "503gateway": {503, 1}, "503errors": {503, 1}, "503html": {503, 1}, "503empty": {503, 1},
		"203for201": {203, 1}, "206for201": {206, 1}, "207for201": {207, 1}, "299for201": {299, 1},
		"twice401": {201, 1}, "twice422": {201, 1}, "twice429": {201, 1}, "twice503": {201, 1},
	}
	for _, code := range []int{400, 401, 403, 404, 405, 407, 408, 409, 411, 413, 415, 422, 425, 429, 460, 499} {
		want[strconv.Itoa(code)+"after"] = end{code, 1}
	}
	values := ofMerchant()[0].values
	require.Len(t, values, 1+len(want))
	for _, value := range values[1:] {
		w, err := Parse("Fault=" + value)
		require.NoError(t, err)
		synctest.Test(t, func(t *testing.T) {
			box := sandbox.New(w.Option())
			defer box.Close()
			require.NoError(t, box.Inject(w.Faults("POST /transactions")...))
			client := &http.Client{Transport: box.HTTPClient().Transport, Timeout: time.Hour}
			status := 0
			if resp, err := client.Do(payment(t, box)); err == nil {
				status = resp.StatusCode
				require.NoError(t, resp.Body.Close())
			}
			if value == "cutBody" {
				status = 0 // only the head of the answer arrives
			}
			<-time.After(time.Hour)
			assert.Equal(t, want[value], end{status, len(box.Ledger())}, value)
		})
	}
}

func payment(t *testing.T, box *sandbox.Sandbox) *http.Request {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"transactionType": "PAYMENT", "supplierBusinessCode": sandbox.DefaultBusiness, "principalAmount": json.Number("10.00"), "currency": "AUD",
		"eci": "PHONE", "storedCredentialData": map[string]string{"entryMode": "MANUAL"},
		"creditCard": map[string]string{"cardNumber": "4242424242424242", "expiryDateMonth": "02", "expiryDateYear": "2035", "cvn": "123"},
	})
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, box.URL()+"/transactions", bytes.NewReader(raw))
	require.NoError(t, err)
	r.SetBasicAuth(box.Keys().Secret, "")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", "k")
	return r
}
