package enginetest

import (
	"database/sql"
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// orders returns the orders that a page lists.
func (p reply) orders() (orders []string) {
	for _, found := range regexp.MustCompile(`<a href="payment\?id=[^"]*">([^<]*)</a>`).FindAllStringSubmatch(p.body, -1) {
		orders = append(orders, html.UnescapeString(found[1]))
	}
	return orders
}

// link returns where a link of a page leads.
func (p reply) link(text string) string {
	p.Helper()
	found := regexp.MustCompile(`<a href="([^"]*)"[^>]*>` + text).FindStringSubmatch(p.body)
	require.NotNil(p, found, "there is no link %q in\n%s", text, p.body)
	return html.UnescapeString(found[1])
}

// A list of many pages has each payment once, the newest first, and its tabs have those of their state.
func TestConsoleLists(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	var wanted []string
	for i := range 120 {
		order := fmt.Sprintf("order %03d", i)
		o.pay(order, o.card(sandbox.CardAttempted))
		wanted = append([]string{order}, wanted...)
	}
	eventually(o.T, func() bool { o.Daily(); return len(o.health().Writes) == 0 }, "all are settled")
	refusal := o.ends("declined", "declined", o.card("4111111111444496"))
	for tab, orders := range map[string][]string{"approved": wanted, "": append([]string{"declined"}, wanted...), "declined": {"declined"}, "open": nil, "ended": nil} {
		var all []string
		page := o.get("reader", "payments?tab="+tab)
		for all = page.orders(); strings.Contains(page.body, ">Older<"); all = append(all, page.orders()...) {
			page = o.get("reader", page.link("Older"))
		}
		assert.Equal(t, orders, all, "tab %q", tab)
	}
	assert.Equal(t, []string{"declined"}, o.get("reader", "payments?find="+url.QueryEscape(refusal.ID)).orders())
	assert.Equal(t, http.StatusUnprocessableEntity, o.get("reader", "payments?from=yesterday").status)
	assert.Equal(t, http.StatusInternalServerError, o.get("reader", "payments?after=x").status)
}

// A search finds an amount, days in Sydney, and a customer, whose reference is in no address.
func TestConsoleSearch(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	params := o.card(sandbox.CardAttempted)
	params.CustomerReferenceNumber, params.PrincipalAmount = "customer-77", decimal.New(7777, -2)
	o.ends("theirs", "theirs", params)
	o.paid("ANOTHER")
	assert.Equal(t, []string{"ANOTHER"}, o.get("jo", "payments?find=anoth").orders())
	today := o.Now().In(sydney(t)).Format("2/1/2006")
	assert.Equal(t, []string{"theirs"}, o.get("jo", "payments?find=%2477.77").orders())
	assert.Equal(t, []string{"theirs"}, o.get("jo", "payments?find=77.77&from="+today+"&to="+today).orders())
	assert.Empty(t, o.get("jo", "payments?to=2020-01-01").orders())
	assert.Equal(t, http.StatusSeeOther, o.send("jo", http.MethodPost, "find", url.Values{"find": {" "}}).status, "nobody sees all payments as those of one")
	page := o.send("jo", http.MethodPost, "find", url.Values{"find": {"customer-77"}})
	assert.Equal(t, []string{"theirs"}, page.orders())
	assert.NotContains(t, strings.Join(regexp.MustCompile(`(href|action|data-address)="[^"]*"`).FindAllString(page.body, -1), " "), "customer-77")
	mistyped := o.send("jo", http.MethodPost, "find", url.Values{"find": {"customer-78"}})
	assert.Equal(t, http.StatusOK, mistyped.status, "it is in no address either")
	assert.Contains(t, mistyped.body, "Nothing was found.")
}

func sydney(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Australia/Sydney")
	require.NoError(t, err)
	return zone
}

// An export has each write once, over many pages, and no formula that a spreadsheet computes.
func TestConsoleExport(t *testing.T) {
	t.Parallel()
	o := openOffice(t)
	const formula = `=HYPERLINK("https://elsewhere.example")`
	p := o.paid(formula)
	require.NoError(t, o.Tx(func(tx *sql.Tx) error {
		for i := range 1200 {
			order, source := fmt.Sprint("order ", i), quickstream.FromSingleUseToken(fmt.Sprint("token ", i))
			if _, _, err := o.Engine().Pay(t.Context(), tx, durable.NewWrite{ID: order, Order: order, Title: "\uff1d1+1"}, params(source)); err != nil {
				return err
			}
		}
		return nil
	}))
	answer := o.send("jo", http.MethodPost, "export", url.Values{})
	require.Equal(t, http.StatusOK, answer.status)
	assert.Contains(t, answer.header.Get("Content-Disposition"), "attachment")
	lines, err := csv.NewReader(strings.NewReader(answer.body)).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 1202)
	ids := map[string]bool{}
	for _, line := range lines[1:] {
		ids[line[2]] = true
		for _, cell := range line {
			assert.NotRegexp(t, "^[ \u200b]*[=+@\uff1d-]", cell)
		}
	}
	assert.Len(t, ids, 1201)
	oldest := lines[1201]
	assert.Equal(t, "'"+formula, oldest[3])
	assert.Equal(t, p.ReceiptNumber, oldest[9])
	assert.Regexp(t, `\+1[01]:00$`, oldest[0], "in Sydney")
	one := o.send("jo", http.MethodPost, "export", url.Values{"tab": {"approved"}})
	assert.Equal(t, 2, strings.Count(one.body, "\n"))
}
