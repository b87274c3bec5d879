package second

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// service is a small fake of the service, written from its public contract. Its world says what it
// does where the contract is silent. The test facility's special numbers are those that requests
// show: the contract does not list them.
type service struct {
	mu    sync.Mutex
	clock *clock
	world world
	zone  *time.Location
	// notify posts a notification; nil if the facility has no subscription.
	notify func(signature string, body []byte) (status int)

	requests     int
	last         time.Time
	broken       []string // promises of conform's documentation
	transactions []*transaction
	agreements   []*agreement
	customers    []*customer
	tokens       map[string]*token
	accounts     map[string]*account
	remembered   map[string]remembered
	notices      []*notice
	ids          int
}

type transaction struct {
	receipt, kind, status, code, summary string
	made, changed                        time.Time
	request                              map[string]any
	amount, surcharge                    int // cents
	original                             *transaction
	agreement                            *agreement
	payerAnswered, voided                bool
	retryOf                              *transaction
}

type agreement struct {
	token, status string
	customer      *customer
	made          time.Time
	request       map[string]any
}

type customer struct {
	id       string
	disabled bool
	fields   map[string]any
}

type token struct {
	made    time.Time
	used    bool
	request map[string]any
}

type account struct {
	token    string
	customer *customer
	source   map[string]any
}

type remembered struct {
	at      time.Time
	request string
	answer  answer
}

type notice struct {
	due   time.Time
	event string
	data  func() any
	tries int
	body  []byte
	sign  string
}

type answer struct {
	status int
	body   any
	header map[string]string
}

func newService(w world, c *clock) *service {
	zone, err := time.LoadLocation("Australia/Sydney")
	if err != nil {
		panic(err)
	}
	return &service{clock: c, world: w, zone: zone, tokens: map[string]*token{}, accounts: map[string]*account{}, remembered: map[string]remembered{}}
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	now := s.clock.Now()
	if s.requests++; s.requests > 300 {
		s.broken = append(s.broken, fmt.Sprintf("request %d of 300", s.requests))
	}
	if wait := now.Sub(s.last); wait < time.Second {
		s.broken = append(s.broken, fmt.Sprintf("%s %s is %s after the request before it", r.Method, r.URL.Path, wait))
	}
	s.last = now
	s.settleAll(now)
	a := s.authorised(r, body)
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	date := now
	if s.world.wrongDate {
		date = date.Add(s.world.skew)
	}
	w.Header().Set("Date", date.UTC().Format(http.TimeFormat))
	w.Header().Set("Content-Type", cmp.Or(a.header["Content-Type"], "application/json"))
	w.WriteHeader(a.status)
	w.Write(render(a.body, s.world.memberOrder))
}

func (s *service) authorised(r *http.Request, body []byte) answer {
	basic := func(credentials string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(credentials))
	}
	given, want := r.Header.Get("Authorization"), basic("SECRET:")
	if r.Method == http.MethodPost && r.URL.Path == "/single-use-tokens" {
		want = basic("PUBLISHABLE:")
	}
	if given == basic("SECRET") && s.world.bareKeys {
		given = basic("SECRET:")
	}
	if given != want {
		return s.refuse(401, "", "the API key is wrong or expired")
	}
	var in map[string]any
	if len(body) > 0 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(body, &in); err != nil {
			return s.refuse(400, "", "the body is not JSON")
		}
	}
	key := r.Header.Get("Idempotency-Key")
	if key == "" {
		return s.route(r, in)
	}
	if s.world.keyForm == "uuid" && strings.Count(key, "-") != 4 {
		return s.refuse(422, "Idempotency-Key", "must be a UUID")
	}
	request := r.Method + r.URL.Path + string(body)
	if old, found := s.remembered[key]; found && s.clock.Now().Sub(old.at) < s.world.keyLifetime {
		switch {
		case old.request == request || s.world.keyMismatch == "replay":
			return old.answer
		case s.world.keyMismatch != "execute":
			status, _ := strconv.Atoi(s.world.keyMismatch)
			return s.refuse(status, "Idempotency-Key", "was used for another request")
		}
	}
	a := s.route(r, in)
	if a.status < 300 {
		s.remembered[key] = remembered{s.clock.Now(), request, a}
	}
	return a
}

func (s *service) refuse(status int, field, message string) answer {
	return s.world.refusal(status, field, message)
}

