package second

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"
)

func (s *service) makeTransaction(in map[string]any) answer {
	kind := text(in["transactionType"])
	original := s.byReceipt(text(in["originalReceiptNumber"]))
	amount, _ := in["principalAmount"].(float64)
	t := &transaction{kind: kind, status: "Approved", code: "08", summary: "0", made: s.clock.Now(), request: in, amount: int(math.Round(amount * 100)), original: original}
	switch {
	case !slices.Contains([]string{"PAYMENT", "REFUND", "PREAUTH", "CAPTURE", "PREAUTH_CANCELLATION", "ACCOUNT_VERIFICATION"}, kind):
		return s.refuse(422, "transactionType", "is unknown")
	case kind == "REFUND" || kind == "CAPTURE" || kind == "PREAUTH_CANCELLATION" || in["authorisationType"] != nil:
		if original == nil {
			return s.refuse(422, "originalReceiptNumber", "is unknown")
		}
		if kind == "REFUND" && (!s.refundable(original) || t.amount > original.amount || original.request["payToData"] != nil && t.amount != original.amount) {
			return s.refuse(422, "principalAmount", "cannot be refunded")
		}
		if s.world.followUpAmounts == "total" && in["authorisationType"] == "INCREMENTAL" {
			t.amount += original.amount
		}
	case in["supplierBusinessCode"] != "SHOP":
		return s.refuse(422, "supplierBusinessCode", "is required")
	case kind != "ACCOUNT_VERIFICATION" && t.amount <= 0:
		return s.refuse(422, "principalAmount", "is required")
	}
	for _, check := range []func(*transaction) (string, string){s.credentials, s.payer, s.source} {
		if field, message := check(t); field != "" {
			return s.refuse(422, field, message)
		}
	}
	t.receipt, t.changed = s.id("R"), t.made
	s.transactions = append(s.transactions, t)
	body := any(s.transaction(t))
	if short := s.world.transactionAnswer; short != nil {
		body = short(body.(object))
	}
	return answer{status: 201, body: body, header: s.location("/transactions/" + t.receipt)}
}

func (s *service) credentials(t *transaction) (field, message string) {
	stored := part(t.request, "storedCredentialData")
	if stored["entryMode"] != "STORED_CREDENTIAL" {
		return "", ""
	}
	usage := text(stored["usage"])
	if usage == "" && slices.Contains(s.world.usageRequired, text(t.request["eci"])) {
		return "usage", "is required"
	}
	if usage != "" && slices.Contains(s.world.refusedUsages, usage) {
		return "usage", "is unknown"
	}
	return "", ""
}

func (s *service) payer(t *transaction) (field, message string) {
	if id := text(t.request["customerId"]); id != "" {
		for _, c := range s.customers {
			if c.id == id && c.disabled && s.world.disabled != "accepted" {
				return "customerId", "is disabled"
			}
		}
	}
	if a := s.accounts[text(t.request["accountToken"])]; a != nil && a.customer.disabled && s.world.disabled != "accepted" {
		return "accountToken", "its customer is disabled"
	}
	if t.request["singleUseTokenId"] != nil && t.request["ipAddress"] == nil && (s.world.payerAddress == "tokens" || t.request["eci"] == "INTERNET") {
		return "ipAddress", "is required"
	}
	if t.request["singleUseTokenId"] != nil && t.request["ipAddress"] != nil && t.request["eci"] != "INTERNET" && s.world.payerAddress == "onlyInternet" {
		return "ipAddress", "is for payments over the Internet"
	}
	return "", ""
}

