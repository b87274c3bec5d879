// Package sandboxtest gives tests a sandbox and a client of it.
package sandboxtest

import (
	"testing"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// New starts a sandbox that ends with the test, and returns it with a client. Nothing leaves
// the process. It works inside a testing/synctest bubble too.
func New(t testing.TB, opts ...sandbox.Option) (*sandbox.Sandbox, *quickstream.Client) {
	t.Helper()
	box := sandbox.New(opts...)
	t.Cleanup(box.Close)
	return box, Client(t, box)
}

// Client returns a client of the sandbox with both keys and the options.
func Client(t testing.TB, box *sandbox.Sandbox, opts ...quickstream.ClientOption) *quickstream.Client {
	t.Helper()
	opts = append([]quickstream.ClientOption{quickstream.WithHTTPClient(box.HTTPClient())}, opts...)
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), Keys(box), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// Keys returns the sandbox's keys in the type of the client.
func Keys(box *sandbox.Sandbox) quickstream.Keys {
	keys := box.Keys()
	return quickstream.Keys{
		Secret:      quickstream.NewSecretKey(keys.Secret),
		Publishable: quickstream.NewPublishableKey(keys.Publishable),
	}
}
