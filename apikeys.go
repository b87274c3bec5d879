package quickstream

import (
	"context"
	"reflect"
)

// APIKeysService holds the operations on the API keys themselves.
type APIKeysService struct{ client *Client }

// APIKey is a secret key as the service issued it. It keeps nothing of the body
// that it came in, and cannot be marshalled.
type APIKey struct {
	KeyName string
	Key     SecretKey
	// ExpiryDate is text in a form that is not published; "" where the key does not
	// expire.
	ExpiryDate string
	Links      []Link
}

// Reveal returns the key as text, for the place where keys are stored and for
// nothing else.
func (k *APIKey) Reveal() string { return k.Key.text() }

// apiKeyJSON keeps nothing either.
type apiKeyJSON struct {
	KeyName    string `json:"keyName"`
	Key        string `json:"key" wire:"decides"`
	ExpiryDate string `json:"expiryDate"`
	Links      []Link `json:"links"`
}

func (k *apiKeyJSON) identifier() string { return k.Key }

func (k *apiKeyJSON) keep([]byte, reflect.Type) {}

// Renew returns the latest secret key, issuing it where the service does so: the
// way to replace a key before it expires, with the key itself. This client goes
// on using the keys that it has; [WithKeySource] changes them without a restart.
//
// GET /api-keys/latest. The vendor's public pages name the operation; its path and
// members are known from public client code and are unconfirmed. A key that has
// expired cannot renew itself: that is an [APIError] that matches
// [ErrUnauthorized].
func (s *APIKeysService) Renew(ctx context.Context, opts ...CallOption) (*APIKey, error) {
	issued, err := send[apiKeyJSON](ctx, s.client.begin("APIKeys.Renew", opts))
	if err != nil {
		return nil, err
	}
	return &APIKey{KeyName: issued.KeyName, Key: NewSecretKey(issued.Key), ExpiryDate: issued.ExpiryDate, Links: issued.Links}, nil
}
