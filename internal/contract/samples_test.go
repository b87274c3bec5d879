package contract_test

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/quickstream-go/quickstream/internal/contract"
)

// exchange is a request and its response, or a notification.
type exchange struct {
	Operation   string            `yaml:"operation"`
	Path        string            `yaml:"path"`
	Query       map[string]string `yaml:"query"`
	Headers     map[string]string `yaml:"headers"`
	Body        map[string]any    `yaml:"body"`
	Form        map[string]string `yaml:"form"`
	Status      int               `yaml:"status"`
	Response    map[string]any    `yaml:"response"`
	ContentType string            `yaml:"contentType"`
	Text        string            `yaml:"text"`
}

type samples struct {
	doc       *contract.Document
	Exchanges []exchange     `yaml:"exchanges"`
	Error     map[string]any `yaml:"error"`
}

var load = sync.OnceValues(contract.Load)

func loadSamples(t testing.TB) samples {
	t.Helper()
	doc, err := load()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/samples.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := samples{doc: doc}
	if err := yaml.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s samples) operation(t testing.TB, id string) *contract.Operation {
	t.Helper()
	op, ok := s.doc.Operation(id)
	if !ok {
		t.Fatalf("no operation %s", id)
	}
	return op
}

func (e exchange) webhook() bool { return strings.HasPrefix(e.Operation, "WEBHOOK ") }

// request builds what a client would send; body replaces the sample's own when given.
func (e exchange) request(t testing.TB, op *contract.Operation, body []byte) *http.Request {
	t.Helper()
	query := url.Values{}
	for name, value := range e.Query {
		query.Set(name, value)
	}
	contentType := "application/json"
	if e.Form != nil {
		body, contentType = form(t, e.Form)
	}
	target := "https://api.test/rest/v1" + e.Path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	r := httptest.NewRequest(op.Method, target, bytes.NewReader(body))
	r.SetBasicAuth("KEY", "")
	for name, value := range e.Headers {
		r.Header.Set(name, value)
	}
	if len(body) > 0 {
		r.Header.Set("Content-Type", contentType)
	}
	return r
}

func (e exchange) responseHeader() http.Header {
	contentType := e.ContentType
	if contentType == "" {
		contentType = "application/json"
	}
	return http.Header{"Content-Type": {contentType}}
}

func form(t testing.TB, parts map[string]string) (body []byte, contentType string) {
	t.Helper()
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for name, value := range parts {
		create := w.CreateFormField
		if name == "file" {
			create = func(name string) (io.Writer, error) { return w.CreateFormFile(name, value) }
		}
		part, err := create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), w.FormDataContentType()
}

var signed = http.Header{"Content-Type": {"application/json"}, "X-Webhook-Signature": {"t=1772320530000,v1=abc"}}

// validateBody checks a request or notification body as the sample's operation would.
func (s samples) validateBody(t testing.TB, e exchange, body []byte) error {
	t.Helper()
	if e.webhook() {
		return s.doc.ValidateNotification(signed, body)
	}
	op := s.operation(t, e.Operation)
	return op.ValidateRequest(e.request(t, op, body))
}

func encode(t testing.TB, value any) []byte {
	t.Helper()
	if m, ok := value.(map[string]any); ok && m == nil {
		return nil
	}
	body, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestSamplesAreValid(t *testing.T) {
	s := loadSamples(t)
	for _, e := range s.Exchanges {
		if err := s.validateBody(t, e, encode(t, e.Body)); err != nil {
			t.Errorf("request: %v", err)
		}
		if e.webhook() {
			continue
		}
		op := s.operation(t, e.Operation)
		body := encode(t, e.Response)
		if e.Text != "" {
			body = []byte(e.Text)
		}
		if err := op.ValidateResponse(e.Status, e.responseHeader(), body); err != nil {
			t.Errorf("response: %v", err)
		}
		matched, err := s.doc.Match(e.request(t, op, encode(t, e.Body)))
		if err != nil || matched != op {
			t.Errorf("%s: matched %v, %v", e.Operation, matched, err)
		}
	}
}