// source finds what is charged, and what its bank says.
func (s *service) source(t *transaction) (field, message string) {
	if t.original != nil {
		return "", ""
	}
	if tok := s.tokens[text(t.request["singleUseTokenId"])]; tok != nil {
		if tok.used || s.clock.Now().Sub(tok.made) > 10*time.Minute {
			return "singleUseTokenId", "is unknown"
		}
		tok.used = true
		t.surcharge = t.amount * s.world.surcharge / 100
		return "", ""
	}
	card := part(t.request, "creditCard")
	if card == nil {
		if a := s.accounts[text(t.request["accountToken"])]; a != nil {
			card = part(a.source, "creditCard")
		}
	}
	if card != nil {
		number := text(card["cardNumber"])
		if number[len(number)-2:] >= "90" {
			t.status, t.summary, t.code = "Declined", "1", s.world.decline(declineCode(number))
		}
		t.surcharge = t.amount * s.world.surcharge / 100
		return "", ""
	}
	payTo := part(t.request, "payToData")
	if payTo == nil {
		return "", ""
	}
	if most := s.world.endToEndLength; most > 0 && len(text(payTo["endToEndId"])) > most {
		return "endToEndId", "is too long"
	}
	if once := part(payTo, "payToAgreement"); once != nil {
		payer := part(once, "payerDetails")
		for _, c := range s.customers {
			if c.fields["customerNumber"] == payer["payerId"] {
				t.agreement = &agreement{token: s.id("G"), status: "PENDING", customer: c, made: t.made, request: once}
				s.agreements = append(s.agreements, t.agreement)
			}
		}
	} else {
		for _, a := range s.agreements {
			if a.token == payTo["agreementToken"] && a.status == "ACTIVE" {
				t.agreement, t.payerAnswered = a, true
			}
		}
	}
	if t.agreement == nil {
		return "agreementToken", "is not active"
	}
	t.code = "ACSC"
	if !t.payerAnswered || !s.world.payToSynchronous {
		t.status, t.code, t.summary = "Pending", "", s.world.pendingSummary
	}
	if t.payerAnswered {
		s.announce(t.made.Add(s.world.payToDelay+time.Second), "payto.payment.approved", func() any { return s.transaction(t) })
	}
	return "", ""
}

func declineCode(number string) string {
	return map[byte]string{'0': "01", '2': "05", '3': "91", '6': "51"}[number[len(number)-1]]
}

// settleAll does what the passing of time does to transactions.
func (s *service) settleAll(now time.Time) {
	for _, t := range s.transactions {
		switch {
		case t.status == "Pending" && t.payerAnswered && now.Sub(t.made) >= s.world.payToDelay:
			t.status, t.code, t.summary, t.changed = "Approved", "ACSC", "0", t.made.Add(s.world.payToDelay)
		case t.status == "Pending" && t.agreement.status == "CANCELLED":
			t.status, t.code, t.summary, t.changed = "Declined", "AB05", "1", now
		case t.status == "Approved" && !t.voided && s.returned(t) && now.Sub(t.made) >= s.world.returnAfter:
			t.status, t.code, t.summary, t.changed = "Declined", "RTN", "1", t.made.Add(s.world.returnAfter)
		case t.kind == "PAYMENT" && t.status == "Declined" && t.retryOf == nil && slices.Contains(s.world.retried, t.code):
			s.retry(t, now)
		}
	}
}

func (s *service) returned(t *transaction) bool {
	bsb := text(part(t.request, "bankAccount")["bsb"])
	return s.world.returnAfter > 0 && t.kind == "PAYMENT" && strings.ReplaceAll(bsb, "-", "") == "032051"
}

func (s *service) retry(t *transaction, now time.Time) {
	done := 0
	for _, other := range s.transactions {
		if other.retryOf == t {
			done++
		}
	}
	for ; done < len(s.world.retryAfter) && now.Sub(t.made) >= s.world.retryAfter[done]; done++ {
		again := *t
		again.receipt, again.retryOf, again.made = s.id("R"), t, t.made.Add(s.world.retryAfter[done])
		again.changed = again.made
		s.transactions = append(s.transactions, &again)
	}
}

func (s *service) byReceipt(receipt string) *transaction {
	for _, t := range s.transactions {
		if t.receipt == receipt {
			return t
		}
	}
	return nil
}

func (s *service) refunded(t *transaction) int {
	sum := 0
	for _, r := range s.transactions {
		if r.kind == "REFUND" && r.original == t && !r.voided {
			sum += r.amount
		}
	}
	return sum
}

func (s *service) refundable(t *transaction) bool {
	return (t.kind == "PAYMENT" || t.kind == "CAPTURE") && t.status == "Approved" && !t.voided && s.refunded(t) == 0
}

func (s *service) voidable(t *transaction) bool {
	return t.kind != "ACCOUNT_VERIFICATION" && t.kind != "PREAUTH_CANCELLATION" && t.status == "Approved" && !t.voided && t.agreement == nil &&
		s.refunded(t) == 0 && s.settlement(t.made) >= s.settlement(s.clock.Now())
}

