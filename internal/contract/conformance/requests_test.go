package conformance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"mime/multipart"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream"
)

func TestClientRequests(t *testing.T) {
	made := everyCall(t)
	t.Run("every method is called", func(t *testing.T) { everyMethodIsCalled(t, made) })
	t.Run("requests are as documented", func(t *testing.T) {
		for _, e := range made {
			e.checkRequest(t)
		}
	})
	t.Run("every member is sent", func(t *testing.T) { everyMemberIsSent(t, made) })
	t.Run("every value arrives where it belongs", func(t *testing.T) { valuesArrive(t, made) })
}

func everyMethodIsCalled(t *testing.T, made []exchange) {
	called := map[string]bool{}
	for _, e := range made {
		called[e.method] = true
	}
	methods := clientMethods()
	for _, method := range methods {
		if _, isComposed := composed[method]; called[method] == isComposed {
			t.Errorf("%s: has to be called in clientCalls or listed in composed, and not both", method)
		}
	}
	for method := range composed {
		if !slices.Contains(methods, method) {
			t.Errorf("%s is in composed and not a method", method)
		}
	}
}

// clientMethods are the methods that can make requests, such as
// "Transactions.Pay".
func clientMethods() []string {
	var out []string
	client := reflect.TypeFor[*quickstream.Client]()
	for i := range client.NumMethod() {
		if m := client.Method(i); m.Type.IsVariadic() {
			out = append(out, m.Name)
		}
	}
	for _, service := range reflect.VisibleFields(client.Elem()) {
		if !service.IsExported() {
			continue
		}
		for i := range service.Type.NumMethod() {
			out = append(out, service.Name+"."+service.Type.Method(i).Name)
		}
	}
	return out
}

func (e exchange) checkRequest(t *testing.T) {
	if err := e.op.ValidateRequest(e.Request); err != nil {
		t.Errorf("%s: %v", e.name(), err)
	}
	want := strings.TrimSuffix(e.op.Path, "/")
	for _, p := range e.op.Parameters {
		if p.In == "path" {
			want = strings.ReplaceAll(want, "{"+p.Name+"}", id(p.Name))
		}
	}
	if got := strings.TrimPrefix(e.URL.EscapedPath(), "/rest/v1"); got != want {
		t.Errorf("%s: the path is %s, want %s", e.name(), got, want)
	}
	if types := e.op.ResponseTypes(e.answer.status); len(types) > 0 && !slices.Contains(types, e.Header.Get("Accept")) && (len(types) == 1 || e.Header.Get("Accept") != "*/*") {
		t.Errorf("%s: accepts %s, want one of %v", e.name(), e.Header.Get("Accept"), types)
	}
	key, _, _ := e.BasicAuth()
	kind := map[string]string{secretKey: "secretKey", publishableKey: "publishableKey"}[key]
	if !slices.Contains(e.op.Keys, kind) {
		t.Errorf("%s: sent the %s, want %v", e.name(), kind, e.op.Keys)
	}
}

// everyMemberIsSent demands that each documented member of each form, query
// parameter and header is sent by some call.
func everyMemberIsSent(t *testing.T, made []exchange) {
	want, sent := requestMembers(t, made)
	for _, member := range slices.Sorted(maps.Keys(want)) {
		if _, excepted := neverSent[member]; sent[member] == excepted {
			t.Errorf("%s: sent is %t; a member that is never sent has to be listed in neverSent, and no other", member, sent[member])
		}
	}
	for member := range neverSent {
		if !want[member] {
			t.Errorf("%s is in neverSent and not documented for an operation of the client", member)
		}
	}
}

// valuesArrive makes sure that the value of every field is sent by some call, and
// always in a member that has the name of the field.
func valuesArrive(t *testing.T, made []exchange) {
	given, arrived := map[string]bool{}, map[string]bool{}
	for _, e := range made {
		for _, path := range e.from {
			given[path] = true
		}
		for _, path := range e.arrivals(t) {
			arrived[path] = true
		}
	}
	for path := range given {
		if strings.Contains(path, ".") && !arrived[path] && path != "UploadPaymentFileParams.Size" && path != "RegisterAccountParams.Card.Cryptogram" {
			t.Errorf("%s is given and never sent", path)
		}
	}
}

// arrivals returns the fields whose values are in the request.
func (e exchange) arrivals(t *testing.T) []string {
	t.Helper()
	at := map[string]string{}
	var arrived []string
	for _, m := range e.leaves(t) {
		path, ours := e.from[m.text]
		if !ours {
			continue
		}
		if other, twice := at[m.text]; twice {
			t.Errorf("%s: %s arrives in %s and in %s", e.name(), path, other, m.path)
		}
		at[m.text] = m.path
		arrived = append(arrived, path)
		if name := memberName(path); strings.Contains(path, ".") && !strings.HasSuffix(strings.ToLower(m.path), strings.ToLower(name)) {
			t.Errorf("%s: %s arrives in %s", e.name(), path, m.path)
		}
	}
	return arrived
}

