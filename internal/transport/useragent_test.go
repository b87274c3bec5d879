package transport

import (
	"net/http"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

// ownAgent is what the client under test sends.
func ownAgent() string {
	build, _ := debug.ReadBuildInfo()
	return userAgent(build)
}

func TestUserAgentIsSent(t *testing.T) {
	for want, header := range map[string]http.Header{
		ownAgent(): {"X-Own": {"1"}},
		"shop/1":   {"User-Agent": {"shop/1"}},
		"":         {"User-Agent": {""}}, // for which net/http sends none
	} {
		var seen http.Header
		do(t, func(r *http.Request) (*http.Response, error) { seen = r.Header; return answer(204, ""), nil }, func(c *Call) { c.Header = header })
		assert.Equal(t, []string{want}, seen["User-Agent"])
	}
	for version, want := range map[string]string{"v0.1.0": "v0.1.0", "(devel)": "devel", "": "devel"} {
		of := &debug.BuildInfo{Main: debug.Module{Path: "example.com/shop", Version: "v9.9.9"}, Deps: []*debug.Module{{Path: modulePath, Version: version}}}
		assert.Equal(t, "quickstream-go/"+want, userAgent(of))
	}
}
