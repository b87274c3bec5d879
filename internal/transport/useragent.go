package transport

import "runtime/debug"

const modulePath = "github.com/quickstream-go/quickstream"

// userAgent names this module in the version that the running program was built with,
// which is "devel" in a workspace and below a replacement by a directory.
func userAgent(build *debug.BuildInfo) string {
	version := "devel"
	if build != nil {
		for _, m := range append([]*debug.Module{&build.Main}, build.Deps...) {
			if m.Path != modulePath {
				continue
			}
			if m.Replace != nil {
				m = m.Replace
			}
			if m.Version != "" && m.Version != "(devel)" {
				version = m.Version
			}
		}
	}
	return "quickstream-go/" + version
}
