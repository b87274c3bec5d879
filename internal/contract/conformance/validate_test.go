package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const jsonType = "application/json"

// ValidateRequest checks method, path, query, headers, credentials and body
// against the operation and reports everything that is wrong. The body can
// still be read afterwards. A query parameter that is not documented is an
// error; a request that follows a next link carries the service's own
// parameters and is not meant to be checked here.
func (o *Operation) ValidateRequest(r *http.Request) error {
	var body []byte
	if r.Body != nil {
		read, err := io.ReadAll(r.Body)
		if err != nil {
			return fmt.Errorf("%s: reading the body: %w", o.ID, err)
		}
		body = read
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	values, ok := o.pathValues(r.URL)
	if r.Method != o.Method || !ok {
		return fmt.Errorf("%s: %s %s is not this operation", o.ID, r.Method, r.URL.Path)
	}
	var errs []error
	for _, p := range o.Parameters {
		if p.In == "path" {
			errs = append(errs, p.validate(values[p.Name], true))
		}
	}
	errs = append(errs,
		o.validateQuery(r.URL.RawQuery),
		o.validateHeaders(r.Header),
		o.validateCredentials(r),
		o.validateBody(r.Header.Get("Content-Type"), body),
	)
	return o.join(errs...)
}

// ValidateRequestBody checks the body alone. An operation without a body
// accepts only an empty one, whatever the content type.
func (o *Operation) ValidateRequestBody(contentType string, body []byte) error {
	return o.join(o.validateBody(contentType, body))
}

func (o *Operation) validateBody(contentType string, body []byte) error {
	if len(o.body) == 0 {
		if len(body) > 0 {
			return errors.New("a request body is not documented")
		}
		return nil
	}
	if len(body) == 0 {
		return errors.New("the request body is missing")
	}
	c, params, err := lookup(o.body, contentType)
	switch {
	case err != nil:
	case c.filePart != "":
		err = c.validateMultipart(params["boundary"], body)
	default:
		err = c.validateJSON(body)
	}
	if err != nil {
		return fmt.Errorf("request body: %w", err)
	}
	return nil
}

// ValidateResponse checks status, content type and body. The default response
// stands for errors only, so a success status must be documented.
func (o *Operation) ValidateResponse(status int, header http.Header, body []byte) error {
	r, ok := o.response(status)
	if !ok {
		return fmt.Errorf("%s: status %d is not documented", o.ID, status)
	}
	if len(body) == 0 && (r.bodyOptional || len(r.content) == 0) {
		return nil
	}
	if len(r.content) == 0 {
		return fmt.Errorf("%s: status %d has a body, none is documented", o.ID, status)
	}
	c, _, err := lookup(r.content, header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("%s: status %d: %w", o.ID, status, err)
	}
	if mediaType, _, _ := mime.ParseMediaType(header.Get("Content-Type")); mediaType != jsonType {
		if !utf8.Valid(body) {
			return fmt.Errorf("%s: status %d: text is not UTF-8", o.ID, status)
		}
		return nil
	}
	if err := c.validateJSON(body); err != nil {
		return fmt.Errorf("%s: status %d: %w", o.ID, status, err)
	}
	return nil
}

// ValidateNotification checks the headers and body of a webhook request. An
// event type that is not documented has only its envelope checked.
func (d *Document) ValidateNotification(header http.Header, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("notification: %w", err)
	}
	op, ok := d.Operation("WEBHOOK " + textOf(objectOf(value)["eventType"]))
	if !ok {
		op = d.envelope
	}
	return op.join(
		op.validateHeaders(header),
		op.validateBody(header.Get("Content-Type"), body),
	)
}

// join names the operation once in front of everything that is wrong.
func (o *Operation) join(errs ...error) error {
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%s: %w", o.ID, err)
	}
	return nil
}

func (o *Operation) response(status int) (response, bool) {
	r, ok := o.responses[strconv.Itoa(status)]
	if !ok && status >= http.StatusBadRequest {
		r, ok = o.responses["default"]
	}
	return r, ok
}

