package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// withTies makes a history in which some updates of two synchronizers share a record
// time, among them those at the places given.
func withTies(n int, places ...int) *migration {
	m := generate(0, -1, 0, 2*n)
	m.items = slices.DeleteFunc(m.items, func(it schemas.Item) bool {
		return it.Update == nil || it.Update.Kind != schemas.Transaction
	})[:n]
	for i := range m.items {
		m.items[i] = schemas.Item{Update: m.items[i].Update}
		m.items[i].Update.SynchronizerID = synchronizerA
	}
	for _, i := range places {
		a, b := m.items[i].Update, m.items[i+1].Update
		b.RecordTime, b.SynchronizerID = a.RecordTime, synchronizerB
	}
	slices.SortFunc(m.items, func(a, b schemas.Item) int { return a.Position().Compare(b.Position()) })
	return m
}

func TestItemsOfOneRecordTimeSurviveARestartAtAnyBatch(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{Events, Updates, UpdatesBefore} {
		t.Run(string(source), func(t *testing.T) {
			t.Parallel()
			m := withTies(60, 9, 19, 29, 40)
			u, whole := newUpstream(t, m), newSink()
			config := func(c *Config) { c.Source, c.BatchItems = source, 10 }
			if err := newIngester(t, u, whole, config).Backfill(testContext(t)); err != nil {
				t.Fatal(err)
			}
			sameLines(t, whole.lines, u.lines(source))
			for lives := range len(whole.batches) {
				sink, stop := newSink(), errors.New("killed")
				ctx, cancel := context.WithCancelCause(testContext(t))
				sink.fail = func(*schemas.Batch) error {
					if len(sink.batches) == lives {
						cancel(stop)
						return stop
					}
					return nil
				}
				if err := newIngester(t, u, sink, config).Backfill(ctx); !errors.Is(err, stop) {
					t.Fatalf("the first life ended with %v after %d batches", err, len(sink.batches))
				}
				sink.fail, sink.resume.Committed = nil, sink.at
				if err := newIngester(t, u, sink, config).Backfill(testContext(t)); err != nil {
					t.Fatal(err)
				}
				sameLines(t, sink.lines, u.lines(source))
			}
		})
	}
}

func TestItemsOfOneRecordTimeSurvivePageBorders(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{Events, Updates, UpdatesBefore} {
		for _, limit := range []int{2, 3, 10, 20} {
			t.Run(fmt.Sprintf("%s in pages of %d", source, limit), func(t *testing.T) {
				t.Parallel()
				u, sink := newUpstream(t, withTies(60, 1, 9, 19, 38)), newSink()
				u.pageLimit = limit
				ing := newIngester(t, u, sink, func(c *Config) { c.Source = source })
				err := ing.Backfill(testContext(t))
				if limit == 2 && source != UpdatesBefore {
					// A page of two that holds one record time may hide a third.
					if err == nil || !strings.Contains(err.Error(), "Exceeded limit maximum (4 > 2)") {
						t.Errorf("got %v, want the upstream's limit as the reason", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				sameLines(t, sink.lines, u.lines(source))
			})
		}
	}
}

// A track grows its pages until one holds more than a single record time.
func TestPageOfOneRecordTimeGrows(t *testing.T) {
	m := withTies(1500)
	for i := range m.items[:1200] {
		m.items[i].Update.RecordTime = epoch
	}
	for name, c := range map[string]struct {
		items []schemas.Item
		cause string
	}{
		"that fits":         {m.items[1000:], ""},
		"that does not fit": {m.items, "share"},
	} {
		items := slices.Clone(c.items)
		slices.SortFunc(items, func(a, b schemas.Item) int { return a.Position().Compare(b.Position()) })
		u := newUpstream(t, &migration{previous: -1, items: items})
		client := newClient(t, ClientConfig{BaseURL: u.URL})
		before := schemas.Position{RecordTime: epoch - 1, UpdateID: afterAllIDs}
		last := items[len(items)-1].Position()
		for _, track := range []track{
			&historyTrack{client: client, page: client.UpdatesPage, operation: updatesOperation},
			&beforeTrack{client: client, synchronizers: []string{synchronizerA}, first: epoch},
		} {
			var got []schemas.Item
			var err error
			for after := before; err == nil && after.Before(last); {
				var c chunk
				c, err = track.fetch(testContext(t), after, historyBound(0, int64(last.RecordTime)), fetchOptions{size: 7, whole: true})
				got, after = append(got, c.items...), c.covered
			}
			switch {
			case c.cause == "" && (err != nil || len(got) != len(items)):
				t.Errorf("%s, %T: %d items and %v, want %d", name, track, len(got), err, len(items))
			case c.cause != "" && (!errors.Is(err, schemas.ErrMalformed) || !strings.Contains(err.Error(), c.cause)):
				t.Errorf("%s, %T: got %v, want malformed history that says %q", name, track, err, c.cause)
			}
		}
	}
}

func sortItems(m *migration) {
	slices.SortFunc(m.items, func(a, b schemas.Item) int { return a.Position().Compare(b.Position()) })
}
