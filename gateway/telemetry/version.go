package telemetry

import "runtime/debug"

// Version is set by the build (-ldflags -X); without it the module's own build information is used.
var Version string

// BuildVersion is the version to show: what the build set, else the VCS revision, else "dev".
func BuildVersion() string {
	if Version != "" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return "dev"
}
