package conform

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
	"github.com/quickstream-go/quickstream/sandbox"
)

// Keys are the API keys of a test facility.
type Keys struct{ Secret, Publishable string }

// Clock is the time of a run. The default is package time.
type Clock interface {
	Now() time.Time
	// Sleep waits, and returns the error of a context that ends before.
	Sleep(ctx context.Context, d time.Duration) error
	// Timeout limits a request.
	Timeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

// Config is what a run needs. Environment and Keys are required.
type Config struct {
	// Environment is TestAU, TestNZ or an address on this machine. No other is asked.
	Environment quickstream.Environment
	Keys        Keys
	// Business is the supplierBusinessCode; empty takes the first of the facility.
	Business string
	// Journal is the path of the file from which a later run goes on; empty keeps it in memory.
	Journal string
	// Wait is how long the run may take for what needs time; at least some minutes.
	Wait time.Duration
	// PayID is a PayID of type EMAL that the test facility knows.
	PayID string
	// Files allows one payment file, which cannot be undone.
	Files bool
	// NewKey allows asking for newer API keys, and is given them. Afterwards the key of the run may
	// expire.
	NewKey func(key string) error
	// Webhooks receives the notifications of a subscription of the facility, with its secret.
	Webhooks      *Receiver
	WebhookSecret string
	// HTTPClient connects; its transport is used. Progress is called after each request.
	HTTPClient *http.Client
	Clock      Clock
	Progress   func(requests int)
}

func (c Config) currency() string {
	if c.Environment == quickstream.TestNZ {
		return "NZD"
	}
	return "AUD"
}

// Report is what a run has found.
type Report struct {
	sandbox.Facility
	Requests int
	// Left is what has not been undone yet, by the references that the run gave it: a later run, or
	// [Clean], does it.
	Left []string
}

var errUsedUp = errors.New("conform: 300 requests are used up")

// shortest is how long a run takes that waits for nothing.
const shortest = 6 * time.Minute

// Run asks the questions that have no answer in the journal, undoes what it has made, and returns
// the answers. After an error the report holds what was found before.
func Run(ctx context.Context, cfg Config) (Report, error) {
	s, err := newSession(ctx, cfg)
	if err != nil {
		return Report{}, err
	}
	s.greet()
	if s.err == nil {
		s.until = s.cfg.Clock.Now().Add(max(cfg.Wait, shortest))
		s.run()
	}
	usedUp := errors.Is(s.err, errUsedUp)
	if s.cleaning = true; usedUp {
		s.err = nil
		s.rest("the 300 requests of a run are used up")
	}
	s.until = s.cfg.Clock.Now().Add(max(s.until.Sub(s.cfg.Clock.Now()), time.Minute))
	asked := s.err
	report := s.report()
	s.err = nil
	report.Left = s.clean()
	report.Requests = s.Requests
	s.keep()
	return report, errors.Join(asked, s.err)
}

// Clean undoes what an interrupted run has made, and asks nothing. It returns what is left, by the
// references that the run gave it. It makes at most 300 requests, whatever the run has made.
func Clean(ctx context.Context, cfg Config) (left []string, err error) {
	s, err := newSession(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s.allowed, s.cleaning = maxRequests, true // of its own: the run may have used up all
	s.greet()
	s.until = s.cfg.Clock.Now().Add(max(cfg.Wait, time.Minute))
	left = s.clean()
	s.keep()
	return left, s.err
}

// reserved are the requests that are kept for undoing what was made. What has a receipt needs no
// search.
func (s *session) reserved() int {
	n := 14
	for _, made := range s.open(kindPayment, kindPreauth) {
		if n += 2; s.answers[made].receipt() == "" {
			n++
		}
	}
	return n
}

func newSession(ctx context.Context, cfg Config) (*session, error) {
	base, err := allowed(cfg.Environment)
	if err != nil {
		return nil, err
	}
	if cfg.Keys.Secret == "" || cfg.Keys.Publishable == "" {
		return nil, errors.New("conform: both API keys are needed")
	}
	if cfg.Clock == nil {
		cfg.Clock = packageTime{}
	}
	if cfg.Progress == nil {
		cfg.Progress = func(int) {}
	}
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment}}
	}
	j, err := openJournal(cfg.Journal, base.Host, cfg.Clock.Now().UTC(), random)
	if err != nil {
		return nil, err
	}
	s := &session{
		journal: j, ctx: ctx, cfg: cfg, base: base, known: modelled(), answers: map[int]answer{}, seen: map[int]shape.Value{}, doubts: map[int]bool{}, business: cfg.Business, process: random(),
		allowed: max(maxRequests-j.Requests, 0),
		client: &http.Client{
			Transport:     cfg.HTTPClient.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	return s, s.save()
}

func random() string {
	raw := make([]byte, 15)
	_, _ = rand.Read(raw) // never fails
	return base32.StdEncoding.EncodeToString(raw)
}

// allowed returns the address of an environment that may be asked.
func allowed(env quickstream.Environment) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSuffix(string(env), "/"))
	host := ""
	if err == nil {
		host = strings.ToLower(u.Hostname())
	}
	test := env == quickstream.TestAU || env == quickstream.TestNZ
	loopback := slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, host) || strings.HasSuffix(host, ".localhost")
	if err != nil || u.User != nil || u.RawQuery != "" || !test && !loopback || u.Scheme != "https" && !(u.Scheme == "http" && loopback) {
		return nil, errors.New("conform: only TestAU, TestNZ and addresses on this machine are asked")
	}
	return u, nil
}

