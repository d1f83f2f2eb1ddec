package engine

import (
	"strings"
	"testing"
)

func TestChildEnvironment(t *testing.T) {
	got := childEnv([]string{"PATH=/bin", "AWS_SECRET_ACCESS_KEY=s", "LEDGERLAKE_REDIS_URL=r", "GODEBUG=madvdontneed=1", "TZ=CET"}, "/data")
	want := []string{"TZ=UTC", "LC_ALL=C.UTF-8", "HOME=/data", "PATH=/bin", "GODEBUG=madvdontneed=1,asyncpreemptoff=1"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("childEnv = %q, want %q", got, want)
	}
}
