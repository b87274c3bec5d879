package sandbox

import (
	"net/http"
	"time"
)

func (b *Sandbox) keyOperations() []operation {
	return []operation{{id: "GET /api-keys/latest", handle: b.latestKey}}
}

// apiKeyBody has the members that public client code reads; unconfirmed.
type apiKeyBody struct {
	Links   []link  `json:"links"`
	KeyName string  `json:"keyName"`
	Key     string  `json:"key"`
	Expires *string `json:"expiryDate"`
}

// latestKey renews the Secret key with which it is asked for. Asked for with an
// earlier key that still works, it gives the one that took its place: a caller
// whose answer was lost asks again.
func (b *Sandbox) latestKey(c *call) answer {
	user, _, _ := (&http.Request{Header: c.header}).BasicAuth()
	if user == b.keys.current.Secret && b.assume.LatestKey == "new" {
		b.renewKey(KeySecret, keyRenewalOverlap)
		b.keys.issued[b.keys.current.Secret].expires = c.now.Add(renewedKeyLifetime)
	}
	key := b.keys.current.Secret
	body := apiKeyBody{Links: c.links(), KeyName: "Sandbox " + KeySecret + " key", Key: key}
	if expires := b.keys.issued[key].expires; !expires.IsZero() {
		body.Expires = optional(inSydney(expires).Format(time.DateOnly))
	}
	return reply(http.StatusOK, body)
}