// modelled are the names of all members that the client models.
func modelled() map[string]bool {
	names := map[string]bool{"data": true}
	for _, name := range strings.Fields("id timestamp eventType errors fieldName fieldValue messages message status requestMethod requestUrl " +
		"customerMessage developerMessage traceCode errorNumber communityCode communityName keyName key expiryDate rel href " +
		"browserJavaEnabled browserLanguage browserScreenHeight browserScreenWidth browserColorDepth browserTZ") {
		names[name] = true
	}
	var collect func(t reflect.Type, depth int)
	collect = func(t reflect.Type, depth int) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || depth > 4 {
			return
		}
		for f := range t.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
				names[name] = true
			}
			collect(f.Type, depth+1)
		}
	}
	for _, model := range []any{
		quickstream.Transaction{},
		quickstream.Agreement{},
		quickstream.Customer{},
		quickstream.Account{},
		quickstream.SingleUseToken{},
		quickstream.Business{},
		quickstream.PaymentFile{},
		quickstream.ThreeDSResult{},
		quickstream.Amount{},
		quickstream.Link{},
	} {
		collect(reflect.TypeOf(model), 0)
	}
	return names
}

// greet checks the key, and finds the business.
func (s *session) greet() {
	if a := s.get("/", nil); !a.accepted() && s.err == nil {
		s.err = fmt.Errorf("conform: the service does not accept the secret key: status %d", a.status)
	}
	if s.business != "" || s.err != nil {
		return
	}
	for _, item := range s.get("/businesses", nil).body.Get("data").Items {
		if s.business = item.Get("supplierBusinessCode").Text; s.business != "" {
			return
		}
	}
	if s.err == nil {
		s.err = errors.New("conform: no business was found; name one with -business")
	}
}

// run asks everything: first what needs only an answer, then what is read later, then what needs
// days.
func (s *session) run() {
	s.ask(immediate()...)
	s.begin(untilLag, "AgreementLookupLag")
	s.specimens()
	s.startRetries()
	s.ask(row("Events"))
	s.begin("KeyLifetime", "PayToApprovedAfter", "BankReturnAfter")
	s.Notes["specimens"] = s.process
	s.planDays()
	s.keep()
	s.watch()
	s.columns()
	s.rest("")
}

// rest says of what has no answer why; all names a reason that holds for all.
func (s *session) rest(all string) {
	if s.err != nil {
		return
	}
	if all != "" {
		for _, a := range sandbox.DefaultAssumptions().List() {
			if len(a.Worlds) > 0 {
				s.waiting(a.Name, "", all)
			}
		}
	}
	for _, o := range onsets() {
		if w, begun := s.Onsets[o.name]; begun && s.Findings[o.name].Name == "" {
			why := fmt.Sprintf("not before %s", brief(max(w.Before, 0)))
			if w.Looked < len(o.ages) {
				why += "; needs -wait " + brief(o.ages[len(o.ages)-1].Round(time.Hour))
			}
			s.waiting(o.name, o.how, why)
		}
	}
	for _, p := range table() {
		for _, name := range p.names {
			if p.later != "" {
				s.waiting(name, p.how, p.later)
			}
		}
	}
}

// waiting says why a question has no answer, in the report only: a later run asks it again.
func (s *session) waiting(name, how, why string) {
	if s.Findings[name].Name == "" && !slices.ContainsFunc(s.later, func(f sandbox.FacilityFinding) bool { return f.Name == name }) {
		s.later = append(s.later, sandbox.FacilityFinding{Name: name, Open: why, How: how, At: s.cfg.Clock.Now().UTC()})
	}
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Path + " " + info.Main.Version
}

// report is what has been found so far, in the order of the assumptions.
func (s *session) report() Report {
	f := sandbox.Facility{
		Format: sandbox.FacilityFormat, Host: s.base.Hostname(), Seen: s.cfg.Clock.Now().UTC(), Tool: version(),
		SignatureScheme: s.Scheme, Members: s.Members, Columns: s.Columns,
	}
	for _, a := range sandbox.DefaultAssumptions().List() {
		if finding := s.Findings[a.Name]; finding.Name != "" {
			f.Findings = append(f.Findings, s.corrected(finding))
			continue
		}
		for _, finding := range s.later {
			if finding.Name == a.Name {
				f.Findings = append(f.Findings, finding)
			}
		}
	}
	return Report{Facility: f}
}

// corrected is a finding about the words of enumerations, after a status with another word was seen:
// such words may come after the finding.
func (s *session) corrected(f sandbox.FacilityFinding) sandbox.FacilityFinding {
	word := s.Notes["status"]
	if word != "" && (f.Name == "StatusForm" && f.Value == "listed" || f.Name == "UnknownEnumValues" && f.Value == "false") {
		f.Value, f.Other = "", "the status "+word
	}
	return f
}

// packageTime is package time.
type packageTime struct{}

func (packageTime) Now() time.Time { return time.Now() }

func (packageTime) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (packageTime) Timeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}