func (s *service) ofTransaction(r *http.Request, what string, t *transaction) answer {
	switch what {
	case "void":
		if !s.voidable(t) {
			return s.refuse(422, "receiptNumber", "cannot be voided")
		}
		if s.world.voidsInWords {
			return answer{status: 200, body: s.transaction(t)}
		}
		t.voided, t.status, t.changed = true, s.world.voided, s.clock.Now()
	case "refunds":
		return s.page(r, s.find(func(other *transaction) bool { return other.kind == "REFUND" && other.original == t }))
	case "retries":
		return s.page(r, s.find(func(other *transaction) bool { return other.retryOf == t }))
	}
	return answer{status: 200, body: s.transaction(t)}
}

func (s *service) find(is func(*transaction) bool) []any {
	var found []any
	for _, t := range s.transactions {
		if is(t) && s.visible(t.made, s.world.lookupLag) {
			found = append(found, s.transaction(t))
			if t.voided && s.world.repeatedReceipts {
				found = append(found, s.transaction(t))
			}
		}
	}
	if s.world.listOrder != "oldest" {
		slices.Reverse(found)
	}
	return found
}

func (s *service) matches(t *transaction, reference string) bool {
	asked := s.world.searchForm(reference)
	for _, have := range []string{text(t.request["customerReferenceNumber"]), s.paymentReference(t), text(part(t.request, "payToData")["endToEndId"]), t.receipt} {
		if have != "" && s.world.searchForm(s.world.store(have)) == asked {
			return true
		}
	}
	return false
}

// paymentReference is that of a refund or a follow-up, or of the transaction that it follows.
func (s *service) paymentReference(t *transaction) string {
	follows := s.world.followUpReferences
	if t.kind == "REFUND" {
		follows = s.world.refundReferences
	}
	switch {
	case t.original == nil || follows == "own":
		return text(t.request["paymentReferenceNumber"])
	case follows == "original":
		return text(t.original.request["paymentReferenceNumber"])
	default:
		return ""
	}
}

func (s *service) settlement(at time.Time) string {
	local := at.In(s.zone)
	day := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	if s.world.cutOff > 0 && local.Hour() >= s.world.cutOff {
		day = day.AddDate(0, 0, 1)
	}
	for s.world.weekdays && (day.Weekday() == time.Saturday || day.Weekday() == time.Sunday) {
		day = day.AddDate(0, 0, 1)
	}
	return day.Format(time.DateOnly)
}

func (s *service) transaction(t *transaction) object {
	in, at := t.request, t.made
	if s.world.transactionTimes == "changed" {
		at = t.changed
	}
	optional := func(v any) any {
		if v == nil || v == "" {
			return s.world.optional
		}
		return v
	}
	o := object{
		{"links", s.noLinks()},
		{"receiptNumber", t.receipt},
		{"transactionType", t.kind},
		{"status", s.world.status(t.status)},
		{"responseCode", s.world.code(t.code)},
		{"responseDescription", "Said by the bank"},
		{"summaryCode", s.world.code(t.summary)},
		{"fraudGuardResult", s.world.optional},
		{"customerReferenceNumber", optional(s.world.store(text(in["customerReferenceNumber"])))},
		{"paymentReferenceNumber", optional(s.world.store(s.paymentReference(t)))},
		{"comment", optional(in["comment"])},
		{"source", "RESTAPI"},
		{"settlementDate", s.date(s.settlement(t.made))},
		{"transactionTime", s.time(at)},
		{"refundable", s.refundable(t)},
		{"voidable", s.voidable(t)},
	}
	if t.kind != "ACCOUNT_VERIFICATION" {
		o = append(o, object{
			{"principalAmount", s.world.amount(t.amount)}, {"surchargeAmount", s.world.amount(t.surcharge)}, {"totalAmount", s.world.amount(t.amount + t.surcharge)},
		}...)
	} else {
		o = append(o, object{{"principalAmount", s.world.inapplicable}, {"surchargeAmount", s.world.inapplicable}, {"totalAmount", s.world.inapplicable}}...)
	}
	o = append(o, object{
		{"ipAddress", optional(in["ipAddress"])},
		{"debtRepayment", false},
		{"supplierBusinessCode", "SHOP"},
		{"merchantAccount", object{
			{"merchantId", "22222222"},
			{"merchantName", "A shop"},
			{"settlementBsb", "032-002"},
			{"settlementAccountNumber", "222222"},
			{"displayName", "A shop"},
			{"acquiringInstitution", "WBC"},
			{"currency", "AUD"},
		}},
	}...)
	card, payTo := s.world.inapplicable, s.world.inapplicable
	if number := part(in, "creditCard"); number != nil {
		links := s.noLinks()
		if s.world.cardsWithoutLinks {
			links = absent{}
		}
		card = append(object{{"links", links}, {"accountType", "CREDIT_CARD"}, {"accountToken", nil}, {"defaultAccount", false}}, s.card(number)...)
	}
	if data := part(in, "payToData"); data != nil && t.agreement != nil {
		payTo = object{{"agreementToken", t.agreement.token}, {"endToEndId", s.world.store(text(data["endToEndId"]))}, {"priority", "NORM"}, {"remittanceInformation1", data["remittanceInformation1"]}, {"remittanceInformation2", nil}}
	}
	o = append(o, member{"creditCard", card}, member{"payToData", payTo}, member{"payToPayeeAccount", s.world.inapplicable}, member{"payToPayerAccount", s.world.inapplicable}, member{"metadata", s.world.metadata(part(in, "metadata"))})
	if s.world.unknownMember != "" {
		o = append(o, member{s.world.unknownMember, "x"})
	}
	return o
}