func (s *service) route(r *http.Request, in map[string]any) answer {
	q, known := r.URL.Query(), []string{"customerNumber", "supplierBusinessCode", "status", "settlementDate", "referenceNumber", "accountToken", s.world.pageQuery, "month"}
	for name := range q {
		if !slices.Contains(known, name) && s.world.refuseUnknownQuery {
			return s.refuse(422, name, "is unknown")
		}
	}
	p := append(strings.Split(strings.Trim(r.URL.Path, "/"), "/"), "", "")
	route := r.Method + " /" + p[0]
	switch {
	case p[2] != "":
		route += "/*/" + p[2]
	case strings.HasPrefix(p[1], "for-"):
		route += "/" + p[1]
	case p[1] != "":
		route += "/*"
	}
	switch route {
	case "GET /":
		return answer{status: 200, body: object{{"links", list{s.link("businesses", "/businesses")}}}}
	case "GET /businesses":
		return s.page(r, []any{object{{"links", s.noLinks()}, {"supplierBusinessCode", "SHOP"}, {"supplierBusinessName", "A shop"}}})
	case "POST /single-use-tokens":
		return s.makeToken(in)
	case "POST /single-use-tokens/*/three-ds2-authentication":
		return s.authenticate(p[1], in)
	case "GET /customers":
		var found []any
		for _, c := range s.customers {
			if c.fields["customerNumber"] == q.Get("customerNumber") {
				found = append(found, s.customer(c))
			}
		}
		return s.page(r, found)
	case "POST /customers":
		return s.makeCustomer(in)
	case "GET /customers/*", "PUT /customers/*", "POST /customers/*/accounts", "GET /customers/*/accounts", "POST /customers/*/payto-agreements", "GET /customers/*/payto-agreements":
		i := slices.IndexFunc(s.customers, func(c *customer) bool { return c.id == p[1] })
		if i < 0 {
			return s.refuse(404, "", "no such customer")
		}
		return s.ofCustomer(r, route, s.customers[i], in)
	case "GET /payto-agreements/*", "PATCH /payto-agreements/*":
		i := slices.IndexFunc(s.agreements, func(a *agreement) bool { return a.token == p[1] && s.visible(a.made, s.world.agreementLag) })
		if i < 0 {
			return s.refuse(404, "", "no such agreement")
		}
		if r.Method == http.MethodGet {
			return answer{status: 200, body: s.agreement(s.agreements[i])}
		}
		return s.changeAgreement(s.agreements[i], in)
	case "GET /accounts/*":
		if a := s.accounts[p[1]]; a != nil {
			return answer{status: 200, body: object{{"links", s.noLinks()}, {"accountToken", a.token}}}
		}
	case "POST /transactions":
		return s.makeTransaction(in)
	case "GET /transactions":
		today := s.settlement(s.clock.Now())
		all := s.find(func(t *transaction) bool { return s.settlement(t.made) == today })
		return s.page(r, all[:min(20, len(all))])
	case "GET /transactions/for-reference-number":
		return s.found(r, s.find(func(t *transaction) bool { return s.matches(t, q.Get("referenceNumber")) }))
	case "GET /transactions/for-settlement-date":
		return s.found(r, s.find(func(t *transaction) bool { return s.settlement(t.made) == q.Get("settlementDate") }))
	case "GET /transactions/*", "POST /transactions/*/void", "GET /transactions/*/refunds", "GET /transactions/*/retries":
		i := slices.IndexFunc(s.transactions, func(t *transaction) bool { return t.receipt == p[1] && s.visible(t.made, s.world.lookupLag) })
		if i < 0 {
			return s.refuse(404, "", "no such transaction")
		}
		return s.ofTransaction(r, p[2], s.transactions[i])
	}
	return s.refuse(404, "", "no such path")
}

func (s *service) visible(made time.Time, lag time.Duration) bool {
	return s.clock.Now().Sub(made) >= lag
}

