package sandbox

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCustomerLifeCycle(t *testing.T) {
	bubble(t, func(c *caller) {
		full := object{
			"customerNumber": "C-1", "customerName": "Kim Lee", "supplierBusinessCode": DefaultBusiness,
			"phoneNumber": "+61400000000", "emailAddress": "kim@example.com", "preferredNotificationMedium": "EMAIL",
			"address": object{"street1": "1 Main St", "city": "Sydney", "state": "NSW", "postcode": "2000", "country": "AU"},
		}
		created := c.must(201, c.post("/customers", full))
		id := created["customerId"].(string)
		assert.Regexp(t, `^[1-9]\d{8}$`, id)
		assert.Equal(t, "ENABLED", created["status"])
		assert.Equal(t, "1 Main St", created["address"].(object)["street1"])
		assert.Nil(t, created["address"].(object)["street2"])
		assert.Empty(t, linkOf(created, "self"))
		path := "/customers/" + id
		assert.Equal(t, created, c.must(200, c.get(path)))

		updated := c.must(200, c.do("PUT", path, c.keys.Secret, object{"enabled": false, "emailAddress": nil}))
		assert.Equal(t, "DISABLED", updated["status"])
		assert.Nil(t, updated["emailAddress"])
		assert.Equal(t, "Kim Lee", updated["customerName"])
		assert.Equal(t, "+61400000000", updated["phoneNumber"])
		updated = c.must(200, c.do("PUT", path, c.keys.Secret, object{"enabled": true, "customerNumber": "C-2", "customerName": "Kim"}))
		assert.Equal(t, []any{"ENABLED", "C-2", "Kim"}, []any{updated["status"], updated["customerNumber"], updated["customerName"]})

		// The old number is free again, the new one is taken.
		c.must(201, c.post("/customers", object{"customerNumber": "C-1", "customerName": "Other"}))
		assert.Equal(t, "belongs to another customer",
			c.findings(c.post("/customers", object{"customerNumber": "C-2", "customerName": "Other"}))["customerNumber"])
		assert.Contains(t, c.findings(c.do("PUT", path, c.keys.Secret, object{"customerNumber": "C-1"})), "customerNumber")
		c.must(200, c.do("PUT", path, c.keys.Secret, object{"customerNumber": "C-2"}))

		c.must(404, c.get("/customers/1"))
		c.must(404, c.do("PUT", "/customers/1", c.keys.Secret, object{}))
	})
	bubble(t, func(c *caller) {
		id := c.must(200, c.post("/customers", object{"customerNumber": "1", "customerName": "K", "emailAddress": "k@example.com"}))["customerId"].(string)
		body := c.must(200, c.do("PUT", "/customers/"+id, c.keys.Secret, object{"phoneNumber": "+61400000000"}))
		assert.Equal(t, []any{"K", nil, "+61400000000"}, []any{body["customerName"], body["emailAddress"], body["phoneNumber"]})
	}, assuming(func(a *Assumptions) { a.PutRemovesOmitted, a.OtherAnswers = true, "200" }))
}

func TestInternationalPhones(t *testing.T) {
	bubble(t, func(c *caller) {
		assert.Contains(t, c.findings(c.post("/customers", object{"customerNumber": "1", "customerName": "K", "phoneNumber": "0400000000"})), "phoneNumber")
		c.must(201, c.post("/customers", object{"customerNumber": "1", "customerName": "K", "phoneNumber": "+61400000000"}))
	}, assuming(func(a *Assumptions) { a.InternationalPhones = true }))
}

// TestNullInAnUpdate tests each meaning of null.
func TestNullInAnUpdate(t *testing.T) {
	for meaning, want := range map[string]any{"removes": nil, "ignored": "k@example.com", "refused": "k@example.com"} {
		bubble(t, func(c *caller) {
			path := "/customers/" + c.must(201, c.post("/customers", object{"customerNumber": "1", "customerName": "K", "emailAddress": "k@example.com"}))["customerId"].(string)
			out := c.do("PUT", path, c.keys.Secret, `{"customerName":"L","emailAddress":null}`)
			if meaning == "refused" {
				assert.Equal(t, map[string]string{"emailAddress": "must not be null"}, c.findings(out))
			} else {
				assert.Equal(t, "L", c.must(200, out)["customerName"])
			}
			assert.Equal(t, want, c.must(200, c.get(path))["emailAddress"], meaning)
		}, assuming(func(a *Assumptions) { a.NullInPut = meaning }))
	}
}

func TestCustomerSearchAndPages(t *testing.T) {
	bubble(t, func(c *caller) {
		ids := map[string]bool{}
		for i := range 7 {
			body := c.must(201, c.post("/customers", object{
				"customerNumber": fmt.Sprint(i), "customerName": fmt.Sprintf("Kim Lee %d", i), "emailAddress": fmt.Sprintf("k%d@example.com", i),
			}))
			ids[body["customerId"].(string)] = true
		}
		count := func(query string) int { return len(c.must(200, c.get("/customers"+query))["data"].([]any)) }
		assert.Equal(t, 1, count("?customerNumber=3"))
		assert.Equal(t, 0, count("?customerNumber=33"))
		assert.Equal(t, 1, count("?customerName=lee%204"))
		assert.Equal(t, 1, count("?emailAddress=K4@&customerName=kim"))
		assert.Equal(t, 0, count("?emailAddress=k4@&customerNumber=5"))

		var seen []string
		var prev []string
		for href := "/customers?customerName=kim"; href != ""; {
			page := c.must(200, c.get(href))
			require.LessOrEqual(t, len(page["data"].([]any)), 3)
			for _, item := range page["data"].([]any) {
				seen = append(seen, item.(object)["customerId"].(string))
			}
			prev = append(prev, linkOf(page, "prev"))
			href = linkOf(page, "next")
		}
		assert.Len(t, seen, 7)
		assert.IsIncreasing(t, seen)
		for _, id := range seen {
			assert.True(t, ids[id])
		}
		require.Len(t, prev, 3)
		assert.Empty(t, prev[0])
		back := c.must(200, c.get(prev[2]))
		assert.Equal(t, seen[3], back["data"].([]any)[0].(object)["customerId"])

		for _, bad := range []string{"x", "%21", "R0VUIC8AMQ"} {
			assert.Contains(t, c.findings(c.get("/customers?page="+bad)), "page")
		}
	})
	bubble(t, func(c *caller) {
		c.must(201, c.post("/customers", object{"customerNumber": "1", "customerName": "Kim"}))
		assert.Empty(t, c.must(200, c.get("/customers?customerName=kim"))["data"])
		assert.Len(t, c.must(200, c.get("/customers?customerName=Ki"))["data"], 1)
	}, assuming(func(a *Assumptions) { a.SearchIgnoresCase = false }))
}
