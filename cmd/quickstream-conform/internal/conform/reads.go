package conform

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
)

const notMade = "the transaction was not accepted"

// members are the forms of an account verification.
func (s *session) members() []result {
	tx, ok := s.read("short0")
	if !ok {
		return []result{open(unusable)}
	}
	time, date := tx.Get("transactionTime"), tx.Get("settlementDate")
	return []result{
		s.timeForm(time), dateForm(date), statusForm(tx.Get("status")), memberOrder(tx.Names),
		nothing(tx.Get("comment"), tx.Get("ipAddress")), nothing(tx.Get("bankAccount"), tx.Get("payToData")), emptyLinks(tx),
		cmp.Or(unknownValues(tx), open("answers have no source")), textMembers(tx),
	}
}

func (s *session) timeForm(v shape.Value) result {
	t, ok := timeOf(v)
	near := func(d time.Duration) bool { return -2*time.Hour < d && d < 2*time.Hour }
	ahead := t.at.Sub(s.Made[s.Specimens["short0"]].Answered)
	switch {
	case v.Kind == shape.Absent:
		return is("absent")
	case !ok:
		return other(described(v))
	case near(ahead):
		return is(t.form)
	case t.form == "Z" && near(ahead-mislabelled(t.at)):
		return is("wrong")
	default:
		return other(t.form + ", hours off")
	}
}

func dateForm(v shape.Value) result {
	_, ok := dateOf(v)
	switch {
	case v.Kind == shape.Absent:
		return is("absent")
	case ok && strings.Contains(v.Text, " "):
		return is("text")
	case ok:
		return is("iso")
	default:
		return other(described(v))
	}
}

func statusForm(v shape.Value) result {
	switch {
	case v.Kind == shape.Absent:
		return is("absent")
	case v.Text == "Approved":
		return is("listed")
	case v.Text == "APPROVED":
		return is("otherCase")
	case v.Text == "Settled":
		return is("unlisted")
	case v.Kind == shape.Text && len(v.Text) < 20:
		return other("the word " + v.Text)
	default:
		return other(described(v))
	}
}

// memberOrder compares with the order of the contract's table.
func memberOrder(names []string) result {
	var order []int
	for _, name := range []string{"receiptNumber", "transactionType", "responseCode", "responseDescription", "summaryCode", "source", "refundable", "voidable", "supplierBusinessCode"} {
		if i := slices.Index(names, name); i >= 0 {
			order = append(order, i)
		}
	}
	switch {
	case len(order) < 3:
		return open("too few members")
	case slices.IsSorted(order):
		return is("declared")
	case slices.IsSortedFunc(order, func(a, b int) int { return b - a }):
		return is("reversed")
	default:
		return other("neither the contract's order nor its reverse")
	}
}

// nothing is the form of members without a value.
func nothing(members ...shape.Value) result {
	forms := make([]string, len(members))
	for i, v := range members {
		if forms[i] = described(v); v.Kind == shape.Text && v.Text == "" {
			forms[i] = "empty"
		}
	}
	slices.Sort(forms)
	return one(strings.Join(slices.Compact(forms), " and "), "null", "absent", "empty")
}

func emptyLinks(tx shape.Value) result {
	form := ""
	for i, links := range []shape.Value{tx.Get("links"), tx.Get("creditCard", "links")} {
		if len(links.Items) > 0 || i > 0 && links.Kind == shape.Absent { // cards may have no links at all
			continue
		}
		kind := cmp.Or(map[shape.Kind]string{shape.Array: "list"}[links.Kind], string(links.Kind))
		if form != "" && form != kind {
			return other("several forms")
		}
		form = kind
	}
	if form == "" {
		return open("no list of links was empty")
	}
	return one(form, "list", "null", "object", "absent")
}

// clocks compares the service's clock and its times with ours.
func (s *session) clocks() []result {
	listed := []time.Duration{0, 20 * time.Second, -20 * time.Second, 31 * time.Second, -31 * time.Second, 5 * time.Minute, -5 * time.Minute, time.Hour, -time.Hour}
	date, times := s.Date.pick(listed...), s.Times.pick(listed...)
	if !s.Times.Known || times.open != "" {
		switch {
		case date.value == "0s":
			return []result{open("no time of a transaction is exact, and the Date header is right")}
		case date.value != "" && (!s.Times.Known || s.Times.contains(s.Date.middle())):
			return []result{date, is("false")}
		default:
			return []result{open("no time is exact")}
		}
	}
	switch {
	case times.value == "0s":
		return []result{times, open("the clocks agree")}
	case date.value == "0s":
		return []result{times, is("true")}
	case date == times:
		return []result{times, is("false")}
	default:
		return []result{times, other("the Date header is ahead by another time")}
	}
}

// offsetOfAgreements decides whether only the times of agreements lack their offset.
func (s *session) offsetOfAgreements() []result {
	switch rest := s.Notes["terms"]; {
	case s.value("TimeForm") == "":
		return []result{open("the form of times is not known")}
	case s.value("TimeForm") != "none" && rest == "sent":
		return []result{is("noOffset")}
	case s.value("TimeForm") != "none":
		return []result{other("no offset, and other terms")}
	case rest == "sent":
		return []result{open("no time has an offset")}
	default:
		return []result{is(rest)}
	}
}

func (s *session) payment() []result {
	n := s.Specimens["echo"]
	tx, ok := s.read("echo")
	if !ok {
		return []result{open(notMade)}
	}
	return []result{amountForm(tx), metadataForm(tx.Get("metadata")), s.transactionTimes(n, tx)}
}

