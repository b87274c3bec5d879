package quickstream

import (
	"context"
	"reflect"
)

// APIKeysService has the operations on API keys.
type APIKeysService struct{ client *Client }

// APIKey is a secret key from the service. It keeps nothing of the answer's body and cannot be
// marshalled.
type APIKey struct {
	KeyName string
	Key     SecretKey
	// ExpiryDate is text in an unpublished form; "" if the key does not expire.
	ExpiryDate string
	Links      []Link
}

// Reveal returns the key as text. Use it only to store the key.
func (k *APIKey) Reveal() string { return k.Key.text() }

type apiKeyJSON struct {
	KeyName    string `json:"keyName"`
	Key        string `json:"key" wire:"decides"`
	ExpiryDate string `json:"expiryDate"`
	Links      []Link `json:"links"`
}

func (k *apiKeyJSON) identifier() string { return k.Key }

func (k *apiKeyJSON) keep(func() ([]byte, reflect.Type)) {}

// Renew returns the latest secret key, and issues one if necessary. Use it to replace a key before
// it expires. This client keeps its keys; [WithKeySource] changes them without a restart.
//
// GET /api-keys/latest. From the vendor's public pages, path and members from public client code;
// unconfirmed. An expired key matches [ErrUnauthorized].
func (s *APIKeysService) Renew(ctx context.Context, opts ...CallOption) (*APIKey, error) {
	issued, err := send[apiKeyJSON](ctx, s.client.begin("APIKeys.Renew", opts))
	if err != nil {
		return nil, err
	}
	return &APIKey{KeyName: issued.KeyName, Key: NewSecretKey(issued.Key), ExpiryDate: issued.ExpiryDate, Links: issued.Links}, nil
}