func (s *service) ofCustomer(r *http.Request, route string, c *customer, in map[string]any) answer {
	switch route {
	case "PUT /customers/*":
		for name, value := range in {
			switch {
			case value != nil || s.world.nullInPut == "remove":
				c.fields[name] = value
			case s.world.nullInPut == "refuse":
				return s.refuse(422, name, "must not be null")
			}
		}
		if phone := text(in["phoneNumber"]); s.world.phones && phone != "" && phone[0] != '+' {
			return s.refuse(422, "phoneNumber", "must be international")
		}
		if enabled, given := in["enabled"].(bool); given {
			c.disabled = !enabled
		}
		return answer{status: 200, body: s.changed(s.customer(c))}
	case "GET /customers/*":
		return answer{status: 200, body: s.customer(c)}
	case "POST /customers/*/accounts":
		if c.disabled && s.world.disabled == "refused" {
			return s.refuse(422, "customerId", "is disabled")
		}
		a := &account{token: s.id("A"), customer: c, source: in}
		s.accounts[a.token] = a
		return answer{status: 201, body: object{{"links", s.noLinks()}, {"accountToken", a.token}, {"accountType", "CREDIT_CARD"}, {"defaultAccount", true}}}
	case "GET /customers/*/accounts":
		var all []any
		for _, a := range s.accounts {
			if a.customer == c {
				all = append(all, object{{"links", s.noLinks()}, {"accountToken", a.token}, {"accountType", "CREDIT_CARD"}})
			}
		}
		return s.page(r, all)
	case "POST /customers/*/payto-agreements":
		return s.makeAgreement(c, in)
	default:
		var all []any
		for _, a := range slices.Backward(s.agreements) {
			if status := r.URL.Query().Get("status"); a.customer == c && (status == "" || status == a.status) && s.visible(a.made, s.world.agreementLag) {
				all = append(all, s.agreement(a))
			}
		}
		return s.page(r, all)
	}
}

func (s *service) makeToken(in map[string]any) answer {
	bsb := text(in["bsb"])
	if in["accountType"] == "DIRECT_DEBIT" && (s.world.bsbForm == "dash" && !strings.Contains(bsb, "-") || s.world.bsbForm == "digits" && strings.Contains(bsb, "-")) {
		return s.refuse(422, "bsb", "has another form")
	}
	id := s.id("T")
	s.tokens[id] = &token{made: s.clock.Now(), request: in}
	o := object{{"links", s.noLinks()}, {"singleUseTokenId", id}, {"accountType", in["accountType"]}}
	if in["accountType"] == "CREDIT_CARD" {
		o = append(o, member{"creditCard", s.card(in)})
	} else {
		o = append(o, member{"bankAccount", object{{"accountName", in["accountName"]}, {"bsb", "0xx-xxx"}, {"accountNumber", "xxxxxx"}}})
	}
	return answer{status: 200, body: o}
}

func (s *service) card(in map[string]any) object {
	number := text(in["cardNumber"])
	return object{
		{"cardNumber", number[:6] + "..." + number[len(number)-3:]},
		{"expiryDateMonth", in["expiryDateMonth"]},
		{"expiryDateYear", text(in["expiryDateYear"])[2:]},
		{"cardScheme", "VISA"},
		{"cardType", "CREDIT"},
		{"cardholderName", in["cardholderName"]},
		{"maskedCardNumber4Digits", number[:6] + "..." + number[len(number)-4:]},
	}
}

func (s *service) authenticate(id string, in map[string]any) answer {
	t := s.tokens[id]
	if t == nil || t.used || s.clock.Now().Sub(t.made) > 10*time.Minute {
		return s.refuse(404, "", "no such token")
	}
	for _, name := range s.world.billing {
		if text(in[name]) == "" {
			return s.refuse(422, name, "is required")
		}
	}
	return answer{status: 200, body: object{{"transStatus", "Y"}}}
}

func (s *service) makeCustomer(in map[string]any) answer {
	if phone := text(in["phoneNumber"]); s.world.phones && phone != "" && phone[0] != '+' {
		return s.refuse(422, "phoneNumber", "must be international")
	}
	c := &customer{id: s.id("C"), fields: in}
	s.customers = append(s.customers, c)
	return answer{status: 201, body: s.changed(s.customer(c)), header: s.location("/customers/" + c.id)}
}

func (s *service) customer(c *customer) object {
	return object{
		{"links", s.noLinks()},
		{"customerId", c.id},
		{"customerNumber", c.fields["customerNumber"]},
		{"customerName", c.fields["customerName"]},
		{"emailAddress", c.fields["emailAddress"]},
		{"phoneNumber", c.fields["phoneNumber"]},
	}
}

