package durable

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// The members of a payment's metadata that name its installation, its order and its id. They hold
// what a restored backup does not know.
const (
	installationMember = "quickstreamInstallation"
	orderMember        = "quickstreamOrder"
	writeMember        = "quickstreamWrite"
)

// derived returns a digest of the installation, of a write's id and of what the digest is for.
func (e *engine) derived(what, id string) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s %s %s", len(e.installation), e.installation, what, id))
	return sum[:]
}

// reference returns the reference of every send of a write: 26 letters and digits that are derived
// from the installation and its id.
func (e *engine) reference(id string) string {
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(e.derived("reference", id)[:16])
}

// key returns the idempotency key of a write with a number, in the form of a random UUID.
func (e *engine) key(id string, number int) string {
	k := e.derived(fmt.Sprint("key ", number), id)[:16]
	k[6], k[8] = k[6]&0x0f|0x40, k[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", k[:4], k[4:6], k[6:8], k[8:10], k[10:])
}

// members returns the members of the metadata that name installation, order and id.
func (e *engine) members(w NewWrite) map[string]string {
	return map[string]string{installationMember: e.installation, orderMember: w.Order, writeMember: w.ID}
}

// request holds the fields that the engine reads from an intent's request.
type request struct {
	TransactionType       quickstream.TransactionType `json:"transactionType"`
	OriginalReceiptNumber string                      `json:"originalReceiptNumber"`
	PrincipalAmount       decimal.Decimal             `json:"principalAmount"`
	Currency              quickstream.Currency        `json:"currency"`
	SupplierBusinessCode  string                      `json:"supplierBusinessCode"`
	SingleUseTokenID      string                      `json:"singleUseTokenId"`
	CustomerID            string                      `json:"customerId"`
	CustomerReference     string                      `json:"customerReferenceNumber"`
	AccountToken          string                      `json:"accountToken"`
	PayToData             struct {
		AgreementToken string `json:"agreementToken"`
		EndToEndID     string `json:"endToEndId"`
	} `json:"payToData"`
}

func requestOf(i quickstream.Intent) request {
	var r request
	_ = json.Unmarshal(i.Request, &r) // an upload has none
	return r
}

// digest returns a digest of texts; "" if all are empty.
func digest(texts ...string) string {
	joined := strings.Join(texts, "\x00")
	if strings.Trim(joined, "\x00") == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(joined))
	return hex.EncodeToString(sum[:16])
}

// rowOf returns the row of an intent.
func (e *engine) rowOf(w NewWrite, i quickstream.Intent) *row {
	request := requestOf(i)
	r := &row{intent: i, keyNumber: 1}
	r.ID, r.Order, r.Title, r.Operation, r.Reference = w.ID, w.Order, w.Title, i.Operation, i.Reference
	r.Amount, r.Currency, r.SupplierBusinessCode = request.PrincipalAmount, request.Currency, request.SupplierBusinessCode
	r.source, r.token = digest(request.CustomerID, request.AccountToken, request.PayToData.AgreementToken), digest(request.SingleUseTokenID)
	r.customer, r.Standing = digest(request.CustomerReference), standing(StateQueued)
	if r.isVoid() {
		r.Reference = ""
	}
	return r
}

// takesMoney reports whether an operation is an order's payment or first pre-authorisation.
func takesMoney(o quickstream.Operation) bool {
	return slices.Contains([]quickstream.Operation{quickstream.OperationPay, quickstream.OperationCollect, quickstream.OperationPreauthorise}, o)
}
