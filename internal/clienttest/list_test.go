package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// pages serves a list of customers, whose pages are kept by their page number.
// {next} stands for the address of the next page.
func pages(asked *int, bodies ...string) service {
	return func(r *http.Request) (*http.Response, error) {
		*asked++
		page := 0
		_, _ = fmt.Sscan(r.URL.Query().Get("page"), &page)
		next := fmt.Sprintf("%s/customers?customerName=%s&page=%d", baseURL, url.QueryEscape(r.URL.Query().Get("customerName")), page+1)
		return answer(200, strings.ReplaceAll(bodies[page], "{next}", next)), nil
	}
}

func pageOf(next string, numbers ...string) string {
	links := ""
	if next != "" {
		href, _ := json.Marshal(next)
		links = fmt.Sprintf(`{"rel":"next","href":%s}`, href)
	}
	for i, number := range numbers {
		numbers[i] = fmt.Sprintf(`{"customerId":%q,"customerNumber":%q}`, number, number)
	}
	return fmt.Sprintf(`{"links":[%s],"data":[%s]}`, links, strings.Join(numbers, ","))
}

// read returns the items of a list, and the error that ended it.
func read(ctx context.Context, list quickstream.List[quickstream.Customer]) (ids []string, err error) {
	for item, err := range list.All(ctx) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, item.CustomerID)
	}
	return ids, nil
}

// TestListWithoutARequest: a zero List is empty, and ListOf is one page.
func TestListWithoutARequest(t *testing.T) {
	one := &quickstream.Customer{CustomerID: "1"}
	for want, list := range map[string]quickstream.List[quickstream.Customer]{"": {}, "1": quickstream.ListOf(one)} {
		for _, list := range []quickstream.List[quickstream.Customer]{list, list.Prefetch(), list.From(quickstream.ParseCursor(secretAddress()))} {
			ids, err := read(t.Context(), list)
			require.NoError(t, err)
			assert.Equal(t, want, strings.Join(ids, ""))
			first, err := list.First(t.Context())
			if want == "" {
				require.ErrorIs(t, err, quickstream.ErrNotFound)
				continue
			}
			require.NoError(t, err)
			assert.Equal(t, one, first)
		}
	}
}

func TestListReadsAllPages(t *testing.T) {
	asked := 0
	client := clientOf(t, pages(&asked, pageOf("{next}", "1", "2"), pageOf("{next}"), pageOf("", "3")))
	list := client.Customers.List(quickstream.ListCustomersParams{CustomerName: "A&b ü/?"})
	assert.Zero(t, asked, "a list is a description")
	for range 2 { // and can be read again
		ids, err := read(t.Context(), list)
		require.NoError(t, err)
		assert.Equal(t, []string{"1", "2", "3"}, ids)
	}
	assert.Equal(t, 6, asked)

	asked = 0
	first, err := list.First(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "1", first.CustomerID)
	assert.Equal(t, 1, asked, "no more is read than is needed")
	for range list.All(t.Context()) {
		break
	}
	for page, err := range list.Pages(t.Context()) {
		require.NoError(t, err)
		assert.Len(t, page.Data, 2)
		break
	}
	assert.Equal(t, 3, asked)

	empty, err := clientOf(t, pages(&asked, pageOf("{next}"), pageOf(""))).Customers.List(quickstream.ListCustomersParams{}).First(t.Context())
	assert.ErrorIs(t, err, quickstream.ErrNotFound)
	assert.ErrorIs(t, err, quickstream.ErrNotFound)
	assert.Nil(t, empty)
	assert.Equal(t, 5, asked, "an empty page is not the end")
}

// TestCursorsAreStored: a list goes on where it was left, in another process.
func TestCursorsAreStored(t *testing.T) {
	asked := 0
	client := clientOf(t, pages(&asked, pageOf("{next}", "1"), pageOf("{next}", "2"), pageOf("", "3")))
	list := client.Customers.List(quickstream.ListCustomersParams{})
	var stored []string
	for page, err := range list.Pages(t.Context()) {
		require.NoError(t, err)
		stored = append(stored, page.Next.Text())
		assert.Equal(t, page.Next.IsZero(), page.Data[0].CustomerID == "3")
		assert.NotContains(t, fmt.Sprintf("%v%+v%#v", page.Next, page.Next, page.Next), "page=")
	}
	require.Len(t, stored, 3)
	for i, want := range [][]string{{"2", "3"}, {"3"}, {"1", "2", "3"}} {
		resumed, err := read(t.Context(), list.From(quickstream.ParseCursor(stored[i])))
		require.NoError(t, err)
		assert.Equal(t, want, resumed)
	}
	all, err := read(t.Context(), list)
	require.NoError(t, err)
	assert.Len(t, all, 3, "From leaves the list as it was")
}

