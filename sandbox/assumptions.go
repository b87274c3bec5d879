package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Assumptions are the sandbox's answers to the questions that the public contract leaves open. The defaults
// are what the contract and the vendor's public pages describe; [Unkind] has the hardest value of each.
// [Assumptions.List] says what a merchant's program has to do differently because of each.
type Assumptions struct {
	// LookupLag is how long new transactions and agreements are absent from every read.
	LookupLag time.Duration
	// ReferenceSearch is how references are compared: anyCase, exact, or prefix (a reference that is found may be longer).
	ReferenceSearch string
	// FollowUpReferences are the references in reads of follow-ups, such as refunds: own, original (of the original) or none.
	FollowUpReferences string
	// NothingFound is the answer to look-ups that find nothing: 404 or empty (a list).
	NothingFound string
	// PageSize is the number of items on a page of a list.
	PageSize int
	// Paging is how pages change while a list is read: stable; shifting (a page repeats the end of the one before);
	// unstable (two items change places between pages); or gone (the second page is 404 every other time).
	Paging string
	// ClockSkew is how far the service's clock is ahead.
	ClockSkew time.Duration
	// EchoedReferences is the form in which answers show references: sent, upper or none.
	EchoedReferences string
	// Metadata is echoed, dropped, or inherited (a follow-up shows that of its original).
	Metadata string
	// StatusForm is listed; otherCase; or, for final states, unlisted (Settled, Refused, Reversed) or absent.
	StatusForm string
	// TransactionAnswers is how much answers to writes of transactions show: full, or receipt (the receipt number only).
	TransactionAnswers string
	// UnknownMembers is none or new. new adds members, informative values and event types that the contract does
	// not name yet, and makes identifiers 255 characters long.
	UnknownMembers string
	// ErrorForm is the form of error bodies: object, list, map (by field), html or empty. Gateways send the last two as well.
	ErrorForm string
	// KeyLifetime is how long the answer to a POST is repeated for its Idempotency-Key. With 0 keys are ignored.
	KeyLifetime time.Duration
	// KeyMismatch is the answer to a key that was used with another body: 422, 409 or replay (the first answer).
	KeyMismatch string
	// TokenQuota is how many single-use tokens may be created in a minute; 0 is no limit.
	TokenQuota int
	// CutOffHour is the hour, in Sydney, at which the next settlement date begins.
	CutOffHour int
	// SettlementDays are the days on which transactions settle: every or weekdays.
	SettlementDays string
	// RefundBeforeCutOff makes payments refundable while they can still be voided.
	RefundBeforeCutOff bool
	// SoftDeclineCodes are the response codes of declines that may succeed later.
	SoftDeclineCodes []string
	// RetrySchedule has the waits before the service's own retries of a soft decline, until one succeeds.
	RetrySchedule []time.Duration
	// BankReturnAfter is how long a payment from a test bank account looks approved before it is declined. With 0
	// its answer is the decline.
	BankReturnAfter time.Duration
	// ReversalAfter is how long after a lost answer the service voids an approved card payment; 0 is never.
	ReversalAfter time.Duration
	// ReportGeneration is how long a CSV report takes, from the first request for it.
	ReportGeneration time.Duration
	// AutoConfirm makes payers confirm agreements and accept amendments. Without it they wait for [Sandbox.Payer].
	AutoConfirm bool
	// TermsEnforced refuses PayTo payments outside the terms of their agreement.
	TermsEnforced bool
	// PayToApprovedAfter is how long PayTo payments are Pending. With 0 the answer approves them.
	PayToApprovedAfter time.Duration
	// Events is when the events of a request arrive: after its answer, before it, twice or never.
	Events string
	// RedeliverAfter has the waits before a notification is posted again, until it is answered with 200.
	RedeliverAfter []time.Duration
	// Redelivery is how a notification is posted again: signed (anew, with its own time), same (with the first
	// signature) or fresher (signed anew, with current data).
	Redelivery string
	// SignatureHeader is plain, swapped (v1 before t) or several (signatures, one of them right).
	SignatureHeader string
}