func amountForm(tx shape.Value) result {
	v := tx.Get("principalAmount")
	principal, _ := cents(v)
	surcharge, charged := cents(tx.Get("surchargeAmount"))
	switch {
	case v.Kind == shape.Absent:
		return is("absent")
	case v.Kind != shape.Object && principal == 123:
		return one(string(v.Kind), "number", "text")
	case v.Kind != shape.Object || v.Get("amount").Empty():
		return other(described(v))
	case v.Get("amount").Kind != shape.Number:
		return other("object with " + described(v.Get("amount")))
	case v.Get("currency").Empty() && principal == 123:
		return is("noCurrency")
	case charged && surcharge > 0 && principal == 123+surcharge:
		return is("principalAsTotal")
	case principal != 123:
		return other("another amount")
	case !charged || surcharge == 0:
		return open("without a surcharge, a principal that shows the total looks the same")
	default:
		return is("object")
	}
}

func metadataForm(metadata shape.Value) result {
	if metadata.Empty() {
		return is("dropped")
	}
	switch value := metadata.Get("conform").Text; value {
	case metadataProbe:
		return is("echoed")
	case metadataProbe + " ":
		return is("blank")
	case strings.ToUpper(metadataProbe), strings.ToLower(metadataProbe):
		return is("otherCase")
	case metadataProbe[:16]:
		return is("cut")
	case `"` + metadataProbe + `"`:
		return is("quoted")
	case strings.Repeat("x", len(metadataProbe)-4) + metadataProbe[len(metadataProbe)-4:]:
		return is("masked")
	default:
		return other("the value is " + shape.Pattern(value))
	}
}

// transactionTimes compares the time of a voided payment with those of its payment and its void.
func (s *session) transactionTimes(n int, tx shape.Value) result {
	t, ok := timeOf(tx.Get("transactionTime"))
	made, changed := s.Made[n], s.Made[n].Changed
	if form := s.value("TimeForm"); s.Times.Known && ok && !changed.IsZero() && form != "" {
		at := t.at
		if form == "wrong" {
			at = at.Add(-mislabelled(at))
		}
		within := func(from, to time.Time) bool {
			return !at.Add(t.grain).Before(from.Add(s.Times.Low-2*time.Second)) && !at.After(to.Add(s.Times.High+2*time.Second))
		}
		switch first, last := within(made.Sent, made.Answered), within(changed, changed.Add(timeout)); {
		case first && !last:
			return is("made")
		case last && !first:
			return is("changed")
		case !first && !last:
			return other("neither the time of the payment nor of the void")
		}
	}
	return open("the payment was not voided, or its times are not exact or of no known form")
}

func (s *session) followUps() []result {
	_, made := s.Specimens["topUp"]
	if !made {
		return []result{open("no top-up was accepted")}
	}
	tx, _ := s.read("topUp")
	total, known := cents(tx.Get("totalAmount"))
	surcharge, _ := cents(tx.Get("surchargeAmount"))
	amount := open("amounts are absent, or not all answers came")
	if known && s.Specimens["topUp"] == s.Specimens["preauth"]+1 {
		switch total - surcharge {
		case 37:
			amount = is("sent")
		case 147:
			amount = is("newTotal")
		case 0:
			amount = is("zero")
		default:
			amount = other("neither the top-up, nor the new total, nor zero")
		}
	}
	return []result{s.ownReference("topUp", "preauth"), amount}
}

func (s *session) pending() []result {
	tx := s.answers[s.Specimens["onceOff"]].body
	if !isPending(tx) {
		tx, _ = s.read("onceOff")
	}
	if !isPending(tx) {
		return []result{open("no PayTo payment was pending")}
	}
	code := tx.Get("summaryCode")
	if code.Empty() {
		return []result{other("no summary code")}
	}
	return []result{one(code.Text, "0", "2")}
}

func isPending(tx shape.Value) bool { return strings.EqualFold(tx.Get("status").Text, "Pending") }

// isApproved reports an approval in a known form. The summary code alone is one only without a
// status: it may be that of approvals while a payment is pending.
func isApproved(tx shape.Value) bool {
	word, code := strings.ToLower(tx.Get("status").Text), tx.Get("summaryCode").Text
	return code == "0" && word == "" || slices.Contains([]string{"", "0"}, code) && slices.Contains([]string{"approved", "approved*", "settled"}, word)
}

// strangeStatus is the status of a transaction, if it is a word that is not known.
func strangeStatus(tx shape.Value) string {
	word := tx.Get("status").Text
	known := []string{"", "approved", "approved*", "pending", "declined", "voided", "suspended", "settled", "refused", "reversed"}
	if tx.Get("receiptNumber").Empty() || slices.Contains(known, strings.ToLower(word)) {
		return ""
	}
	return word
}

// unknownMembers sorts the members that the client does not model. Those inside of another one do not
// count.
func (s *session) unknownMembers() []result {
	kinds := map[string]bool{}
	for path := range s.Members {
		parts := strings.Split(path, ".")
		inner := false
		for i := range parts[1:] {
			inner = inner || s.Members[strings.Join(parts[:i+1], ".")] != ""
		}
		switch {
		case inner:
		case s.variant(path, parts[len(parts)-1]):
			kinds["caseVariants"] = true
		case s.Notes["nested "+path] != "":
			kinds["nested"] = true
		default:
			kinds["new"] = true
		}
	}
	switch list := slices.Collect(maps.Keys(kinds)); len(list) {
	case 0:
		return []result{is("none")}
	case 1:
		return []result{is(list[0])}
	default:
		return []result{other("members of several of these kinds")}
	}
}

// variant reports a name that differs only in case from a known one or a neighbour.
func (s *session) variant(path, name string) bool {
	for known := range s.known {
		if strings.EqualFold(known, name) {
			return true
		}
	}
	for otherPath := range s.Members {
		if otherPath != path && strings.EqualFold(otherPath, path) {
			return true
		}
	}
	return false
}
