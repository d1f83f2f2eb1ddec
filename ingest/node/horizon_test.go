package node

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
)

// recordTime is that of a frame.
var recordTime = regexp.MustCompile(`"recordTime":"[^"]*"`)

// An update that is dated years ahead is not stored: what is good before it is, the stream
// says what it waits for, and goes on once the node is mended.
func TestAnUpdateFromTheFutureIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{WebSocket, Lists} {
		t.Run(string(source), func(t *testing.T) {
			t.Parallel()
			readMisdated(t, source, "2036", func(s Status) bool {
				return s.Phase == stream.PhaseWaiting && strings.Contains(s.Detail, "2036")
			})
		})
	}
}

// An update that is dated years before the one that came before it is not stored either.
func TestAnUpdateFromThePastIsAskedForAgain(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{WebSocket, Lists} {
		t.Run(string(source), func(t *testing.T) {
			t.Parallel()
			readMisdated(t, source, "2016", func(s Status) bool { return strings.Contains(s.LastError, "is dated 2016") })
		})
	}
}

// readMisdated follows a node of which one transaction has another year until that shows, and
// then until everything is stored as it should be.
func readMisdated(t *testing.T, source Source, year string, shows func(Status) bool) {
	u, sink := newUpstream(t, newGenerator(45).elements(200)), newSink()
	n := 150
	for u.elements[n].item == nil || !strings.Contains(u.elements[n].wire, `"Transaction"`) {
		n++
	}
	sound := u.elements[n].wire
	u.elements[n].wire = recordTime.ReplaceAllString(sound, `"recordTime":"`+year+`-07-01T00:00:00.000000Z"`)
	ing := newIngester(t, u, sink, func(c *Config) { c.Source, c.Ahead = source, time.Minute })
	stop := running(t, ing)
	before := u.elements[n-1].offset
	sink.await(t, func() bool { return sink.at.Offset >= before })
	until(t, func() bool { return shows(ing.Status()) })
	if s := ing.Status(); s.Position.Offset >= u.elements[n].offset {
		t.Errorf("the stream is at %s", s.Position)
	}
	u.mu.Lock()
	u.elements[n].wire = sound
	u.mu.Unlock()
	sink.await(t, func() bool { return sink.at.Offset >= u.end })
	until(t, func() bool { return ing.Status().Phase == stream.PhaseFollowing })
	_ = stop()
	sameLines(t, sink.lines, u.lines(0, u.end))
}
