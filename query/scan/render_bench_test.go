package scan

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"testing"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/querytest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// benchUpdates are n transactions of eight events each, about 6 kB as protobuf_json,
// which is what the network's updates measure.
func benchUpdates(n int, enc schemas.Encoding) []schemas.Update {
	updates := make([]schemas.Update, n)
	for i := range updates {
		id := fmt.Sprintf("1220%064x", i)
		t := at("2026-07-01T00:00:00.123456Z") + schemas.Micros(i)*1000
		u := transaction(0, t, id, enc)
		for node := int32(2); node < 8; node++ {
			u.Events = append(u.Events, created(id, node, fmt.Sprintf("00%0136x", i*8+int(node)), alice, enc, t))
			u.RootEvents = append(u.RootEvents, node)
		}
		updates[i] = *u
	}
	return updates
}

func BenchmarkRenderPage(b *testing.B) {
	for _, stored := range []schemas.Encoding{schemas.ProtobufJSON, schemas.CompactJSON} {
		for _, want := range []schemas.Encoding{schemas.ProtobufJSON, schemas.CompactJSON} {
			b.Run(fmt.Sprintf("stored=%s/as=%s", stored, want), func(b *testing.B) {
				updates := benchUpdates(1000, stored)
				w := updateWriter{values: values.Writer{Catalog: values.Default(), Want: want}}
				var buf []byte
				render := func() {
					buf = buf[:0]
					for i := range updates {
						buf = w.update(buf, &updates[i])
					}
				}
				render()
				if bytes.Contains(buf, []byte(`"error":`)) {
					b.Fatal("a value could not be converted")
				}
				b.SetBytes(int64(len(buf)))
				b.ReportAllocs()
				for b.Loop() {
					render()
				}
				b.ReportMetric(float64(len(updates))*float64(b.N)/b.Elapsed().Seconds(), "updates/s")
			})
		}
	}
}

// BenchmarkServePage is the whole tier but for the store: one client on one kept
// connection reading pages of 1,000 updates.
func BenchmarkServePage(b *testing.B) {
	for _, encoding := range []string{"protobuf_json", "compact_json"} {
		for _, accept := range []string{"identity", "gzip"} {
			b.Run(encoding+"/"+accept, func(b *testing.B) {
				m := &memory{}
				for _, u := range benchUpdates(1000, schemas.ProtobufJSON) {
					m.items = append(m.items, schemas.Item{Update: &u})
				}
				m.setMark(m.items[len(m.items)-1].Position())
				url := benchServer(b, m)
				client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
				defer client.CloseIdleConnections()
				body := []byte(`{"page_size":1000,"contract_value_encoding":"` + encoding + `"}`)
				b.ReportAllocs()
				for b.Loop() {
					req, _ := http.NewRequest("POST", url+"/v2/updates", bytes.NewReader(body))
					req.Header.Set("Accept-Encoding", accept)
					resp, err := client.Do(req)
					if err != nil {
						b.Fatal(err)
					}
					n, err := io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					if err != nil || resp.StatusCode != 200 {
						b.Fatal(resp.StatusCode, err)
					}
					if accept == "identity" {
						b.SetBytes(n)
					}
				}
				b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "updates/s")
			})
		}
	}
}

func benchServer(b *testing.B, m *memory) string {
	log := slog.New(slog.DiscardHandler)
	api, err := New(Config{Source: m, Health: &health{backfilled: true}, Log: log, TokenKey: testKey})
	if err != nil {
		b.Fatal(err)
	}
	return querytest.Serve(b, query.Config{Log: log, Mounts: []query.Mount{api.Mount()}}).URL
}