// DefaultAssumptions returns what the contract and the vendor's public pages describe.
func DefaultAssumptions() Assumptions {
	var a Assumptions
	for _, r := range assumptionTable {
		_ = setField(r.field(&a), r.values[0]) // a test sets each
	}
	return a
}

// Unkind sets each assumption to its hardest value for a client. Pass it to [WithAssumptions].
// Payers do not confirm by themselves, as with the defaults.
func Unkind(a *Assumptions) {
	for _, r := range assumptionTable {
		_ = setField(r.field(a), r.hardest)
	}
}

// assumptionRow is an assumption with its values, the kind one first.
type assumptionRow struct {
	group, name string
	field       func(*Assumptions) any
	values      []string
	hardest     string
	known       string // what public sources say
	why         string // what a merchant does differently
}

var assumptionTable = []assumptionRow{ //nolint:gochecknoglobals // an immutable table
	{"Look-ups", "LookupLag", func(a *Assumptions) any { return &a.LookupLag }, []string{"0s", "2s", "10s", "5m", "24h"}, "2s", "nothing", "takes \"not found\" for \"not yet\", and looks again"},
	{"Look-ups", "ReferenceSearch", func(a *Assumptions) any { return &a.ReferenceSearch }, []string{"anyCase", "exact", "prefix"}, "prefix", "\"case insensitive\"; nothing about parts", "compares what it finds with what it asked for"},
	{"Look-ups", "FollowUpReferences", func(a *Assumptions) any { return &a.FollowUpReferences }, []string{"own", "original", "none"}, "own", "nothing", "finds them in the lists of the original"},
	{"Look-ups", "NothingFound", func(a *Assumptions) any { return &a.NothingFound }, []string{"404", "empty"}, "404", "404 is listed without its cause", "takes both for the same"},
	{"Look-ups", "PageSize", func(a *Assumptions) any { return &a.PageSize }, []string{"20", "1", "3", "1000"}, "3", "lists have next and prev links; sizes are not stated", "reads all pages"},
	{"Look-ups", "Paging", func(a *Assumptions) any { return &a.Paging }, []string{"stable", "shifting", "unstable", "gone"}, "shifting", "nothing", "removes repeated items, and does not take a part of a list for the whole"},
	{"Answers", "ClockSkew", func(a *Assumptions) any { return &a.ClockSkew }, []string{"0s", "31s", "-31s", "5m", "-5m", "1h", "-1h"}, "0s", "nothing", "does not compare the service's times with its own to the second"},
	{"Answers", "EchoedReferences", func(a *Assumptions) any { return &a.EchoedReferences }, []string{"sent", "upper", "none"}, "upper", "references are case insensitive; their form in answers is not stated", "compares references in any case, and finds its order by the receipt"},
	{"Answers", "Metadata", func(a *Assumptions) any { return &a.Metadata }, []string{"echoed", "dropped", "inherited"}, "inherited", "string key/value pairs supplied on the request", "sends its own reference with each write"},
	{"Answers", "StatusForm", func(a *Assumptions) any { return &a.StatusForm }, []string{"listed", "otherCase", "unlisted", "absent"}, "otherCase", "words are listed", "a status that is not known is no answer; WithStatusOutcome names those of the facility"},
	{"Answers", "TransactionAnswers", func(a *Assumptions) any { return &a.TransactionAnswers }, []string{"full", "receipt"}, "full", "a Transaction Response Model; which members are optional is not stated", "reads the transaction before it ships"},
	{"Answers", "UnknownMembers", func(a *Assumptions) any { return &a.UnknownMembers }, []string{"none", "new"}, "new", "members and values may be added without a new version, and identifiers grow to 255 characters", "ignores what it does not know, and leaves room for identifiers"},
	{"Answers", "ErrorForm", func(a *Assumptions) any { return &a.ErrorForm }, []string{"object", "list", "map", "html", "empty"}, "map", "the body lists the errors; public client code reads an object", "a write that is refused in a form that gateways send too is unknown"},
	{"Requests", "KeyLifetime", func(a *Assumptions) any { return &a.KeyLifetime }, []string{"24h", "5m", "2m", "0s"}, "5m", "vendor's public pages: resend with the same key after a network error; for how long is not stated", "does not send a payment again later than that"},
	{"Requests", "KeyMismatch", func(a *Assumptions) any { return &a.KeyMismatch }, []string{"422", "409", "replay"}, "replay", "nothing", "uses a new key for a changed cart"},
	{"Requests", "TokenQuota", func(a *Assumptions) any { return &a.TokenQuota }, []string{"0", "100"}, "100", "429 exists, no figure", "handles 429"},
	{"Settlement", "CutOffHour", func(a *Assumptions) any { return &a.CutOffHour }, []string{"18", "16", "22"}, "18", "vendor's public pages: 18:00 Sydney for cards", "voids before it and refunds after it"},
	{"Settlement", "SettlementDays", func(a *Assumptions) any { return &a.SettlementDays }, []string{"every", "weekdays"}, "weekdays", "the published sample settles on a holiday", "expects the money and its report on those days"},
	{"Settlement", "RefundBeforeCutOff", func(a *Assumptions) any { return &a.RefundBeforeCutOff }, []string{"false", "true"}, "false", "vendor's public pages: a card payment can be voided until cut-off and refunded after", "without it, void on the same day"},
	{"Settlement", "SoftDeclineCodes", func(a *Assumptions) any { return &a.SoftDeclineCodes }, []string{"01", "none", "01,05,51,91"}, "01", "vendor's public pages mark codes as soft declines; 01 is one", "look whether the service has retried before a second payment"},
	{"Settlement", "RetrySchedule", func(a *Assumptions) any { return &a.RetrySchedule }, []string{"none", "24h,48h", "2h,6h"}, "24h,48h", "soft declines are retried manually or on a schedule; no figures", "a declined order may be paid without a request"},
	{"Settlement", "BankReturnAfter", func(a *Assumptions) any { return &a.BankReturnAfter }, []string{"24h", "0s", "72h"}, "72h", "vendor's public pages: the customer's bank may decline for up to 3 banking days", "reads the list of returns"},
	{"Settlement", "ReversalAfter", func(a *Assumptions) any { return &a.ReversalAfter }, []string{"0s", "30s", "10m"}, "0s", "nothing; acquirers reverse what was not acknowledged", "looks again at a payment that only a look-up found"},
	{"Settlement", "ReportGeneration", func(a *Assumptions) any { return &a.ReportGeneration }, []string{"1m", "0s", "10m"}, "10m", "202 until it is ready; ask again after a minute", "asks again until it is ready"},
	{"PayTo and webhooks", "AutoConfirm", func(a *Assumptions) any { return &a.AutoConfirm }, []string{"false", "true"}, "false", "vendor's public pages: payers of all but the test BSBs approve", "waits for the payer, who may never answer"},
	{"PayTo and webhooks", "TermsEnforced", func(a *Assumptions) any { return &a.TermsEnforced }, []string{"true", "false"}, "true", "nothing", "keeps to what the payer agreed to"},
	{"PayTo and webhooks", "PayToApprovedAfter", func(a *Assumptions) any { return &a.PayToApprovedAfter }, []string{"1m", "0s", "15m", "119h"}, "15m", "an event reports the approval; elsewhere seconds", "waits for the outcome before it ships"},
	{"PayTo and webhooks", "Events", func(a *Assumptions) any { return &a.Events }, []string{"after", "before", "twice", "never"}, "before", "nothing", "knows the order before the answer, takes each event once, and looks up what no event reports"},
	{"PayTo and webhooks", "RedeliverAfter", func(a *Assumptions) any { return &a.RedeliverAfter }, []string{"5s,30s,5m,30m,2h", "none"}, "5s,30s,5m,30m,2h", "vendor's public pages: handle duplicates; no schedule", "answers 200 for what it has had before"},
	{"PayTo and webhooks", "Redelivery", func(a *Assumptions) any { return &a.Redelivery }, []string{"signed", "same", "fresher"}, "same", "nothing", "takes an old signature for a redelivery if its tolerance allows, and orders events by their data"},
	{"PayTo and webhooks", "SignatureHeader", func(a *Assumptions) any { return &a.SignatureHeader }, []string{"plain", "swapped", "several"}, "several", "t=<timestamp_ms>,v1=<signature>", "looks for the parts by name"},
}

