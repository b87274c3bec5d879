package sandbox

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/form"
	"github.com/quickstream-go/quickstream/sandbox/internal/memnet"
)

// call is one request without its connection, so that it can be carried out after the
// caller has gone.
type call struct {
	box            *Sandbox
	op             *operation
	method         string
	url            *url.URL
	origin         string // scheme and host that the caller used
	header         http.Header
	query          url.Values
	params         map[string]string
	body           []byte
	idempotencyKey string
	now            time.Time // when it is carried out

	opened     []*fields
	findings   []form.FieldError
	unreadable *answer // to a body that cannot be read
}

// background is a call of the sandbox's own, for what happens without a request. Its
// links lead to the origin of [WithOrigin], or to the in-memory address.
func (b *Sandbox) background() *call {
	return &call{box: b, origin: cmp.Or(b.served.origin, "http://"+memnet.Host), now: b.clock.Now()}
}

// isRead reports whether the call is a look-up and not a write.
func (c *call) isRead() bool { return c.op != nil && c.op.method == http.MethodGet }

// href makes an absolute address on the host that the caller used. Forwarding headers
// are ignored.
func (c *call) href(segments ...string) string {
	var sb strings.Builder
	sb.WriteString(c.origin + basePath)
	for _, s := range segments {
		sb.WriteString("/" + url.PathEscape(s))
	}
	return sb.String()
}

// refuse adds a finding. The value is echoed, as the service does, unless it is or may
// be a secret number.
func (c *call) refuse(name, value, message string) {
	for i := range c.findings {
		if f := &c.findings[i]; f.FieldName == name {
			f.Messages = append(f.Messages, message)
			return
		}
	}
	f := form.FieldError{FieldName: name, Messages: []string{message}}
	if value != "" && !isSensitive(name) && !holdsCardNumber(value) {
		f.FieldValue = &value
	}
	c.findings = append(c.findings, f)
}

func isSensitive(path string) bool {
	switch path[strings.LastIndexByte(path, '.')+1:] {
	case "cardNumber", "cvn", "cryptogram", "accountNumber", "nzAccountNumber", "payId":
		return true
	}
	return false
}

// safeURL is the path and the query of an address, with account numbers blanked out.
func safeURL(u *url.URL) string {
	q := u.Query()
	hidden := false
	for name := range q {
		if isSensitive(name) {
			q.Set(name, "xxx")
			hidden = true
		}
	}
	if !hidden {
		return u.RequestURI()
	}
	return u.EscapedPath() + "?" + q.Encode()
}
