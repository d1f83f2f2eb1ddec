package main

import (
	"regexp"
	"runtime/debug"
	"testing"
	"time"
)

func TestStamped(t *testing.T) {
	recorded := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-02-03T04:05:06Z"}}
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, c := range []struct {
		name, version, commit, time string
		recorded                    []debug.BuildSetting
		want                        build
	}{
		{"nothing is known", "", "", "", nil, build{"dev", time.Time{}, false}},
		{"an image without arguments", "unknown", "", "", nil, build{"unknown", time.Time{}, false}},
		{"go build in a clone", "", "", "", recorded, build{"dev-0123456789ab", at, true}},
		{"make build in a clone", "v1.2.3", "fedcba9876543210", "2026-02-03T05:05:06+01:00", recorded, build{"v1.2.3", at, true}},
		{"make build without version", "", "fedcba9876543210", "2026-02-03T04:05:06Z", nil, build{"dev-fedcba987654", at, true}},
		{"a time that is none", "v1", "", "yesterday", nil, build{"v1", time.Time{}, false}},
	} {
		if got := stamped(c.version, c.commit, c.time, c.recorded); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestBuildWithoutVersionControl asks the program of this test, which is built without that
// data, as an image or a source archive is.
func TestBuildWithoutVersionControl(t *testing.T) {
	if b := readBuild(); b.committed || b.time.Year() < 2026 || b.time.After(time.Now()) {
		t.Errorf("a build that knows nothing was made at %s, committed: %v", b.time, b.committed)
	}
	if out := string(mustRun(t, "version")); !regexp.MustCompile(`^ledgerlake dev \(built 20\d\d-\S+Z\)\n$`).MatchString(out) {
		t.Errorf("%q", out)
	}
}
