package main

import (
	"os"
	"runtime/debug"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app"
)

// Set by the linker in scripts/build.sh. In builds that do not know them they are empty.
var (
	version    = ""
	commit     = "" // hash
	commitTime = "" // RFC 3339
)

// readBuild tells what was built: from what the linker was given, or else from the version
// control data that the Go tool records.
func readBuild() app.Build {
	b := stamped(version, commit, commitTime, recordedSettings())
	if !b.Committed {
		b.Time = builtAt()
	}
	return b
}

// buildCommit is the hash of the commit that was built, "" if the build does not know it.
func buildCommit() string { return commitOf(commit, recordedSettings()) }

func commitOf(commit string, recorded []debug.BuildSetting) string {
	for _, s := range recorded {
		if s.Key == "vcs.revision" && commit == "" {
			commit = s.Value
		}
	}
	return commit
}

func recordedSettings() []debug.BuildSetting {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	return info.Settings
}

// stamped puts together what is known of a build.
func stamped(version, commit, commitTime string, recorded []debug.BuildSetting) app.Build {
	commit = commitOf(commit, recorded)
	for _, s := range recorded {
		if s.Key == "vcs.time" && commitTime == "" {
			commitTime = s.Value
		}
	}
	b := app.Build{Version: version}
	if t, err := time.Parse(time.RFC3339, commitTime); err == nil {
		b.Time, b.Committed = t.UTC(), true
	}
	if b.Version == "" {
		b.Version = "dev"
		if len(commit) >= 12 {
			b.Version += "-" + commit[:12]
		}
	}
	return b
}

// firstRelease is used when not even the program's file can be looked at.
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