// TestNextLinks: a link is the service's view of itself, and its query is all that is
// used. One that leads to something else is an error, and never the end of the list.
func TestNextLinks(t *testing.T) {
	long := strings.Repeat("x", 8<<10)
	for name, next := range map[string]string{
		"outside":              "https://api.invalid/other/customers",
		"another list":         "https://api.invalid/rest/v1/payment-files?page=1",
		"a list below":         "https://api.invalid/rest/v1/customers/pages?page=1",
		"a list of a resource": "https://api.invalid/rest/v1/shops/7/customers?page=1",
		"a name like the list": "https://api.invalid/rest/v1/ex-customers?page=1",
		"dots":                 "https://api.invalid/rest/v1/customers/../../other",
		"escaped dots":         "https://api.invalid/rest/v1/customers/%2e%2e/%2E%2e/other",
		"host only":            "https://api.invalid",
		"opaque":               "https:api.invalid",
		"not a URL":            "https://api.invalid/rest/v1/%zz",
		"control character":    "https://api.invalid/rest/v1/\u0001",
		"blank":                " ",
		"too long":             "https://api.invalid/rest/v1/customers?page=1&x=" + long,
		"back to the start":    "#x",
		"the keys":             "/rest/v1/api-keys/latest",
		"the keys, relative":   "../api-keys/latest",
		"the keys, by dots":    "customers/../api-keys/latest",
		"the keys, escaped":    "/rest/v1/customers/%2e%2e/api-keys/latest",
		"an item":              "/rest/v1/customers/7",
		"the root":             "/rest/v1?page=1",
		"a parameter":          "/rest/v1/customers;x",
		"another case":         "/rest/v1/CUSTOMERS",
		"a name that folds":    "/rest/v1/customer\u017f",
	} {
		asked := 0
		client := clientOf(t, pages(&asked, pageOf(next, "1"), pageOf("", "2")))
		ids, err := read(t.Context(), client.Customers.List(quickstream.ListCustomersParams{}))
		assert.Equal(t, decoding, ending(err), "%s: %v", name, err)
		assert.Equal(t, []string{"1"}, ids, name)
		assert.Equal(t, 1, asked, name)
		assert.NotContains(t, fmt.Sprint(err), "page=1")
		if next == "#x" {
			continue
		}
		_, err = read(t.Context(), client.Customers.List(quickstream.ListCustomersParams{}).From(quickstream.ParseCursor(next)))
		assert.Equal(t, decoding, ending(err), "%s, stored: %v", name, err)
		assert.Equal(t, 1, asked, name)
	}
	for name, next := range map[string]string{
		"absolute": "https://api.invalid/rest/v1/customers?page=1", "another host": "https://internal.invalid:8443/rest/v1/customers?page=1",
		"another host, no scheme": "//internal.invalid/rest/v1/customers?page=1", "user": "https://user:x@internal.invalid/rest/v1/customers?page=1", "no host": "https:///rest/v1/customers?page=1", "upper case host": "https://API.invalid/rest/v1/customers?page=1",
		"default port": "https://api.invalid:443/rest/v1/customers?page=1", "the port behind a proxy": "https://api.invalid:8443/rest/v1/customers?page=1",
		"http": "http://api.invalid/rest/v1/customers?page=1", "upper case scheme": "HTTPS://api.invalid/rest/v1/customers?page=1",
		"no scheme": "//api.invalid/rest/v1/customers?page=1", "from the root": "/rest/v1/customers?page=1", "relative": "customers?page=1",
		"query only": "?page=1", "another version prefix": "/v1/customers?page=1", "no version prefix": "https://api.invalid/customers?page=1",
		"slash at the end": baseURL + "/customers/?page=1", "escaped": "/rest/v1/%63ustomers?page=1", "fragment": baseURL + "/customers?page=1#x",
	} {
		asked, sent := 0, ""
		service := pages(&asked, pageOf(next, "1"), pageOf("", "2"))
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			sent = r.URL.String()
			return service(r)
		})
		for _, list := range []quickstream.List[quickstream.Customer]{
			client.Customers.List(quickstream.ListCustomersParams{}),
			client.Customers.List(quickstream.ListCustomersParams{}).From(quickstream.ParseCursor(next)),
		} {
			ids, err := read(t.Context(), list)
			assert.NoError(t, err, name)
			assert.Equal(t, "2", ids[len(ids)-1], name)
			assert.Equal(t, baseURL+"/customers?page=1", sent, "%s: the base and the path are ours", name)
		}
	}
}

