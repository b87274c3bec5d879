package transport

import "runtime/debug"

const modulePath = "github.com/quickstream-go/quickstream"

// userAgent returns this module's name and the version that the program was built with: "devel" in
// a workspace and with a replacement by a directory.
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