// changed is what a write of customers answers.
func (s *service) changed(o object) any {
	switch s.world.otherAnswers {
	case "identifier":
		return o[:2]
	case "nothing":
		return nil
	default:
		return o
	}
}

func (s *service) makeAgreement(c *customer, in map[string]any) answer {
	payer, terms, details := part(in, "payerDetails"), part(in, "paymentTerms"), part(in, "paymentDetails")
	for _, code := range []any{details["purpose"], terms["frequency"], terms["agreementType"], payer["payerType"]} {
		if text(code) == "" && s.world.codesRequired {
			return s.refuse(422, "code", "is required")
		}
	}
	byAccount, byPayID := payer["accountNumber"] != nil, payer["payId"] != nil
	switch {
	case s.world.adhocNumber && terms["frequency"] == "ADHO" && terms["numberOfPaymentsPermitted"] == nil:
		return s.refuse(422, "numberOfPaymentsPermitted", "is required")
	case s.world.routeRequired && !byAccount && !byPayID:
		return s.refuse(422, "payerDetails", "an account or a PayID is required")
	case s.world.oneRoute && byAccount && byPayID:
		return s.refuse(422, "payerDetails", "an account or a PayID, not both")
	case s.world.pastRefused && text(details["startDate"]) < s.clock.Now().In(s.zone).Format(time.DateOnly):
		return s.refuse(422, "startDate", "is in the past")
	}
	a := &agreement{token: s.id("G"), status: "PENDING", customer: c, made: s.clock.Now(), request: in}
	s.agreements = append(s.agreements, a)
	body := s.agreement(a)
	if payer["payIdType"] == "EMAL" || payer["bsb"] == "032007" || payer["bsb"] == "032-007" {
		a.status = "ACTIVE"
		s.announce(a.made.Add(s.world.confirmAfter), "payto.agreement.confirmed", func() any { return s.agreement(a) })
	}
	return answer{status: 201, body: body, header: s.location("/payto-agreements/" + a.token)}
}

func (s *service) agreement(a *agreement) object {
	payer, terms, details := part(a.request, "payerDetails"), part(a.request, "paymentTerms"), part(a.request, "paymentDetails")
	amount := func(name string) any {
		if v, err := strconv.ParseFloat(text(terms[name]), 64); err == nil {
			return s.world.amount(int(math.Round(v * 100)))
		}
		return nil
	}
	return object{
		{"links", s.noLinks()},
		{"agreementToken", a.token},
		{"status", a.status},
		{"priority", "UNAT"},
		{"respondByTime", s.time(a.made.Add(7200 * time.Minute))},
		{"payeeReference", a.request["payeeReference"]},
		{"hasPendingBilateralAmendment", false},
		{"rejectionReason", nil},
		{"paymentDetails", object{
			{"purpose", details["purpose"]},
			{"description", s.world.agreementText(text(details["description"]))},
			{"startDate", s.date(text(details["startDate"]))},
			{"endDate", nil},
			{"automaticRenewal", details["automaticRenewal"]},
			{"additionalInformation", nil},
		}},
		{"paymentTerms", object{
			{"frequency", s.world.agreementCode(text(terms["frequency"]))},
			{"numberOfPaymentsPermitted", terms["numberOfPaymentsPermitted"]},
			{"pointInTime", nil},
			{"agreementType", terms["agreementType"]},
			{"firstPaymentAmount", nil},
			{"lastPaymentAmount", nil},
			{"paymentAmount", amount("paymentAmount")},
			{"maximumPaymentAmount", amount("maximumPaymentAmount")},
			{"firstPaymentDue", nil},
			{"lastPaymentDue", nil},
		}},
		{"payerDetails", object{
			{"customerId", a.customer.id},
			{"payerType", payer["payerType"]},
			{"payerId", payer["payerId"]},
			{"payerName", s.world.agreementText(text(payer["payerName"]))},
			{"ultimatePayerName", s.world.agreementText(text(payer["payerName"]))},
			{"paymentReference", payer["payerReference"]},
			{"maskedAccountNumber", "xxx-xxx xxx111"},
			{"payIdType", payer["payIdType"]},
			{"maskedPayId", nil},
		}},
		{"payeeDetails", object{
			{"supplierBusinessCode", "SHOP"},
			{"payeeName", "A shop"},
			{"ultimatePayeeName", "A shop"},
			{"payeeAbn", "11111111111"},
			{"maskedAccountNumber", "xxx-xxx xxx222"},
			{"initiatorName", "A shop"},
			{"initiatorLegalName", "A shop"},
			{"initiatorAbn", "11111111111"},
		}},
	}
}

