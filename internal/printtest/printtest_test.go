package printtest_test

import (
	"testing"

	"github.com/quickstream-go/quickstream/internal/printtest"
)

// What is there is found, and nothing else.
func TestSecretsAreFound(t *testing.T) {
	const secret = "canary"
	hidden := struct{ inner any }{&struct{ Bytes []byte }{[]byte(secret)}}
	for _, v := range []any{secret, struct{ inner any }{secret}, &struct{ Bytes []byte }{[]byte(secret)}, map[string]any{"v": secret}, []string{secret}} {
		if !printtest.Shows(printtest.Printed(v), "x", secret) || !printtest.Reachable(v, "x", secret) {
			t.Errorf("nothing was found in %T", v)
		}
	}
	if !printtest.Reachable(&hidden, secret) {
		t.Error("pointers are not followed")
	}
	if printtest.Shows(printtest.Printed(hidden), "other") || printtest.Reachable(&hidden, "other") {
		t.Error("a text was found that is not there")
	}
}
