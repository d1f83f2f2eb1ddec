package main

import (
	"runtime/debug"
	"time"
)

// version is set by the linker for releases.
var version = ""

type build struct {
	version string
	time    time.Time // of the commit, in UTC
}

// readBuild tells what was built, from the linker's version or the version control
// data that the Go tool records.
func readBuild() build {
	b := build{version: version}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	revision := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.time":
			if t, err := time.Parse(time.RFC3339, s.Value); err == nil {
				b.time = t.UTC()
			}
		}
	}
	if b.version == "" {
		b.version = "dev"
		if len(revision) >= 12 {
			b.version += "-" + revision[:12]
		}
	}
	return b
}