func (s *service) changeAgreement(a *agreement, in map[string]any) answer {
	amendment := part(in, "statusAmendment")
	switch {
	case in["updateType"] == "RECALL_PAYTO_AGREEMENT" && a.status == "PENDING" && part(in, "recallPayToAgreement")["statusCode"] == "CANCELLED":
		a.status = "CANCELLED"
	case in["updateType"] == "STATUS_AMENDMENT" && (a.status == "ACTIVE" || a.status == "SUSPENDED") && (amendment["reasonCode"] != nil || amendment["statusCode"] == "ACTIVE"):
		a.status = text(amendment["statusCode"])
	default:
		return s.refuse(422, "updateType", "is not possible now")
	}
	if s.world.recallEvent != "" && a.status == "CANCELLED" {
		s.announce(s.clock.Now().Add(time.Second), s.world.recallEvent, func() any { return s.agreement(a) })
	}
	return answer{status: 204}
}

func (s *service) announce(due time.Time, event string, data func() any) {
	s.notices = append(s.notices, &notice{due: due, event: event, data: data})
}

// page answers a list, in pages of the world's size.
func (s *service) page(r *http.Request, data []any) answer {
	links, page := list{}, 1
	if n, err := strconv.Atoi(r.URL.Query().Get(s.world.pageQuery)); err == nil {
		page = n
	}
	if size := s.world.pageSize; size > 0 && s.world.pageQuery != "" {
		from := min((page-1)*size, len(data))
		rest := len(data) - from - size
		data = data[from:min(from+size, len(data))]
		if rest > 0 {
			q := r.URL.Query()
			q.Set(s.world.pageQuery, strconv.Itoa(page+1))
			links = append(links, s.link("next", s.world.next(r, q)))
		}
	}
	all := any(links)
	if len(links) == 0 {
		all = s.noLinks()
	}
	return answer{status: 200, body: object{{"links", all}, {"data", list(data)}}}
}

// found answers a search, which may have found nothing.
func (s *service) found(r *http.Request, data []any) answer {
	if len(data) == 0 && s.world.nothingFound != 200 {
		return s.refuse(s.world.nothingFound, "", "nothing was found")
	}
	return s.page(r, data)
}

func (s *service) link(rel, href string) object {
	return object{{"rel", rel}, {"href", href}, {"requestMethod", "GET"}}
}

func (s *service) noLinks() any { return s.world.emptyList }

func (s *service) location(path string) map[string]string {
	if s.world.location == nil {
		return nil
	}
	return map[string]string{"Location": s.world.location(path)}
}

func (s *service) time(t time.Time) any    { return s.world.time(t.Add(s.world.skew).In(s.zone)) }
func (s *service) date(iso string) any     { return s.world.date(iso) }
func (s *service) id(prefix string) string { s.ids++; return fmt.Sprintf("%s%09d", prefix, s.ids) }

func part(in map[string]any, name string) map[string]any { m, _ := in[name].(map[string]any); return m }
func text(v any) string                                  { t, _ := v.(string); return t }

// object is a JSON object whose members keep their order. Members with the value absent are left out.
type object []member

type member struct {
	name  string
	value any
}

type list []any

type absent struct{}

func render(v any, order func([]string) []string) []byte {
	var b bytes.Buffer
	switch v := v.(type) {
	case nil:
		return nil
	case []byte:
		return v
	default:
		write(&b, v, order)
	}
	return b.Bytes()
}

func write(b *bytes.Buffer, v any, order func([]string) []string) {
	switch v := v.(type) {
	case object:
		members := slices.DeleteFunc(slices.Clone(v), func(m member) bool { return m.value == absent{} })
		names := make([]string, len(members))
		for i, m := range members {
			names[i] = m.name
		}
		b.WriteByte('{')
		for i, name := range order(names) {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(b, "%q:", name)
			write(b, members[slices.IndexFunc(members, func(m member) bool { return m.name == name })].value, order)
		}
		b.WriteByte('}')
	case list:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, item, order)
		}
		b.WriteByte(']')
	default:
		data, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		b.Write(data)
	}
}