// undone says what of the ledger still holds money, or could take it.
func (s *service) undone() (left []string) {
	s.settleAll(s.clock.Now())
	for _, t := range s.transactions {
		open := t.status == "Approved" && !t.voided && (t.kind == "PAYMENT" || t.kind == "CAPTURE") && s.refunded(t) != t.amount || t.status == "Pending"
		if t.kind == "PREAUTH" && t.original == nil && !t.voided {
			open = !slices.ContainsFunc(s.transactions, func(c *transaction) bool { return c.kind == "PREAUTH_CANCELLATION" && c.original == t })
		}
		if open {
			left = append(left, fmt.Sprintf("%s %s of %d cents is %s", t.kind, t.receipt, t.amount, t.status))
		}
	}
	for _, a := range s.agreements {
		if a.status != "CANCELLED" {
			left = append(left, fmt.Sprintf("agreement %s is %s", a.token, a.status))
		}
	}
	return left
}

// next is when the next notification is due.
func (s *service) next() (due time.Time, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.notices {
		if !found || n.due.Before(due) {
			due, found = n.due, true
		}
	}
	return due, found
}

// deliver posts what is due. What is not acknowledged is posted again after a minute, three times.
func (s *service) deliver(now time.Time) {
	for {
		n := s.take(now)
		if n == nil {
			return
		}
		// The receiver may take its time, so the service is not locked.
		if s.notify(n.sign, n.body) != http.StatusOK && n.tries <= 3 {
			s.mu.Lock()
			n.due = now.Add(time.Minute)
			s.notices = append(s.notices, n)
			s.mu.Unlock()
		}
	}
}

// take removes a notification that is due, and signs it.
func (s *service) take(now time.Time) *notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleAll(now)
	i := slices.IndexFunc(s.notices, func(n *notice) bool { return !n.due.After(now) })
	if i < 0 {
		return nil
	}
	n := s.notices[i]
	s.notices = slices.Delete(s.notices, i, i+1)
	if n.tries == 0 {
		n.body = render(object{{"id", s.id("N")}, {"timestamp", s.time(now)}, {"eventType", n.event}, {"data", n.data()}}, s.world.memberOrder)
	}
	if n.tries == 0 || s.world.signAnew {
		at := fmt.Sprint(now.UnixMilli())
		mac := hmac.New(sha256.New, []byte(webhookSecret))
		fmt.Fprintf(mac, "%s.%s", at, n.body)
		n.sign = "t=" + at + ",v1=" + hex.EncodeToString(mac.Sum(nil))
	}
	n.tries++
	return n
}

const webhookSecret = "whsec-of-the-second-fake"
