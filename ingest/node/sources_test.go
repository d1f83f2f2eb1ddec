package node

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
)

func TestSourcesFallBack(t *testing.T) {
	t.Parallel()
	elements := newGenerator(9).elements(400)
	for name, c := range map[string]struct {
		missing map[string]int
		source  Source
		want    Source
	}{
		"upgrade refused with 404":        {map[string]int{"WS /v2/updates": 404}, Auto, Lists},
		"upgrade refused with 405":        {map[string]int{"WS /v2/updates": 405}, Auto, Lists},
		"upgrade refused with 426":        {map[string]int{"WS /v2/updates": 426}, Auto, Lists},
		"upgrade refused with 501":        {map[string]int{"WS /v2/updates": 501}, Auto, Lists},
		"upgrade broken by a proxy":       {map[string]int{"WS /v2/updates": 502}, Auto, Lists},
		"upgrade answered like a page":    {map[string]int{"WS /v2/updates": 200}, Auto, Lists},
		"an older node":                   {map[string]int{"WS /v2/updates": 404, "/v2/updates": 404}, Auto, Flats},
		"only the forced source is used":  {map[string]int{"WS /v2/updates": 404}, Flats, Flats},
		"nothing is refused":              {nil, Auto, WebSocket},
		"an older node that has the path": {map[string]int{"WS /v2/updates": 426, "/v2/updates": 405}, Auto, Flats},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, sink := newUpstream(t, elements), newSink()
			u.missing = c.missing
			ing := newIngester(t, u, sink, func(cfg *Config) { cfg.Source = c.source })
			if err := ing.Backfill(testContext(t)); err != nil {
				t.Fatal(err)
			}
			sameLines(t, sink.lines, u.lines(0, u.end))
			if got := ing.Status().Source; got != c.want {
				t.Errorf("source %q, want %q", got, c.want)
			}
		})
	}
	t.Run("nothing is offered", func(t *testing.T) {
		t.Parallel()
		u := newUpstream(t, elements)
		u.missing = map[string]int{"WS /v2/updates": 404, "/v2/updates": 404, "/v2/updates/flats": 404}
		ing := newIngester(t, u, newSink(), nil)
		err := ing.Backfill(testContext(t))
		if err == nil || !strings.Contains(err.Error(), "is this the address of a ledger JSON API?") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("the websocket is tried again", func(t *testing.T) {
		t.Parallel()
		g := newGenerator(10)
		u, sink := newUpstream(t, g.elements(50)), newSink()
		u.missing["WS /v2/updates"] = 404
		ing := newIngester(t, u, sink, func(c *Config) { c.TryWebSocketEvery = 30 * time.Millisecond })
		stop := running(t, ing)
		sink.await(t, func() bool { return sink.at.Offset >= u.end })
		u.set(func(u *upstream) { u.missing = map[string]int{} })
		until(t, func() bool { return ing.Status().Source == WebSocket && u.sockets.Load() > 0 })
		u.grow(g.elements(50)...)
		sink.await(t, func() bool { return sink.at.Offset >= u.end })
		_ = stop()
		sameLines(t, sink.lines, u.lines(0, u.end))
	})
}

func TestListsKeepToTheNodesLimit(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 7, 200, 1000, 100_000} {
		for _, source := range []Source{Lists, Flats} {
			t.Run(fmt.Sprint(source, " ", limit), func(t *testing.T) {
				t.Parallel()
				u, sink := newUpstream(t, newGenerator(11).elements(min(1000, 200+100*limit))), newSink()
				u.listLimit = limit
				ing := newIngester(t, u, sink, func(c *Config) { c.Source = source })
				if err := ing.Backfill(testContext(t)); err != nil {
					t.Fatal(err)
				}
				sameLines(t, sink.lines, u.lines(0, u.end))
				if ing.Status().Retries > 0 {
					t.Errorf("%d retries", ing.Status().Retries)
				}
			})
		}
	}
}

func TestListsShrinkToTheLargestAnswer(t *testing.T) {
	t.Parallel()
	u, sink := newUpstream(t, newGenerator(19).elements(500)), newSink()
	if err := newIngester(t, u, sink, func(c *Config) { c.Source, c.MaxFrameBytes = Lists, 64<<10 }).Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, u.lines(0, u.end))
}

func TestReconnects(t *testing.T) {
	t.Parallel()
	g := newGenerator(12)
	elements := g.elements(600)
	for name, c := range map[string]struct {
		frame func(total int) func(n int, wire string) (string, error)
	}{
		"connection dropped now and then": {func(int) func(int, string) (string, error) {
			return func(n int, wire string) (string, error) {
				if n == 150 {
					return "", errors.New("cut")
				}
				return wire, nil
			}
		}},
		"error frame in the middle": {func(int) func(int, string) (string, error) {
			return func(n int, wire string) (string, error) {
				if n == 200 {
					return errorFrame("SERVICE_NOT_RUNNING", 1, "restarting"), nil
				}
				if n > 200 {
					return "", errors.New("cut")
				}
				return wire, nil
			}
		}},
		"a frame cut short once in a while": {func(int) func(int, string) (string, error) {
			return func(n int, wire string) (string, error) {
				if n == 250 {
					return wire[:len(wire)/2], nil
				}
				return wire, nil
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, sink := newUpstream(t, elements), newSink()
			u.frame = c.frame(len(elements))
			ing := newIngester(t, u, sink, nil)
			if err := ing.Backfill(testContext(t)); err != nil {
				t.Fatal(err)
			}
			sameLines(t, sink.lines, u.lines(0, u.end))
			if s := ing.Status(); s.Reconnects == 0 || s.Source != WebSocket {
				t.Errorf("status %+v", s)
			}
		})
	}
}

func TestIdleStreamReconnects(t *testing.T) {
	t.Parallel()
	g := newGenerator(13)
	u, sink := newUpstream(t, g.elements(20)), newSink()
	ing := newIngester(t, u, sink, func(c *Config) { c.IdleTimeout = 300 * time.Millisecond })
	stop := running(t, ing)
	sink.await(t, func() bool { return sink.at.Offset >= u.end })
	until(t, func() bool { return u.sockets.Load() > 6 })
	if s := ing.Status(); s.Source != WebSocket || s.Retries > 0 || s.Phase != stream.PhaseFollowing {
		t.Errorf("status %+v", s)
	}
	u.grow(g.elements(20)...)
	sink.await(t, func() bool { return sink.at.Offset >= u.end })
	_ = stop()
	sameLines(t, sink.lines, u.lines(0, u.end))
}
