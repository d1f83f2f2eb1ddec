package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/ledgerlake/ledgerlake/ingest/internal/ingesttest"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Not parallel: it measures the heap of the whole process.
func TestSlowSinkBoundsMemory(t *testing.T) {
	const frameBytes, count = 256 << 10, 600 // 150 MiB on the wire
	g := newGenerator(61)
	var elements []told
	for range count {
		g.offset++
		e := g.transaction()
		for !strings.Contains(e.wire, `"10.0000000000"`) {
			e = g.transaction()
		}
		e.item = nil
		elements = append(elements, e)
	}
	filler := strings.Repeat("x", frameBytes)
	u, sink := newUpstream(t, elements), newSink()
	sink.forget = true
	u.frame = func(_ int, wire string) (string, error) {
		return strings.Replace(wire, "10.0000000000", filler, 1), nil
	}
	sink.fail = func(*schemas.Batch) error { time.Sleep(5 * time.Millisecond); return nil }
	ing := newIngester(t, u, sink, func(c *Config) { c.BatchBytes, c.InFlightBytes = 2<<20, 4<<20 })
	peak := ingesttest.PeakHeap(func() {
		if err := ing.Backfill(testContext(t)); err != nil {
			t.Error(err)
		}
	})
	t.Logf("peak heap %d MiB for %d frames of %d KiB", peak>>20, count, frameBytes>>10)
	if sink.items != count {
		t.Errorf("%d items arrived, want %d", sink.items, count)
	}
	if limit := uint64(80 << 20); peak > limit {
		t.Errorf("peak heap is %d MiB, want at most %d MiB", peak>>20, limit>>20)
	}
}

