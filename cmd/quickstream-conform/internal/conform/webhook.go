package conform

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// Receiver finds how the first notification of a run is signed: serve it at the address of a subscription, and give
// it to [Config]. It answers 200 to everything, and takes notifications with any signature.
type Receiver struct {
	secret string
	found  chan string
}

// NewReceiver returns a receiver for a subscription with a secret.
func NewReceiver(secret string) *Receiver { return &Receiver{secret, make(chan string, 1)} }

// ServeHTTP takes one delivery.
func (r *Receiver) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(io.LimitReader(req.Body, 1<<20))
	if body, invalid := parse(raw); err != nil || invalid != nil || body.get("id").text() == "" {
		return // no notification
	}
	select {
	case r.found <- findScheme(req.Header.Get(signature.Header), raw, r.secret):
	default:
	}
}

// webhookScheme returns the scheme that signs the notifications of the run. It is empty if none arrives.
func (s *session) webhookScheme() string {
	if s.cfg.Webhooks == nil || s.err != nil {
		return ""
	}
	select {
	case found := <-s.cfg.Webhooks.found:
		return found
	case <-time.After(3 * time.Minute):
	case <-s.ctx.Done():
	}
	return ""
}

// withoutTime ends the name of a scheme that does not sign the time of the header. Anyone who has seen a
// notification of such a scheme can send it again under any time.
const withoutTime = ", without the time"

// findScheme names the scheme that explains a notification: the value of its signature header,
// its body, and the secret of the subscription.
func findScheme(header string, body []byte, secret string) string {
	timestamp, values := "", []string(nil)
	for part := range strings.SplitSeq(header, ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name {
		case "t":
			timestamp = value
		case "v1":
			values = append(values, value)
		}
	}
	for name, value := range signatures(timestamp, body, secret) {
		if slices.Contains(values, value) {
			return name
		}
	}
	return "none fits"
}

// signatures returns the signatures of a notification by plausible schemes, by name, such as "sha256 t.body text hex": t is
// the time in the header, as text, and id is the notification's. A secret that cannot be decoded has fewer of them.
func signatures(t string, body []byte, secret string) map[string]string {
	notification, _ := parse(body)
	text, id := string(body), notification.get("id").text()
	all := map[string]string{}
	for keyName, decode := range map[string]func(string) ([]byte, error){
		"text":          func(s string) ([]byte, error) { return []byte(s), nil },
		"hexDecoded":    hex.DecodeString,
		"base64Decoded": base64.StdEncoding.DecodeString,
	} {
		key, err := decode(secret)
		if err != nil {
			continue
		}
		for message, signed := range map[string]string{
			"t.body": t + "." + text, "t.id.body": t + "." + id + "." + text, "id.t.body": id + "." + t + "." + text, "body": text, "body.t": text + "." + t,
			"tbody": t + text, "t:body": t + ":" + text, "t,body": t + "," + text, "t|body": t + "|" + text, "bodyt": text + t,
		} {
			for hashName, hash := range map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New} {
				mac := hmac.New(hash, key)
				_, _ = io.WriteString(mac, signed) // a hash never returns an error
				sum := mac.Sum(nil)
				for encoding, value := range map[string]string{
					"hex": hex.EncodeToString(sum), "base64": base64.StdEncoding.EncodeToString(sum), "base64url": base64.RawURLEncoding.EncodeToString(sum),
				} {
					name := strings.Join([]string{hashName, message, keyName, encoding}, " ")
					if message == "body" {
						name += withoutTime
					}
					all[name] = value
				}
			}
		}
	}
	return all
}