func (o *Operation) validateQuery(rawQuery string) error {
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range o.Parameters {
		if p.In != "query" {
			continue
		}
		values, present := query[p.Name]
		delete(query, p.Name)
		switch {
		case len(values) > 1:
			errs = append(errs, fmt.Errorf("query parameter %s is given %d times", p.Name, len(values)))
		case present:
			errs = append(errs, p.validate(values[0], true))
		default:
			errs = append(errs, p.validate("", false))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		errs = append(errs, fmt.Errorf("query parameter %s is not documented", name))
	}
	return errors.Join(errs...)
}

func (o *Operation) validateHeaders(header http.Header) error {
	var errs []error
	for _, p := range o.Parameters {
		if p.In == "header" {
			value, present := headerValue(header, p.Name)
			errs = append(errs, p.validate(value, present))
		}
	}
	return errors.Join(errs...)
}

// headerValue also finds a header that was set under another spelling of its
// name, which is how a client can keep net/http from replaying a request.
func headerValue(header http.Header, name string) (string, bool) {
	for key, values := range header {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return values[0], true
		}
	}
	return "", false
}

// validateCredentials checks the form only, because a key's text does not show its kind. See
// [Operation.Keys].
func (o *Operation) validateCredentials(r *http.Request) error {
	user, password, ok := r.BasicAuth()
	switch {
	case !ok || user == "":
		return fmt.Errorf("no key was sent, want %s", strings.Join(o.Keys, " or "))
	case password != "":
		return errors.New("the password is not empty")
	}
	return nil
}

func (p Parameter) validate(value string, present bool) error {
	if !present {
		if p.required {
			return fmt.Errorf("%s parameter %s is missing", p.In, p.Name)
		}
		return nil
	}
	var typed any = value
	if p.boolean {
		b, err := strconv.ParseBool(value)
		if err != nil || value != strconv.FormatBool(b) {
			return fmt.Errorf("%s parameter %s is not true or false", p.In, p.Name)
		}
		typed = b
	}
	if err := p.schema.Validate(typed); err != nil {
		return fmt.Errorf("%s parameter %s: %w", p.In, p.Name, err)
	}
	return nil
}

func lookup(contents map[string]*content, contentType string) (*content, map[string]string, error) {
	mediaType, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, nil, fmt.Errorf("content type %q: %w", contentType, err)
	}
	c, ok := contents[mediaType]
	if !ok {
		return nil, nil, fmt.Errorf("content type %q is not documented", contentType)
	}
	return c, params, nil
}

func (c *content) validateJSON(body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return c.validate(value)
}

// validate reports against the variant that the body claims to be, because the
// error of a choice speaks of every variant at once.
func (c *content) validate(value any) error {
	err := c.schema.Validate(value)
	if err == nil || len(c.variants) == 1 {
		return err
	}
	if claimed := c.claimed(objectOf(value)); claimed != nil {
		if claimedErr := claimed.schema.Validate(value); claimedErr != nil {
			return fmt.Errorf("%s: %w", claimed.Name, claimedErr)
		}
	}
	return err
}

// claimed returns the variant whose fixed members the body has; of several, the
// one that fixes most.
func (c *content) claimed(body map[string]any) *variant {
	var found *variant
	for i := range c.variants {
		v := &c.variants[i]
		if v.claimedBy(body) && (found == nil || len(v.consts) > len(found.consts)) {
			found = v
		}
	}
	return found
}

func (v *variant) claimedBy(body map[string]any) bool {
	for name, want := range v.consts {
		if got, ok := body[name].(string); !ok || got != want {
			return false
		}
	}
	return true
}

// validateMultipart checks a form as if it were an object: a text part by its
// text, the file part by its file name.
func (c *content) validateMultipart(boundary string, body []byte) error {
	form := map[string]any{}
	parts := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		name := part.FormName()
		if _, seen := form[name]; seen {
			return fmt.Errorf("part %s is given twice", name)
		}
		if isFile := part.FileName() != ""; isFile != (name == c.filePart) {
			return fmt.Errorf("part %s: a file name belongs to %s alone", name, c.filePart)
		}
		form[name] = string(value)
		if name == c.filePart {
			form[name] = part.FileName()
		}
	}
	return c.validate(form)
}
