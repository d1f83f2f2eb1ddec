package scan

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestSourceIsChosenByWhatTheUpstreamOffers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		missing []string
		want    Source
	}{
		"everything":               {nil, Events},
		"no events":                {[]string{eventsOperation}, Updates},
		"nothing but its backfill": {[]string{eventsOperation, updatesOperation}, UpdatesBefore},
	} {
		t.Run(name, func(t *testing.T) {
			u, sink := newUpstream(t, generate(0, -1, 0, 500), generate(1, 0, 20, 300)), newSink()
			for _, operation := range c.missing {
				u.unsupported[operation] = true
			}
			ing := newIngester(t, u, sink, nil)
			if err := ing.Backfill(testContext(t)); err != nil {
				t.Fatal(err)
			}
			if got := ing.Status().Source; got != c.want {
				t.Errorf("source is %q, want %q", got, c.want)
			}
			sameLines(t, sink.lines, u.lines(c.want))
		})
	}
}

func TestIncompleteUpstreamIsReadOnlyWhereItIsWhole(t *testing.T) {
	t.Parallel()
	m := generate(1, 0, 30, 2000)
	begin := m.items[0].Position()
	middle := m.items[1000].Position()
	t.Run("past its beginning with updates-before", func(t *testing.T) {
		u, sink := newUpstream(t, m), newSink()
		u.incomplete = true
		sink.at, sink.resume.Committed = middle, middle
		ing := newIngester(t, u, sink, func(c *Config) { c.Source = UpdatesBefore })
		if err := ing.Backfill(testContext(t)); err != nil {
			t.Fatal(err)
		}
		if s := ing.Status(); s.Source != UpdatesBefore || s.Position != lastUpdate(m) {
			t.Errorf("source %q reached %s, want %q to reach %s", s.Source, s.Position, UpdatesBefore, lastUpdate(m))
		}
	})
	waits := map[string]struct {
		resume schemas.Resume
		reason string
	}{
		"past its beginning":        {schemas.Resume{Committed: middle}, "status 503"},
		"from the start":            {schemas.Resume{Committed: schemas.Start}, "still loading its own history"},
		"before its beginning":      {schemas.Resume{Committed: schemas.Position{MigrationID: 1, RecordTime: begin.RecordTime - 1}}, "still loading its own history"},
		"with a batch unfinished":   {schemas.Resume{Committed: middle, Pending: &schemas.Intent{After: middle, Through: m.items[1100].Position()}}, "status 503"},
		"in an earlier migration":   {schemas.Resume{Committed: schemas.Position{MigrationID: 0, RecordTime: begin.RecordTime}}, "from migration 1 backwards"},
		"in a migration it has not": {schemas.Resume{Committed: schemas.Position{MigrationID: 2, RecordTime: begin.RecordTime}}, "no history of migration 2"},
	}
	for name, c := range waits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, sink := newUpstream(t, m), newSink()
			u.incomplete = true
			sink.at, sink.resume = c.resume.Committed, c.resume
			ing := newIngester(t, u, sink, nil)
			ctx, cancel := context.WithCancelCause(testContext(t))
			stop := errors.New("seen enough")
			go func() {
				defer cancel(stop)
				until(t, func() bool {
					s := ing.Status()
					return s.Phase == stream.PhaseWaiting && strings.Contains(s.Detail, c.reason)
				})
			}()
			if err := ing.Backfill(ctx); !errors.Is(err, stop) {
				t.Errorf("got %v, want the wait to last", err)
			}
			if sink.items > 0 {
				t.Errorf("%d items arrived before the upstream was complete", sink.items)
			}
		})
	}
	t.Run("until it is complete", func(t *testing.T) {
		u, sink := newUpstream(t, m), newSink()
		u.incomplete, u.importsLoading = true, true
		ing := newIngester(t, u, sink, nil)
		go func() {
			until(t, func() bool { return strings.Contains(ing.Status().Detail, "own history") })
			u.set(func(u *upstream) { u.migrations, u.incomplete = []*migration{generate(0, -1, 0, 300), m}, false })
			until(t, func() bool { return strings.Contains(ing.Status().Detail, "import updates of migration 1") })
			u.set(func(u *upstream) { u.importsLoading = false })
		}()
		if err := ing.Backfill(testContext(t)); err != nil {
			t.Fatal(err)
		}
		sameLines(t, sink.lines, u.lines(Events))
	})
}

func lastUpdate(m *migration) schemas.Position {
	for _, it := range slices.Backward(m.items) {
		if it.Update != nil {
			return it.Position()
		}
	}
	return schemas.Start
}

func TestStreamOfAnotherNetworkStops(t *testing.T) {
	t.Parallel()
	u, sink := newUpstream(t, generate(3, -1, 0, 10)), newSink()
	sink.resume.Committed = schemas.Position{MigrationID: 2, RecordTime: epoch}
	if err := newIngester(t, u, sink, nil).Backfill(testContext(t)); !errors.Is(err, schemas.ErrDiverged) {
		t.Errorf("got %v, want diverged history", err)
	}
}