// A spool of few bytes must not hold the set in memory.
func TestLargeSetBoundsMemory(t *testing.T) {
	const count, size = 4000, 32 << 10 // 125 MiB
	s := newSpool(t.TempDir(), 4<<20)
	defer s.close()
	content := bytes.Repeat([]byte{'x'}, size)
	g := newGenerator(62)
	peak := ingesttest.PeakHeap(func() {
		for range count {
			if err := s.add(g.hex("00", 60), 0, content); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		if err := s.merge(func(stored) error { n++; return nil }); err != nil || n != count {
			t.Errorf("%d entries, %v", n, err)
		}
	})
	t.Logf("peak heap %d MiB for a set of %d MiB", peak>>20, count*size>>20)
	if limit := uint64(48 << 20); peak > limit {
		t.Errorf("peak heap is %d MiB, want at most %d MiB", peak>>20, limit>>20)
	}
}

// typical is an update of a node's stream of about the size and shape of a transfer:
// an exercise with seven events below it.
func typical(g *generator) string {
	u := g.base(schemas.Transaction)
	u.EffectiveAt = g.now
	var wires []string
	for n := range int32(8) {
		if n == 0 {
			_, common := g.event(u, schemas.Exercised, 0)
			wires = append(wires, fmt.Sprintf(`{"ExercisedEvent":{%s,"choice":"AmuletRules_Transfer","choiceArgument":{"transfer":{"sender":"alice::1220","provider":"bob::1220","inputs":[{"tag":"InputAmulet","value":%q}],"outputs":[{"receiver":"bob::1220","receiverFeeRatio":"0.0000000000","amount":"10.0000000000"}]},"context":{"openMiningRound":%q}},"actingParties":["alice::1220"],"consuming":false,"lastDescendantNodeId":7,"exerciseResult":{"round":{"number":"7"},"summary":{"inputAmuletAmount":"5.0"}},"acsDelta":false}}`, common, g.hex("00", 136), g.hex("00", 136)))
			continue
		}
		_, wire := g.created(u, n)
		wires = append(wires, `{"CreatedEvent":`+strings.Replace(wire, "CgMyLjE=", g.hex("", 400), 1)+`}`)
	}
	return fmt.Sprintf(`{"update":{"Transaction":{"value":{"updateId":%q,"workflowId":"","effectiveAt":%q,"events":[%s],"offset":%d,"synchronizerId":%q,"recordTime":%q}}}}`,
		u.UpdateID, u.EffectiveAt, strings.Join(wires, ","), g.offset, u.SynchronizerID, u.RecordTime)
}

// small is an update with one event, as light ones are.
func small(g *generator) string {
	u := g.base(schemas.Transaction)
	_, wire := g.created(u, 0)
	return fmt.Sprintf(`{"update":{"Transaction":{"value":{"updateId":%q,"effectiveAt":%q,"events":[{"CreatedEvent":%s}],"offset":%d,"synchronizerId":%q,"recordTime":%q}}}}`,
		u.UpdateID, g.now, wire, g.offset, u.SynchronizerID, u.RecordTime)
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func frames(n int, make func(*generator) string) (wires [][]byte, size int64) {
	g := newGenerator(63)
	for range n {
		g.offset++
		wires = append(wires, []byte(make(g)))
		size += int64(len(wires[len(wires)-1]))
	}
	return wires, size
}

// BenchmarkDecode measures decoding alone, on one core.
func BenchmarkDecode(b *testing.B) {
	for name, shape := range map[string]func(*generator) string{"eight_events": typical, "one_event": small} {
		b.Run(name, func(b *testing.B) {
			wires, size := frames(1000, shape)
			d := newDecoder(migrationID, func(string, string) {})
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				for _, wire := range wires {
					if el, err := d.decodeElement(wire); err != nil || el.update == nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(len(wires)*b.N)/b.Elapsed().Seconds(), "updates/s")
		})
	}
}

// BenchmarkPipeline measures decoding, checking and batching of frames that are in
// memory, with a sink that does nothing.
func BenchmarkPipeline(b *testing.B) {
	for name, shape := range map[string]func(*generator) string{"eight_events": typical, "one_event": small} {
		b.Run(name, func(b *testing.B) {
			wires, size := frames(20_000, shape)
			ing, err := New(Config{BaseURL: "http://127.0.0.1:1", Settings: stream.Settings{Sink: newSink(), Log: quiet}})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				items := 0
				ing.batches = ing.newBatcher(schemas.Start)
				p := &pipeline{
					workers: ing.cfg.Workers, inFlight: ing.cfg.InFlightBytes, decoders: ing.decoders, seq: &sequence{}, batches: ing.batches,
					eager: func(int64) bool { return false }, seen: func(int64) {},
					write: func(_ context.Context, b stream.Batch) error { items += len(b.Items); return nil },
				}
				err := p.run(b.Context(), func(ctx context.Context, out emit) error {
					for _, wire := range wires {
						if err := out(ctx, frame{body: wire}); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil || items != len(wires) {
					b.Fatal(items, err)
				}
			}
			b.ReportMetric(float64(len(wires)*b.N)/b.Elapsed().Seconds(), "updates/s")
		})
	}
}

// BenchmarkBackfill measures all of it, the websocket and the node's side of it included.
func BenchmarkBackfill(b *testing.B) {
	for name, shape := range map[string]func(*generator) string{"eight_events": typical, "one_event": small} {
		b.Run(name, func(b *testing.B) {
			wires, size := frames(20_000, shape)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.Header.Get("Upgrade") != "":
					serveFrames(b, w, r, wires)
				case r.URL.Path == ledgerEndOperation:
					fmt.Fprintf(w, `{"offset":%d}`, len(wires))
				default:
					fmt.Fprintf(w, `{"participantId":%q}`, participant)
				}
			}))
			defer server.Close()
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				sink := newSink()
				sink.forget = true
				ing, err := New(Config{BaseURL: server.URL, Settings: stream.Settings{Sink: sink, Log: quiet}})
				if err != nil {
					b.Fatal(err)
				}
				if err := ing.Backfill(b.Context()); err != nil || sink.items != len(wires) {
					b.Fatal(sink.items, err)
				}
			}
			b.ReportMetric(float64(len(wires)*b.N)/b.Elapsed().Seconds(), "updates/s")
		})
	}
}

func serveFrames(b *testing.B, w http.ResponseWriter, r *http.Request, wires [][]byte) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{protocolAuth}})
	if err != nil {
		b.Error(err)
		return
	}
	defer conn.CloseNow()
	if _, _, err := conn.Read(r.Context()); err != nil {
		b.Error(err)
		return
	}
	for _, wire := range wires {
		if err := conn.Write(context.Background(), websocket.MessageText, wire); err != nil {
			if !errors.Is(err, io.EOF) {
				b.Error(err)
			}
			return
		}
	}
	conn.Close(websocket.StatusNormalClosure, "")
}