// memberName is what the name of a field's member ends in: the name of the field,
// or what otherNames has for it or for the struct that it is in.
func memberName(path string) string {
	i := strings.LastIndex(path, ".")
	group, name := path[:max(i, 0)], path[i+1:]
	return cmp.Or(otherNames[path], otherNames[group]+name)
}

// otherNames are the members whose names do not end in that of their field, by
// the path of the field; for a struct, what stands before the names of its fields.
var otherNames = map[string]string{
	"CreateAgreementParams.Payer.UltimateName":      "ultimatePayerName",
	"CollectParams.NewAgreement.Payer.UltimateName": "ultimatePayerName",

	"AuthenticateParams.Instalments":                   "purchaseInstalData",
	"AuthenticateParams.BillingAddress":                "billAddr",
	"AuthenticateParams.ShippingAddress":               "shipAddr",
	"AuthenticateParams.Order.DeliveryEmail":           "deliveryEmailAddress",
	"AuthenticateParams.Order.GiftCardCurrency":        "giftCardCurr",
	"AuthenticateParams.Account.Created":               "chAccDate",
	"AuthenticateParams.Account.Changed":               "chAccChange",
	"AuthenticateParams.Account.PasswordChanged":       "chAccPwChange",
	"AuthenticateParams.Account.PurchasesSixMonths":    "nbPurchaseAccount",
	"AuthenticateParams.Account.PaymentAccountCreated": "paymentAccAge",
	"AuthenticateParams.Account.AddCardAttemptsDay":    "provisionAttemptsDay",
	"AuthenticateParams.Account.ShippingAddressUsed":   "shipAddressUsage",
	"AuthenticateParams.Account.TransactionsDay":       "txnActivityDay",
	"AuthenticateParams.Account.TransactionsYear":      "txnActivityYear",

	"ReportParams.Sources":             "source",
	"UploadPaymentFileParams.FileName": "file",
}

// neverSent are documented members that the client does not send, and why.
var neverSent = map[string]string{
	"POST /customers CustomerRequest enabled": "a new customer is enabled; Update disables",
}

// requestMembers returns the documented members and parameters of the operations
// that were called, and which of them were sent.
func requestMembers(t testing.TB, made []exchange) (documented, sent map[string]bool) {
	t.Helper()
	documented, sent = map[string]bool{}, map[string]bool{}
	for _, e := range made {
		for _, p := range e.op.Parameters {
			name := e.op.ID + " " + p.In + " " + p.Name
			documented[name] = true
			if e.has(p) {
				sent[name] = true
			}
		}
		for _, v := range e.op.RequestVariants() {
			for _, m := range v.Members {
				documented[e.op.ID+" "+v.Name+" "+m.Path] = true
			}
		}
		if parts, ok := e.parts(t); ok {
			for _, part := range parts {
				sent[e.op.ID+" PaymentFileUpload "+part.path] = true
			}
		}
		if v, ok := e.op.RequestVariant(e.body); ok {
			paths, err := Documented(v.Members, e.body)
			if err != nil {
				t.Error(err)
			}
			for _, path := range paths {
				sent[e.op.ID+" "+v.Name+" "+path] = true
			}
		}
	}
	return documented, sent
}

// has reports whether a parameter was sent.
func (e exchange) has(p Parameter) bool {
	switch p.In {
	case "query":
		return e.URL.Query().Get(p.Name) != ""
	case "header":
		for header := range e.Header {
			if strings.EqualFold(header, p.Name) {
				return true
			}
		}
		return false
	default:
		return true // without it, this would be another operation
	}
}

func (e exchange) name() string { return strings.TrimSpace(e.method + " " + e.form) }

// leaf is one value of a request that is neither an object nor an array.
type leaf struct{ path, text string }

// leaves are the values of the query and of the body.
func (e exchange) leaves(t testing.TB) []leaf {
	t.Helper()
	var out []leaf
	for name, values := range e.URL.Query() {
		out = append(out, leaf{name, values[0]})
	}
	if len(e.body) == 0 {
		return out
	}
	if parts, ok := e.parts(t); ok {
		return append(out, parts...)
	}
	decoder := json.NewDecoder(bytes.NewReader(e.body))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for name, child := range v {
				walk(strings.TrimPrefix(path+"."+name, "."), child)
			}
		case []any:
			for _, child := range v {
				walk(path+"[]", child)
			}
		default:
			out = append(out, leaf{path, fmt.Sprint(v)})
		}
	}
	walk("", tree)
	return out
}

// parts are those of a multipart body: texts, and the name of the file.
func (e exchange) parts(t testing.TB) ([]leaf, bool) {
	t.Helper()
	kind, params, err := mime.ParseMediaType(e.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return nil, false
	}
	form, err := multipart.NewReader(bytes.NewReader(e.body), params["boundary"]).ReadForm(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	var out []leaf
	for name, values := range form.Value {
		out = append(out, leaf{name, values[0]})
	}
	for name, files := range form.File {
		out = append(out, leaf{name, files[0].Filename})
	}
	return out, true
}
