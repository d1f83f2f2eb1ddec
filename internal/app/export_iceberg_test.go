package app

import (
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// TestExportIceberg exports with jobs, and compares a closed migration in the Iceberg tables
// with the store. A second export finds nothing to do.
func TestExportIceberg(t *testing.T) {
	g, err := bucket.StartGateway(t.Context(), bucket.GatewayConfig{DataDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	s := openTestApp(t, "--export-iceberg", "--bulk-layouts", "parquet", "--s3-endpoint", g.Endpoint,
		"--s3-access-key", g.AccessKey, "--s3-secret-key", g.SecretKey, "--s3-prefix", "some/prefix")
	const hours = 3600 * 1e6
	ingestItems(t, s, schematest.New(schematest.Config{Seed: 9, Items: 12, Migrations: 2, Step: 5 * hours}).Items)
	for range 2 {
		if err := s.worker.exportAll(t.Context(), console.NewProgress(console.New(io.Discard, io.Discard))); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := engine.Open(t.Context(), s.db.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	table := fmt.Sprintf("icebergS3('%s/ledgerlake/some/prefix/%s', '%s', '%s')", g.Endpoint,
		schemas.IcebergFolder(schemas.ScanStream, schemas.ParquetUpdates), g.AccessKey, g.SecretKey)
	const sums = "SELECT count(), sum(toUnixTimestamp64Micro(record_time)), sum(cityHash64(update_id)) FROM %s WHERE migration_id = 0"
	var got, want [3]uint64
	var gotTime, wantTime int64
	if err := conn.QueryRow(t.Context(), fmt.Sprintf(sums, table)).Scan(&got[0], &gotTime, &got[2]); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), fmt.Sprintf(sums, "updates")).Scan(&want[0], &wantTime, &want[2]); err != nil {
		t.Fatal(err)
	}
	if got != want || gotTime != wantTime || want[0] == 0 {
		t.Errorf("the Iceberg table has %v and %d, the store %v and %d", got, gotTime, want, wantTime)
	}
}
