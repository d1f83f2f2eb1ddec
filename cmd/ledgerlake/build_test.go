package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestStamped(t *testing.T) {
	recorded := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-02-03T04:05:06Z"}}
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, c := range []struct {
		name, version, commit, time string
		recorded                    []debug.BuildSetting
		want                        app.Build
	}{
		{"nothing is known", "", "", "", nil, app.Build{Version: "dev"}},
		{"an image without arguments", "unknown", "", "", nil, app.Build{Version: "unknown"}},
		{"go build in a clone", "", "", "", recorded, app.Build{Version: "dev-0123456789ab", Time: at, Committed: true}},
		{"make build in a clone", "v1.2.3", "fedcba9876543210", "2026-02-03T05:05:06+01:00", recorded, app.Build{Version: "v1.2.3", Time: at, Committed: true}},
		{"make build without version", "", "fedcba9876543210", "2026-02-03T04:05:06Z", nil, app.Build{Version: "dev-fedcba987654", Time: at, Committed: true}},
		{"a time that is none", "v1", "", "yesterday", nil, app.Build{Version: "v1"}},
	} {
		if got := stamped(c.version, c.commit, c.time, c.recorded); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestBuildWithoutVersionControl asks the program of this test, which is built without that
// data, as an image or a source archive is.
func TestBuildWithoutVersionControl(t *testing.T) {
	if b := readBuild(); b.Committed || b.Time.Year() < 2026 || b.Time.After(time.Now()) {
		t.Errorf("a build that knows nothing was made at %s, committed: %v", b.Time, b.Committed)
	}
	if out := string(mustRun(t, "version")); !regexp.MustCompile(`^ledgerlake dev \(built 20\d\d-\S+Z\)\ncommit  unknown\ngo      go1\.\S+ \w+/\w+\nschema  \d+\n$`).MatchString(out) {
		t.Errorf("%q", out)
	}
	var r versionReport
	if err := json.Unmarshal(mustRun(t, "version", "--json"), &r); err != nil {
		t.Fatal(err)
	}
	if r.Version != "dev" || r.Commit != "" || !r.Built || r.Time.Year() < 2026 || r.Go != runtime.Version() || r.Platform != runtime.GOOS+"/"+runtime.GOARCH || r.Schema != schemas.StoreVersion() {
		t.Errorf("%+v", r)
	}
}

func TestVersionOfARelease(t *testing.T) {
	var out bytes.Buffer
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	if err := reportVersion(app.Build{Version: "v0.1.0", Time: at, Committed: true}, "fedcba9876543210").print(&out); err != nil {
		t.Fatal(err)
	}
	if want := "ledgerlake v0.1.0 (committed 2026-02-03T04:05:06Z)\ncommit  fedcba9876543210\ngo "; !strings.HasPrefix(out.String(), want) {
		t.Errorf("%q, want it to begin with %q", out.String(), want)
	}
}
