package sandbox

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTransactionAnswers(t *testing.T) {
	for form, want := range map[string]int{"receipt": 1, "required": 11} {
		inWorld(t, "UnknownMembers=none TransactionAnswers="+form, func(c *caller) {
			body := c.must(201, c.post("/transactions", cardPayment("O")))
			assert.Len(c.t, body, want)
			assert.Greater(c.t, len(c.read(receiptIn(body))), 11, "reads have it all")
			assert.Len(c.t, c.must(200, c.post("/transactions/"+receiptIn(body)+"/void", nil)), want)
			assert.Equal(c.t, "voided", c.box.Ledger()[0].Outcome)
		})
	}
}

func TestOtherAnswers(t *testing.T) {
	for form, want := range map[string]struct {
		created, registered, put, patched int
		body                              string // of the registration, how it begins
		patchedBody                       bool
	}{
		"full":   {201, 201, 200, 204, `{"links"`, false},
		"200":    {200, 200, 200, 200, `{"links"`, true},
		"empty":  {201, 201, 200, 200, "", false},
		"nested": {201, 201, 200, 204, `{"data":{"links"`, false},
		"204":    {201, 204, 204, 204, "", false},
	} {
		inWorld(t, strings.TrimSpace("PageSize=10"+otherThan("OtherAnswers", form, "full")), func(c *caller) {
			made := c.post("/customers", object{"customerNumber": "C1", "customerName": "K"})
			id := c.must(want.created, made)["customerId"].(string)
			registered := c.post("/customers/"+id+"/accounts", object{"singleUseTokenId": c.token(cardToken(goodCard))})
			put := c.do("PUT", "/customers/"+id, c.keys.Secret, object{"customerName": "L"})
			assert.Equal(c.t, []int{want.registered, want.put}, []int{registered.status, put.status})
			if want.body == "" {
				assert.Empty(c.t, registered.raw)
				assert.Empty(c.t, put.raw)
			} else {
				assert.Truef(c.t, strings.HasPrefix(string(registered.raw), want.body), "%s", registered.raw)
			}
			assert.Len(c.t, c.must(200, c.get("/customers/"+id+"/accounts"))["data"], 1)
			assert.Equal(c.t, "L", c.must(200, c.get("/customers/"+id))["customerName"])

			agreement := c.postAgreement(c.agreementRequest()).body["agreementToken"].(string)
			patched := c.patch(agreement, object{"updateType": "RECALL_PAYTO_AGREEMENT", "recallPayToAgreement": object{"statusCode": "CANCELLED"}})
			assert.Equal(c.t, want.patched, patched.status)
			assert.Equal(c.t, want.patchedBody, patched.body["agreementToken"] == agreement)
		})
	}
}

func TestErrorForms(t *testing.T) {
	for form, want := range map[string][2]string{
		"object": {`{"links":[`, `{"links":[`},
		"list":   {`[{"fieldName":"customerNumber","fieldValue":null,"messages":["is required"]`, `[{"fieldName":"","fieldValue":null,"messages":["There is no such customer."]`},
		"texts":  {`["customerNumber is required"]`, `["There is no such customer."]`},
		"map":    {`"errors":{"customerNumber":["is required"]}`, `"errors":{}`},
		"data":   {`{"data":[{"fieldName":"customerNumber","message":"is required","fieldValue":null}`, `{"data":[{"fieldName":"","message":"There is no such customer."`},
		"html":   {"<html><head><title>422", "<html><head><title>404"},
		"empty":  {"", ""},
	} {
		inWorld(t, strings.TrimSpace("UnknownMembers=none"+otherThan("ErrorForm", form, "object")), func(c *caller) {
			request := func(method, path string, body any) (int, string) {
				resp, err := c.client.Do(c.request(method, path, c.keys.Secret, body))
				require.NoError(c.t, err)
				defer resp.Body.Close()
				raw := new(strings.Builder)
				require.NoError(c.t, resp.Write(raw))
				_, text, _ := strings.Cut(raw.String(), "\r\n\r\n")
				return resp.StatusCode, text
			}
			status, invalid := request("POST", "/customers", object{"customerName": "K"})
			assert.Equal(c.t, 422, status)
			assert.Contains(c.t, invalid, want[0])
			status, missing := request("GET", "/customers/1", nil)
			assert.Equal(c.t, 404, status)
			assert.Contains(c.t, missing, want[1])
			if form == "empty" {
				assert.Empty(c.t, invalid+missing)
			}
		})
	}
}

func TestFormsOf503(t *testing.T) {
	bubble(t, func(c *caller) {
		for kind, want := range map[BodyKind]string{
			GatewayError: `{"message":"no healthy upstream","traceCode":"4D2C"}`,
			ErrorList:    `{"errors":[{"fieldName":null,"fieldValue":null,"messages":["Service unavailable"]}]}`,
			Empty:        "",
		} {
			require.NoError(t, c.box.Inject(Fault{Nth: 1, Kind: StatusAfterCommit(http.StatusServiceUnavailable, kind)}))
			r := c.post("/transactions", cardPayment("O"))
			assert.Equal(t, want, string(r.raw))
			assert.Equal(t, 503, r.status)
		}
		assert.Len(t, c.box.Ledger().Charged("O"), 3)
	})
}