// Set changes the assumption with a name, such as LookupLag, to a value in the form of [Assumptions.List].
// It is an error if there is no such assumption, or it cannot have the value.
func (a *Assumptions) Set(name, value string) error {
	i := slices.IndexFunc(assumptionTable, func(r assumptionRow) bool { return r.name == name })
	if i < 0 {
		return fmt.Errorf("sandbox: no assumption %q", name)
	}
	r := &assumptionTable[i]
	if _, isWord := r.field(a).(*string); isWord && !slices.Contains(r.values, value) {
		return fmt.Errorf("sandbox: assumption %s is one of %s, not %q", name, strings.Join(r.values, ", "), value)
	}
	if err := setField(r.field(a), value); err != nil {
		return fmt.Errorf("sandbox: assumption %s: %w", name, err)
	}
	return nil
}

// Assumption describes one field of [Assumptions].
type Assumption struct {
	Group   string   `json:"group"`   // heading in the list
	Name    string   `json:"name"`    // field
	Value   string   `json:"value"`   // current value, as [Assumptions.Set] takes it
	Known   string   `json:"known"`   // what public sources say
	Why     string   `json:"why"`     // what a merchant does differently
	Hardest string   `json:"hardest"` // value of [Unkind]
	Worlds  []string `json:"worlds"`  // values of package sandboxtest/worlds, the default first
}

