package browsertest

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color/palette" //nolint:misspell // its name
	"image/draw"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// picture writes what a window of this height shows, in 256 colours: a README loads it each time.
func (p *tab) picture(name string, height int64) {
	p.Helper()
	p.do(chromedp.EmulateViewport(1000, height), chromedp.Evaluate[chromedp.Void]("document.activeElement?.blur(); scrollTo(0, 0); undefined"))
	shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p, err)
	full, err := png.Decode(bytes.NewReader(shot))
	require.NoError(p, err)
	few := image.NewPaletted(full.Bounds(), palette.Plan9)
	draw.Draw(few, few.Bounds(), full, full.Bounds().Min, draw.Src)
	var out bytes.Buffer
	require.NoError(p, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few))
	require.Less(p, out.Len(), 120<<10, name)
	directory := cmp.Or(os.Getenv("SHOP_PICTURES"), p.TempDir())
	require.NoError(p, os.WriteFile(filepath.Join(directory, name+".png"), out.Bytes(), 0o600))
}

// The pages of the documentation's pictures can be reached, and their pictures are small. .ci/pictures keeps them,
// and starts the sandbox's command for the picture of its page.
func TestPictures(t *testing.T) {
	p := open(t)
	p.order("beans")
	p.pay(noFunds)
	p.becomes("declined")
	p.machine.Sandbox().NextTransaction(sandbox.Erred().ThenAfter(36*time.Hour, sandbox.Approved()))
	p.order("cup")
	p.pay(visa)
	p.becomes("unknown")
	p.order("pot")
	p.fill(visa)
	p.picture("shop-checkout", 700)
	p.click("#pay-button")
	p.becomes("approved")
	p.picture("shop-paid", 480)
	staff := p.office("")
	staff.waitFor("document.querySelectorAll('#rows tbody tr').length === 3")
	staff.picture("console", 604)
	if page := os.Getenv("SANDBOX"); page != "" {
		p.useSandbox(page)
		p.expect("a request to " + page)
		p.do(chromedp.Navigate(page + "/"))
		p.waitFor("document.querySelector('#state')?.innerText === 'This page is live.'")
		p.picture("sandbox", 960)
	}
}

// useSandbox makes payments at the sandbox's command, and an event that is delivered.
func (p *tab) useSandbox(page string) {
	p.Helper()
	received := make(chan bool, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { received <- true }))
	defer receiver.Close()
	control := func(path, body string) {
		r, err := http.NewRequestWithContext(p.Context(), http.MethodPost, page+path, strings.NewReader(body))
		require.NoError(p, err)
		answer, err := http.DefaultClient.Do(r)
		require.NoError(p, err)
		require.NoError(p, answer.Body.Close())
	}
	control("/subscriptions", fmt.Sprintf(`{"url":%q,"secret":"whsec"}`, receiver.URL+"/"))
	client, err := quickstream.NewClient(quickstream.CustomURL(os.Getenv("QUICKSTREAM_ENVIRONMENT")), quickstream.KeysFromEnv())
	require.NoError(p, err)
	for i, card := range []string{visa, noFunds, sandbox.CardAttempted} {
		_, err := client.Transactions.Pay(p.Context(), quickstream.PayParams{
			SupplierBusinessCode: sandbox.DefaultBusiness, CustomerReferenceNumber: fmt.Sprintf("ORDER-%d", 1042+i), ECI: quickstream.ECIPhone,
			Source: quickstream.FromCard(sandboxtest.Card(card)), PrincipalAmount: decimal.RequireFromString("49.95"), Currency: quickstream.CurrencyAUD,
			StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		})
		require.NoError(p, err)
	}
	control("/trigger/payto.agreement.declined", "")
	<-received
}