// TestItemsOfAnotherParent are unreadable, and hide no other item.
func TestItemsOfAnotherParent(t *testing.T) {
	client := clientOf(t, says(200, `{"data":[{"accountToken":"1","customerId":"C-1"},{"accountToken":"2","customerId":"C-2"},{"accountToken":"3"},{"accountToken":"4","customerId":"c-1 "}]}`))
	var got []string
	for account, err := range client.Accounts.List("C-1").All(t.Context()) {
		if err != nil {
			require.ErrorIs(t, err, quickstream.ErrUnreadableItem)
			account = &quickstream.Account{AccountToken: "?"}
		}
		got = append(got, account.AccountToken)
	}
	assert.Equal(t, []string{"1", "?", "3", "4"}, got)
}

// TestBrokenPages: a page that cannot be read is an error after what came before
// it, and never an empty page.
func TestBrokenPages(t *testing.T) {
	for name, second := range map[string]string{
		"no data": `{"links":[]}`, "nothing": `{}`, "null item": `{"data":[{"customerId":"2"},null]}`, "data is an object": `{"data":{"customerId":"2"}}`,
		"array": `[]`, "null": `null`, "empty": ``, "HTML": `<html>`, "an item twice over": `{"data":[{"customerId":"2","customerId":"3"}]}`,
		"data twice": `{"data":[],"data":[]}`, "an error body": errorBody, "text items": `{"data":["2"]}`, "links are no list": `{"links":{"next":"?page=2"},"data":[]}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			ids, err := read(t.Context(), clientOf(t, pages(&asked, pageOf("{next}", "1"), second)).Customers.List(quickstream.ListCustomersParams{}))
			assert.Equal(t, "1", ids[0], name)
			assert.Equal(t, decoding, ending(err), "%s: %v", name, err)
		})
	}
	for name, failure := range map[string]service{
		"404": says(404, ""), "500": says(500, ""), "lost": func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF },
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			good := pages(&asked, pageOf("{next}", "1"))
			ids, err := read(t.Context(), clientOf(t, func(r *http.Request) (*http.Response, error) {
				if r.URL.Query().Get("page") != "" {
					return failure(r)
				}
				return good(r)
			}).Customers.List(quickstream.ListCustomersParams{}))
			assert.Error(t, err, name)
			assert.NotErrorIs(t, err, quickstream.ErrNotFound, "%s: there is a list, and a part of it is missing", name)
			assert.Equal(t, []string{"1"}, ids, name)
			if name == "404" {
				api, ok := errors.AsType[*quickstream.APIError](err)
				assert.True(t, ok && api.StatusCode == 404)
				_, err = read(t.Context(), clientOf(t, failure).Customers.List(quickstream.ListCustomersParams{}).From(quickstream.ParseCursor("?page=1")))
				assert.NotErrorIs(t, err, quickstream.ErrNotFound)
				_, err = read(t.Context(), clientOf(t, failure).Customers.List(quickstream.ListCustomersParams{}))
				assert.ErrorIs(t, err, quickstream.ErrNotFound, "of the first page")
			}
		})
	}
	for _, empty := range []string{`{"data":[]}`, `{"data":null}`, `{"data":{}}`, `{"data":null,"links":null}`, `{"data":[],"links":{}}`} {
		asked := 0
		client := clientOf(t, pages(&asked, pageOf("{next}", "1"), empty))
		ids, err := read(t.Context(), client.Customers.List(quickstream.ListCustomersParams{}))
		require.NoError(t, err, empty)
		assert.Equal(t, []string{"1"}, ids)
		ids, err = read(t.Context(), clientOf(t, says(200, empty)).Customers.List(quickstream.ListCustomersParams{}))
		require.NoError(t, err, empty)
		assert.Empty(t, ids)
	}
}

// TestUnreadableItems: one item that cannot be read does not hide the others, and is
// not passed over in silence.
func TestUnreadableItems(t *testing.T) {
	unreadable := []string{`null`, `"x"`, `[]`, `7`, `{}`, `{"customerNumber":"2"}`, `{"customerId":{}}`, `{"customerId":"2","customerId":"3"}`, `{"customerId":"2","CUSTOMERID":"3"}`}
	for _, bad := range unreadable {
		asked := 0
		client := clientOf(t, pages(&asked, `{"data":[{"customerId":"1"},`+bad+`,{"customerId":"3"}],"links":[{"rel":"next","href":"{next}"}]}`, `{"data":[`+bad+`]}`))
		list, got := client.Customers.List(quickstream.ListCustomersParams{}), []string{}
		for item, err := range list.All(t.Context()) {
			if err == nil {
				got = append(got, item.CustomerID)
				continue
			}
			assert.Nil(t, item)
			require.ErrorIs(t, err, quickstream.ErrUnreadableItem, bad)
			unread, ok := errors.AsType[*quickstream.DecodeError](err)
			require.True(t, ok)
			got = append(got, string(unread.RawBody()))
		}
		assert.Equal(t, []string{"1", bad, "3", bad}, got)
		assert.Equal(t, 2, asked, "nothing was asked again")
		for page, err := range list.Pages(t.Context()) {
			require.NoError(t, err)
			assert.Len(t, page.Unreadable, 1)
		}
		first, err := list.First(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "1", first.CustomerID)
		first, err = list.From(quickstream.ParseCursor("?page=1")).First(t.Context())
		require.ErrorIs(t, err, quickstream.ErrUnreadableItem, "the first is not skipped")
		assert.Nil(t, first)
	}
	for n, want := range map[int]bool{100: true, 101: false} {
		client := clientOf(t, says(200, `{"data":[{"customerId":"1"}`+strings.Repeat(`,{}`, n)+`]}`), quickstream.WithMaxAttempts(1))
		items, errs, last := 0, 0, error(nil)
		for _, err := range client.Customers.List(quickstream.ListCustomersParams{}).All(t.Context()) {
			if last = err; err == nil {
				items++
			} else {
				errs++
			}
		}
		assert.Equal(t, want, items == 1 && errs == n && errors.Is(last, quickstream.ErrUnreadableItem), n)
		assert.Equal(t, !want, items == 0 && errs == 1 && ending(last) == decoding && !errors.Is(last, quickstream.ErrUnreadableItem), n)
	}
}

// TestNextLinkWithoutAddress: there is more, and nobody says where. That is not
// the end of the list.
func TestNextLinkWithoutAddress(t *testing.T) {
	for _, link := range []string{
		`{"rel":"next","href":""}`, `{"rel":"next","href":null}`, `{"rel":"next"}`, `{"rel":"NEXT"}`, `{"rel":"next","href":{}}`, `{"rel":["next"],"href":"?page=1"}`,
		`"?page=1"`, `{"rel":"self","rel":"next"}`, `{"Rel":"next","href":"?page=1"}`, `{"rel":"next","HREF":"?page=1"}`,
	} {
		client := clientOf(t, says(200, `{"links":[`+link+`],"data":[]}`), quickstream.WithMaxAttempts(1))
		_, err := client.Customers.List(quickstream.ListCustomersParams{}).First(t.Context())
		assert.Equal(t, decoding, ending(err), link)
	}
}

// TestReadAll: a list counts once it has one page, or two readings agree.
func TestReadAll(t *testing.T) {
	pages := func(other string) [][]object {
		return [][]object{{{"receiptNumber": "R-1"}}, {{"receiptNumber": other}}}
	}
	for _, c := range []struct {
		readings        [][][]object
		requests, items int
	}{
		{[][][]object{{{}}}, 1, 0},
		{[][][]object{{{{"receiptNumber": "R-1"}}}}, 1, 1},
		{[][][]object{pages("R-2")}, 4, 2},
		{[][][]object{pages("R-2"), pages("R-3"), pages("R-3")}, 6, 2},
		{[][][]object{pages("R-2"), pages("R-3"), pages("R-4"), pages("R-5")}, 8, -1},
		{[][][]object{pages("R-2")[:1], nil}, 1, 1},
		{[][][]object{{{}, {}}, {{}, {{"receiptNumber": "R-2"}}}}, 6, 1},
		{[][][]object{pages("R-2"), {{{"receiptNumber": "R-2"}}, {{"receiptNumber": "R-1"}}}, pages("R-3")}, 4, 2},
		{[][][]object{{{{"receiptNumber": "R-1"}, {}}}}, 4, -1},
		{[][][]object{{nil}}, 1, -1},
		{[][][]object{pages("R-2"), {{}}}, 5, -1}, // it was seen to hold something
	} {
		requests, list := 0, lookedUp(c.readings...)
		client := clientOf(t, func(r *http.Request) (*http.Response, error) { requests++; return list(r) })
		items, err := client.Transactions.Retries("R-0").ReadAll(t.Context())
		assert.Equal(t, c.requests, requests)
		assert.Len(t, items, max(c.items, 0))
		assert.Equal(t, c.items < 0, err != nil, "%v", err)
	}
	items, err := quickstream.ListOf(new(quickstream.Transaction)).ReadAll(t.Context())
	require.NoError(t, err)
	assert.Len(t, items, 1)
}

// TestReadAllHasABound: a list that never ends fails in bounded memory.
func TestReadAllHasABound(t *testing.T) {
	requests := 0
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		requests++
		return says(200, fmt.Sprintf(`{"links":[{"rel":"next","href":"?page=%d"}],"data":[]}`, requests))(r)
	})
	_, err := client.Transactions.Retries("R-0").ReadAll(t.Context())
	require.ErrorContains(t, err, "more than 1000 pages")
	assert.Equal(t, 1001, requests)
}
