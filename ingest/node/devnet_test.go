package node

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// digestSink digests what it is given as the simulated node does with what it serves.
type digestSink struct {
	*memorySink
	updates, events schemas.Digest
	imports         int
}

func (s *digestSink) Write(ctx context.Context, b *schemas.Batch) error {
	if err := s.memorySink.Write(ctx, b); err != nil {
		return err
	}
	for i := range b.Items {
		u := b.Items[i].Update
		if u.IsImport() {
			s.imports++
			continue
		}
		s.updates.Add(schemas.AppendLocalUpdate(nil, u))
		for j := range u.Events {
			s.events.Add(schemas.AppendLocalEvent(nil, u, &u.Events[j]))
		}
	}
	return nil
}

// A node that was written by others, with its own idea of the interface, must be
// understood in every update: digests of what it served and of what arrived are equal.
func TestSimulatedNodeIsUnderstood(t *testing.T) {
	ledger, err := devnet.New(t.Context(), devnet.Config{Updates: 3000, Seed: 8, Dir: t.TempDir(), Node: &devnet.NodeConfig{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	want := ledger.NodeDigests()
	serve := func(t *testing.T, o devnet.NodeOptions, source Source) *digestSink {
		handler, err := ledger.NodeHandler(o)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		sink := &digestSink{memorySink: newSink()}
		sink.forget = true
		ing, err := New(Config{BaseURL: server.URL, Settings: stream.Settings{Sink: sink, Log: testLog(t)}, MigrationID: want.MigrationID, Source: source})
		if err != nil {
			t.Fatal(err)
		}
		if err := ing.Backfill(testContext(t)); err != nil {
			t.Fatal(err)
		}
		if s := ing.Status(); s.ParticipantID != want.ParticipantID || len(s.Unmapped) > 0 || s.Position != schemas.AtOffset(want.LedgerEnd) {
			t.Errorf("status %+v, want participant %s at offset %d", s, want.ParticipantID, want.LedgerEnd)
		}
		return sink
	}
	for _, source := range []Source{WebSocket, Lists, Flats} {
		t.Run(string(source), func(t *testing.T) {
			sink := serve(t, devnet.NodeOptions{CheckpointEvery: 100}, source)
			for table, got := range map[string]schemas.Digest{"updates": sink.updates, "events": sink.events} {
				if w := want.Tables[table]; got.Rows != w.Rows || got.Hash() != w.Hash {
					t.Errorf("table %s arrived as %s, was served as %d rows, %s", table, got, w.Rows, w.Hash)
				}
			}
		})
	}
	for _, source := range []Source{WebSocket, Lists} {
		t.Run(fmt.Sprint("pruned, by ", source), func(t *testing.T) {
			sink := serve(t, devnet.NodeOptions{PrunedOffset: want.LedgerEnd / 2}, source)
			if sink.imports == 0 || sink.updates.Rows > 0 {
				t.Errorf("%d contracts and %d updates arrived", sink.imports, sink.updates.Rows)
			}
		})
	}
}
