package webhooks_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

var stamped = regexp.MustCompile(`(?:^|,)[ \t]*t=([0-9]+)[ \t]*(?:,|$)`)

// isSigned reports whether a header holds the signature of a body at its time, by the
// standard library alone.
func isSigned(header, body string) bool {
	stamp := stamped.FindStringSubmatch(header)
	return stamp != nil && slices.ContainsFunc([]string{currentSecret, previousSecret}, func(secret string) bool {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(stamp[1] + "." + body))
		sum := mac.Sum(nil)
		return strings.Contains(strings.ToLower(header), hex.EncodeToString(sum)) || strings.Contains(header, base64.StdEncoding.EncodeToString(sum))
	})
}

// FuzzHandler sends an endpoint every header and body: the function is called only for a POST that
// is signed and complete, and no answer has a body.
func FuzzHandler(f *testing.F) {
	genuine := signed(f, confirmedBody).Header.Get(signature.Header)
	stamp, value, _ := strings.Cut(genuine, ",v1=")
	for _, header := range []string{
		genuine, "", stamp, "v1=" + value, stamp + ", v0=x , v1=" + strings.ToUpper(value), "t=1,v1=" + value, stamp + ",v1=" + value[:62], strings.Repeat(stamp+",", 9) + "v1=" + value,
	} {
		f.Add("POST", "", header, "", []byte(confirmedBody), false)
	}
	f.Add("GET", "", genuine, "", []byte(confirmedBody), false)
	f.Add("POST", "gzip", genuine, "", []byte(confirmedBody), false)
	f.Add("POST", "", genuine, genuine, []byte(confirmedBody), false)
	for _, body := range []string{confirmedBody, "", "null", "\ufeff" + confirmedBody, `{"id":"1","ID":"2","eventType":"x"}`, `{"id":"1","eventType":"x"}{}`} {
		f.Add("POST", "", "", "", []byte(body), true)
	}
	f.Fuzz(func(t *testing.T, method, encoding, header, second string, body []byte, sign bool) {
		r := signed(t, string(body))
		r.Method = method
		if !sign {
			r.Header[signature.Header] = []string{header}
		}
		if second != "" {
			r.Header.Add(signature.Header, second)
		}
		if encoding != "" {
			r.Header.Set("Content-Encoding", encoding)
		}
		values, received := r.Header[signature.Header], new(calls)
		w := post(webhooks.NewHandler(newVerifier(t), received.handle), r)
		_, parseErr := webhooks.Parse(body)
		isGenuine := method == http.MethodPost && (encoding == "" || encoding == "identity") && len(values) == 1 && isSigned(values[0], string(body))
		switch called := received.count() == 1; {
		case called && (!isGenuine || parseErr != nil || w.Code != http.StatusOK || string(received.received[0].Raw()) != string(body)):
			t.Fatalf("called for %s %q, %q, and answered %d", method, values, body, w.Code)
		case !called && (w.Code < 400 || w.Code > 415):
			t.Fatalf("not called, and answered %d", w.Code)
		case isGenuine && sign && called != (parseErr == nil):
			t.Fatalf("%q was refused with %d: %v", body, w.Code, parseErr)
		case w.Body.Len() > 0:
			t.Fatalf("the answer says %q", w.Body)
		}
	})
}
