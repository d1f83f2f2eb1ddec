package main

import (
	"os"
	"runtime/debug"
	"time"
)

// Set by the linker in the Makefile and the Dockerfile. In builds that do not know them they
// are empty.
var (
	version    = ""
	commit     = "" // hash
	commitTime = "" // RFC 3339
)

type build struct {
	version string
	// time is that of the commit, in UTC; of a build that does not know its commit that of
	// the program's file, which is about when it was built.
	time time.Time
	// committed says that time is that of the commit.
	committed bool
}

// readBuild tells what was built: from what the linker was given, or else from the version
// control data that the Go tool records.
func readBuild() build {
	b := stamped(version, commit, commitTime, recordedSettings())
	if !b.committed {
		b.time = builtAt()
	}
	return b
}

func recordedSettings() []debug.BuildSetting {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	return info.Settings
}

// stamped puts together what is known of a build.
func stamped(version, commit, commitTime string, recorded []debug.BuildSetting) build {
	for _, s := range recorded {
		switch {
		case s.Key == "vcs.revision" && commit == "":
			commit = s.Value
		case s.Key == "vcs.time" && commitTime == "":
			commitTime = s.Value
		}
	}
	b := build{version: version}
	if t, err := time.Parse(time.RFC3339, commitTime); err == nil {
		b.time, b.committed = t.UTC(), true
	}
	if b.version == "" {
		b.version = "dev"
		if len(commit) >= 12 {
			b.version += "-" + commit[:12]
		}
	}
	return b
}

// firstRelease is told when not even the program's file can be looked at.
var firstRelease = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func builtAt() time.Time {
	path, err := os.Executable()
	if err != nil {
		return firstRelease
	}
	info, err := os.Stat(path)
	if err != nil {
		return firstRelease
	}
	return info.ModTime().UTC().Truncate(time.Second)
}
