package transport

import (
	"net/http"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUserAgentIsTheVersionInUse(t *testing.T) {
	other := &debug.Module{Path: "example.com/shop", Version: "v9.9.9"}
	of := func(m debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Main: *other, Deps: []*debug.Module{other, &m, other}}
	}
	for want, build := range map[string]*debug.BuildInfo{
		"v0.1.0":                               of(debug.Module{Path: modulePath, Version: "v0.1.0"}),
		"v1.2.3":                               {Main: debug.Module{Path: modulePath, Version: "v1.2.3"}, Deps: []*debug.Module{other}}, // go install of the command
		"v0.1.1":                               of(debug.Module{Path: modulePath, Version: "v0.1.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v0.1.1"}}),
		"v0.1.1-0.20260101000000-abcdefabcdef": of(debug.Module{Path: modulePath, Version: "v0.1.1-0.20260101000000-abcdefabcdef"}),
	} {
		assert.Equal(t, "quickstream-go/"+want, userAgent(build))
	}
	for name, build := range map[string]*debug.BuildInfo{
		"no build information":  nil,
		"workspace":             of(debug.Module{Path: modulePath, Version: "(devel)"}),
		"replaced by directory": of(debug.Module{Path: modulePath, Version: "v0.1.0", Replace: &debug.Module{Path: "../"}}),
		"another module":        of(debug.Module{Path: modulePath + "/durable", Version: "v0.2.0"}),
	} {
		assert.Equal(t, "quickstream-go/devel", userAgent(build), name)
	}
}

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
}