// List describes every assumption, with its current value.
func (a Assumptions) List() []Assumption {
	list := make([]Assumption, len(assumptionTable))
	for i, r := range assumptionTable {
		list[i] = Assumption{r.group, r.name, fieldText(r.field(&a)), r.known, r.why, r.hardest, slices.Clone(r.values)}
	}
	return list
}

const noValues = "none"

func fieldText(field any) string {
	switch f := field.(type) {
	case *bool:
		return strconv.FormatBool(*f)
	case *int:
		return strconv.Itoa(*f)
	case *string:
		return *f
	case *time.Duration:
		return durationText(*f)
	case *[]string:
		return listText(*f, func(s string) string { return s })
	case *[]time.Duration:
		return listText(*f, durationText)
	default:
		return ""
	}
}

func setField(field any, text string) (err error) {
	switch f := field.(type) {
	case *bool:
		*f, err = strconv.ParseBool(text)
	case *int:
		*f, err = strconv.Atoi(text)
	case *string:
		*f = text
	case *time.Duration:
		*f, err = time.ParseDuration(text)
	case *[]string:
		*f, err = parseList(text, func(s string) (string, error) { return s, nil })
	case *[]time.Duration:
		*f, err = parseList(text, time.ParseDuration)
	}
	return err
}

func listText[T any](list []T, text func(T) string) string {
	if len(list) == 0 {
		return noValues
	}
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = text(v)
	}
	return strings.Join(words, ",")
}

func parseList[T any](text string, parse func(string) (T, error)) (list []T, err error) {
	if text == noValues {
		return nil, nil
	}
	for word := range strings.SplitSeq(text, ",") {
		v, err := parse(word)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// durationText leaves out the zeros at the end: 24h and not 24h0m0s.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// ReadFacility reads facility.json, in which quickstream-conform describes a facility of the real service. It
// returns the change for [WithAssumptions]. An assumption that stays open is not changed. A value that the
// sandbox cannot have, or another format, is an error. The file is never a reason to change a client: one
// observation must not widen a window or drop a check.
func ReadFacility(r io.Reader) (func(*Assumptions), error) {
	var f struct {
		Format   int
		Findings []struct{ Name, Value string }
	}
	if err := json.NewDecoder(r).Decode(&f); err != nil {
		return nil, fmt.Errorf("sandbox: facility: %w", err)
	}
	if f.Format != 1 {
		return nil, errors.New("sandbox: facility: another format; use the version that wrote it")
	}
	set := func(a *Assumptions) (err error) {
		for _, finding := range f.Findings {
			if finding.Value != "" {
				err = errors.Join(err, a.Set(finding.Name, finding.Value))
			}
		}
		return err
	}
	tried := DefaultAssumptions()
	if err := set(&tried); err != nil {
		return nil, fmt.Errorf("facility: %w", err)
	}
	return func(a *Assumptions) { _ = set(a) }, nil // it was tried
}
