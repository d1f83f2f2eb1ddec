package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestVerifyFindsDamage damages one object at a time, in ways that a bucket can.
func TestVerifyFindsDamage(t *testing.T) {
	src := twoMigrations(21, 120)
	client := openBucket(t)
	e := newTestExporter(t, src, client, &memoryCatalog{}, nil)
	exportDue(t, e)
	key := func(table schemas.ParquetTable) string {
		return schemas.ObjectKey(table, schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: "2026-07-03"}, 0)
	}
	tests := []struct {
		name   string
		key    string
		damage func([]byte) []byte // nil deletes
	}{
		{"a missing part", key(schemas.ParquetUpdates), nil},
		{"a missing manifest", "manifests/v1/migration_id=1/date=2026-07-03.json", nil},
		{"a changed manifest", "manifests/v1/migration_id=1/imports.json", func(b []byte) []byte { return append(b, '\n') }},
		{"a flipped bit", key(schemas.ParquetEvents), func(b []byte) []byte { b[len(b)/2] ^= 1; return b }},
		{"a cut object", key(schemas.ParquetVerdicts), func(b []byte) []byte { return b[:len(b)-9] }},
		{"an object of another day", key(schemas.ParquetACS), func([]byte) []byte {
			return read(t, client, schemas.ObjectKey(schemas.ParquetTraffic, schemas.SegmentRef{Stream: "scan", Date: "2026-07-01"}, 0))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			whole := read(t, client, tt.key)
			if tt.damage == nil {
				if err := client.Delete(t.Context(), tt.key); err != nil {
					t.Fatal(err)
				}
			} else {
				write(t, client, tt.key, tt.damage(bytes.Clone(whole)))
			}
			v, err := e.VerifyObjects(t.Context(), nil)
			if err != nil || len(v.Findings) == 0 || !strings.Contains(strings.Join(v.Findings, "\n"), tt.key) {
				t.Errorf("findings %q, %v; want one that names %s", v.Findings, err, tt.key)
			}
			write(t, client, tt.key, whole)
		})
	}
	if v, err := e.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) > 0 {
		t.Errorf("after all damage was undone: %q, %v", v.Findings, err)
	}
}

func read(t *testing.T, c *bucket.Client, key string) []byte {
	t.Helper()
	body, err := c.Get(t.Context(), key, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(body)
	if err = errors.Join(err, body.Close()); err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, c *bucket.Client, key string, data []byte) {
	t.Helper()
	if err := c.Put(t.Context(), key, bytes.NewReader(data), int64(len(data)), sha256.Sum256(data), ""); err != nil {
		t.Fatal(err)
	}
}

// TestVerifyRecomputesTheDigest replaces an object by one with other rows and corrects
// every checksum that stands beside it: only the rows themselves can show it.
func TestVerifyRecomputesTheDigest(t *testing.T) {
	ref := schemas.SegmentRef{Stream: "scan", MigrationID: 0, Date: "2026-07-01"}
	src := twoMigrations(22, 30)
	for _, table := range []schemas.ParquetTable{schemas.ParquetUpdates, schemas.ParquetEvents, schemas.ParquetTraffic} {
		t.Run(string(table), func(t *testing.T) {
			client, c := openBucket(t), &memoryCatalog{}
			e := newTestExporter(t, src, client, c, func(c *testConfig) { c.Layout = published.DefaultLayout })
			if err := e.ExportSegment(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
			forge(t, e, client, c, ref, table)
			v, err := e.VerifyObjects(t.Context(), nil)
			if err != nil || len(v.Findings) == 0 {
				t.Errorf("forged rows of %s were not found: %q, %v", table, v.Findings, err)
			}
		})
	}
}

func forge(t *testing.T, e *Exporter, client *bucket.Client, c *memoryCatalog, ref schemas.SegmentRef, table schemas.ParquetTable) {
	t.Helper()
	key := schemas.ObjectKey(table, ref, 0)
	var data []byte
	switch table {
	case schemas.ParquetUpdates:
		data = rewrite(t, read(t, client, key), table, ref, func(r *schemas.UpdateRow) { r.SynchronizerID += "x" })
	case schemas.ParquetEvents:
		data = rewrite(t, read(t, client, key), table, ref, func(r *schemas.EventRow) { r.ContractID += "x" })
	default:
		data = rewrite(t, read(t, client, key), table, ref, func(r *schemas.TrafficRow) { r.TotalCost++ })
	}
	write(t, client, key, data)
	m, err := published.DecodeManifest([]byte(c.Rows[0].Manifest))
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Tables {
		for j := range m.Tables[i].Parts {
			if p := &m.Tables[i].Parts[j]; p.Key == key {
				p.Bytes = int64(len(data))
				p.SetSum(sha256.Sum256(data))
			}
		}
	}
	sum, err := e.putManifest(context.Background(), m, true)
	if err != nil {
		t.Fatal(err)
	}
	if c.Rows[0], err = published.SegmentRow(m, sum, published.Published, 1); err != nil {
		t.Fatal(err)
	}
}

// rewrite changes the first row of an object.
func rewrite[T any](t *testing.T, data []byte, table schemas.ParquetTable, ref schemas.SegmentRef, change func(*T)) []byte {
	t.Helper()
	rows, err := parquet.Read[T](bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	change(&rows[0])
	var out bytes.Buffer
	w := newParquetWriter[T](&out, newCodecs(1), table, ref)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
