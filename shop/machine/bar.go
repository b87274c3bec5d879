package machine

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox"
)

// barView is what stands above every page: where the others are, what is switched on, and what the ledger says.
type barView struct {
	Shop, Bank string
	Order      string // that the page is about; "" if it is about none
	Live       bool   // the page may ask for news
	Now        nowView
	On         string // the labels of the switches that are on
	Verdict    string
	Good       bool
}

// bar is that of a page about an order, which is in the state that the page shows. Without an order it says whether
// anybody was charged twice.
func (t *trouble) bar(order, state string) barView {
	v := barView{Shop: t.machine.origin, Bank: t.machine.service + sandbox.PayerPage, Order: order, Live: true, Now: t.view()}
	var labels []string
	for _, f := range faults() {
		if strings.Contains(" "+v.Now.On+" ", " "+f.Name+" ") {
			labels = append(labels, f.Label)
		}
	}
	v.On, v.Verdict, v.Good = strings.Join(labels, "; "), v.Now.Verdict, v.Now.Good
	if order != "" {
		v.Verdict, v.Good = compared(accountOf(v.Now.Accounts, order), state)
	}
	return v
}

// accountOf is what an order has cost; nothing if the ledger does not have it.
func accountOf(list []account, order string) account {
	for _, a := range list {
		if strings.EqualFold(a.Order, order) {
			return a
		}
	}
	return account{}
}

// compared says what the ledger has of an order, and whether the shop's page says the same.
func compared(a account, state string) (words string, good bool) {
	switch {
	case a.Charges == 0:
		words = "The ledger: this order is not charged."
	case a.Net == 0:
		words = "The ledger: this order was charged, and all of it given back."
	case a.Charges == 1:
		words = "The ledger: this order was charged once, and has cost " + money(a.Net) + "."
	default:
		words = fmt.Sprintf("The ledger: this order was charged %d times, and has cost %s.", a.Charges, money(a.Net))
	}
	switch state {
	case "approved":
		good = a.Charges > 0 && a.Net <= a.Entries[0].Amount
	case "twice":
		good = a.Charges > 1
	case "new", "challenge", "declined", "refused", "unsent", "voided", "returned":
		good = a.Net == 0
	case "":
		return words, !a.Twice()
	default:
		return words + " The shop says that it does not know yet.", true
	}
	if !good {
		return words + " This page says otherwise.", false
	}
	return words + " The shop says the same.", true
}

var (
	orderPattern   = regexp.MustCompile(`^/(?:orders|checkout)/([0-9a-z-]+)`)
	consolePattern = regexp.MustCompile(`<dt>Order</dt><dd>([0-9a-z-]+)</dd>`)
	statePattern   = regexp.MustCompile(`id="status"[^>]* data-state="([a-z]+)"`)
)

// addBar puts the bar into a page of the shop's program.
func (t *trouble) addBar(answer *http.Response) error {
	if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html") || answer.Request.Method == http.MethodHead {
		return nil
	}
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	first := func(in []byte, pattern *regexp.Regexp) string {
		if found := pattern.FindSubmatch(in); found != nil {
			return string(found[1])
		}
		return ""
	}
	order := first([]byte(answer.Request.URL.Path), orderPattern)
	if order == "" {
		order = first(page, consolePattern)
	}
	page = t.above(page, t.bar(order, first(page, statePattern)))
	answer.Body = io.NopCloser(bytes.NewReader(page))
	answer.ContentLength = int64(len(page))
	answer.Header.Set("Content-Length", strconv.Itoa(len(page)))
	return nil
}

// above puts the bar before a page's header, after the link that skips it, or before the main part of a page without one.
func (t *trouble) above(page []byte, v barView) []byte {
	var bar bytes.Buffer
	if err := t.templates.ExecuteTemplate(&bar, "bar", v); err != nil {
		return page
	}
	at := bytes.Index(page, []byte("<header"))
	if at < 0 {
		at = bytes.Index(page, []byte("<main"))
	}
	if at < 0 {
		return page
	}
	return bytes.Join([][]byte{page[:at], bar.Bytes(), page[at:]}, nil)
}
