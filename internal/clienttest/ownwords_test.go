package clienttest_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
)

// gateway stands before a service that carries out every write, and answers in its place.
type gateway struct {
	status     int
	body       string
	requests   int
	carriedOut int
}

func (g *gateway) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
	}
	g.requests++
	if r.Method != http.MethodGet {
		g.carriedOut++
	}
	resp := answer(g.status, g.body)
	if strings.HasPrefix(g.body, "<") {
		resp.Header.Set("Content-Type", "text/html")
	}
	return resp, nil
}

func (g *gateway) answers(status int, body string) { *g = gateway{status: status, body: body} }

// counted returns how many requests came since the answer was set, and how many writes
// were carried out.
func (g *gateway) counted() []int { return []int{g.requests, g.carriedOut} }

// TestOnlyTheServicesWordsRefuseAWrite: a gateway answers a write that was carried out with
// the status of a refusal. The outcome is unknown, and says nothing else. In the service's
// own words the same status is a refusal.
func TestOnlyTheServicesWordsRefuseAWrite(t *testing.T) {
	g := new(gateway)
	client := clientOf(t, g.RoundTrip)
	var writes []operation
	names := map[string]bool{}
	g.answers(http.StatusInternalServerError, "")
	for _, op := range operations() {
		if _, err := op.call(t.Context(), client, "ID-1", quickstream.WithMaxAttempts(1)); ending(err) == unknown {
			writes = append(writes, op)
			names[op.name] = true
		}
	}
	for _, name := range []string{
		"Transactions.Pay", "Transactions.Refund", "Transactions.Void", "Transactions.Capture", "PayTo.Create", "PayTo.Suspend", "Accounts.Register",
		"Customers.Create", "Customers.Update", "SingleUseTokens.Create", "SingleUseTokens.Authenticate", "PaymentFiles.Upload", "Do",
	} {
		assert.True(t, names[name], "%s is a write", name)
	}

	// A 409 refuses what carries no key, and what creates a thing of a unique name.
	conflicts := map[string]bool{"Customers.Create": true, "PaymentFiles.Upload": true}
	for _, op := range writes {
		if strings.HasPrefix(op.name, "PayTo.") && op.name != "PayTo.Create" || op.name == "Customers.Update" {
			conflicts[op.name] = true
		}
	}
	for _, status := range []int{400, 401, 403, 404, 405, 406, 409, 411, 413, 414, 415, 422, 429, 503} {
		foreign := []string{
			"<html><body>" + fmt.Sprint(status) + "</body></html>", "", fmt.Sprintf(`{"errors":{"code":%d}}`, status), `{"message":"x"}`,
		}
		own := []string{`{"customerMessage":"No."}`, `{"developerMessage":"No."}`, `{"errors":[{"fieldName":"amount"}]}`}
		for _, op := range writes {
			threeDS := op.name == "SingleUseTokens.Authenticate" && status == http.StatusServiceUnavailable
			for _, body := range foreign {
				if threeDS {
					continue
				}
				said := fmt.Sprintf("%s, %d %s", op.name, status, body)
				g.answers(status, body)
				_, err := op.call(t.Context(), client, "ID-1")
				assert.Equal(t, unknown, ending(err), "%s: %v", said, err)
				assert.Equal(t, "unknown", matching(err), said)
				if assert.Error(t, err, said) {
					assert.NotErrorIs(t, err, quickstream.ErrNotSent, said)
					assert.Contains(t, err.Error(), fmt.Sprint("answered ", status), said)
				}
				assert.Equal(t, []int{1, 1}, g.counted(), "%s: it was sent once", said)
			}
			for _, body := range own {
				g.answers(status, body)
				_, err := op.call(t.Context(), client, "ID-1")
				if status == http.StatusConflict && !conflicts[op.name] {
					assert.Equal(t, unknown, ending(err), "%s: a key in flight is no refusal: %v", op.name, err)
					continue
				}
				refused, ok := errors.AsType[*quickstream.APIError](err)
				if assert.True(t, ok, "%s, %d %s: %v", op.name, status, body, err) {
					assert.Equal(t, status, refused.StatusCode)
					assert.Equal(t, []int{1, 1}, g.counted(), op.name)
				}
			}
		}
	}
	t.Logf("%d writes", len(writes))
}
