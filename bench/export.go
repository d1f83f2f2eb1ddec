package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"golang.org/x/sync/errgroup"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	// minExportRatio is the least that an export may reach of DuckDB's COPY, in rows per second.
	minExportRatio = 0.8
	// maxExportPeak is the most memory that an exporter may take.
	maxExportPeak = 512 << 20
	// maxParquetShare is the most that Parquet objects may take of the network's layout of
	// the same content, in both of its encodings.
	maxParquetShare = 0.65
	// duckdbLevel is the level of zstd that export uses, about.
	duckdbLevel = 7
)

// exportsAtOnce is the default of ledgerlake's --concurrency on a small machine.
const exportsAtOnce = 2

// exportTask asks for all closed segments of a store to be published.
type exportTask struct {
	Engine string `json:"engine"` // folder of the engine
	Bucket string `json:"bucket"` // folder of the gateway
}

// exported is what publishing took, and what was published.
type exported struct {
	Seconds float64 `json:"seconds"`
	// Client and EngineCPU are processor times.
	Client    float64                             `json:"client"`
	EngineCPU float64                             `json:"engine_cpu"`
	Peak      int64                               `json:"peak_bytes"`
	Tables    map[schemas.ParquetTable]sizedTable `json:"tables"`
	// Layout is the network's layout of the same segments and folders, both encodings.
	Layout int64 `json:"layout_bytes"`
}

// sizedTable is one table over all segments.
type sizedTable struct {
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"`
	// RowGroup is the largest number of rows in a part over its row groups.
	RowGroup int64 `json:"row_group"`
}

// measureExport publishes the history that ingest has stored and compares rate and size with
// those of DuckDB, and the size with the network's own layout.
func measureExport(ctx context.Context, l *lab.Lab, s lab.Section) error {
	if _, err := l.Ingested(ctx); err != nil {
		return err
	}
	l.Say("exporting")
	got, err := lab.Ask[exported](ctx, roleExport, exportTask{Engine: l.LakeDir(), Bucket: l.Folder("bucket")}, l.Stderr)
	if err != nil {
		return err
	}
	var rows, bytes, core float64
	for name, t := range got.Tables {
		rows += float64(t.Rows)
		bytes += float64(t.Bytes)
		switch name {
		case schemas.ParquetUpdates, schemas.ParquetEvents, schemas.ParquetImports, schemas.ParquetACS:
			core += float64(t.Bytes)
		}
	}
	var duck copied
	if l.Has(lab.DuckDB) {
		l.Say("copying the same rows with DuckDB")
		if duck, err = duckdbCopy(ctx, l, got); err != nil {
			return err
		}
		if duck.Rows != rows {
			return fmt.Errorf("DuckDB copied %.0f rows, exported were %.0f", duck.Rows, rows)
		}
	}
	beside := l.Beside(s, lab.DuckDB)
	s.Add("rows of all tables", rows/got.Seconds, "1/s")
	beside.Add("the same with DuckDB COPY", rows/duck.Seconds, "1/s")
	beside.AtLeast(minExportRatio, "export / DuckDB COPY", duck.Seconds/got.Seconds, "")
	s.Add("processor time of the exporter", got.Client, "s")
	s.Add("processor time of the engine that it reads from", got.EngineCPU, "s")
	beside.Add("processor time of DuckDB COPY", duck.CPU, "s")
	beside.Add("processor time of DuckDB COPY / of the exporter", duck.CPU/got.Client, "")
	s.AtMost(maxExportPeak/lab.Mebibyte, "peak memory of the exporter", float64(got.Peak)/lab.Mebibyte, "MiB")
	s.Add("Parquet, all tables", bytes/lab.Megabyte, "MB")
	beside.Add("the same by DuckDB", duck.Bytes/lab.Megabyte, "MB")
	s.Add("Parquet, updates, events, imports and acs", core/lab.Megabyte, "MB")
	s.Add("network's layout of the same days, both encodings", float64(got.Layout)/lab.Megabyte, "MB")
	s.AtMost(maxParquetShare, "Parquet / network's layout, identical content", core/float64(got.Layout), "")
	return nil
}

// exportMemoryLimit is what ledgerlake export takes instead.
const exportMemoryLimit = 448 << 20

// exportHistory is the child that exports.
func exportHistory(ctx context.Context, task exportTask, answer func(any) error) (err error) {
	debug.SetMemoryLimit(exportMemoryLimit)
	s, err := lab.OpenEngine(ctx, task.Engine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	gateway, err := bucket.StartGateway(ctx, bucket.GatewayConfig{DataDir: task.Bucket, Log: lab.NewLogger()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gateway.Close()) }()
	client, err := bucket.New(ctx, gateway.Config("bench"))
	if err != nil {
		return err
	}
	if err := client.EnsureBucket(ctx); err != nil {
		return err
	}
	reader := history.NewReader(s.DB, schemas.ScanStream)
	catalog, err := published.New(published.Config{Tables: published.InStore(s.DB, schemas.ScanStream), History: reader})
	if err != nil {
		return err
	}
	e, err := export.New(export.Config{
		Source: reader, Catalog: catalog, Objects: client, TempDir: task.Bucket, Log: lab.NewLogger(),
	})
	if err != nil {
		return err
	}
	got, err := exportSegments(ctx, e, s.Engine.PID())
	if err != nil {
		return err
	}
	if got.Layout, err = exportFolders(ctx, e); err != nil {
		return err
	}
	return answer(got)
}

// exportSegments publishes the segments and describes what they have.
func exportSegments(ctx context.Context, e *export.Exporter, enginePID int) (got exported, err error) {
	due, err := e.DueSegments(ctx)
	if err != nil {
		return got, err
	}
	if len(due) == 0 {
		return got, errors.New("nothing is due: the store was exported before")
	}
	m, err := lab.StartMeter(enginePID, os.Getpid())
	if err != nil {
		return got, err
	}
	began := time.Now()
	running, within := errgroup.WithContext(ctx)
	running.SetLimit(exportsAtOnce)
	for _, ref := range due {
		running.Go(func() error { return e.ExportSegment(within, ref) })
	}
	if err := running.Wait(); err != nil {
		return got, err
	}
	got.Seconds = time.Since(began).Seconds()
	took, err := m.Since()
	if err != nil {
		return got, err
	}
	got.Client, got.EngineCPU = took.Client, took.Engine
	if got.Peak, err = lab.PeakBytes(os.Getpid()); err != nil {
		return got, err
	}
	segments, err := e.Catalog().PublishedSegments(ctx, schemas.MinMicros, schemas.MaxMicros)
	if err != nil {
		return got, err
	}
	got.Tables = make(map[schemas.ParquetTable]sizedTable)
	for i := range segments {
		m, err := e.Catalog().ManifestOf(&segments[i])
		if err != nil {
			return got, err
		}
		for _, table := range m.Tables {
			t := got.Tables[table.Name]
			t.Rows += table.Rows
			for _, p := range table.Parts {
				t.Bytes += p.Bytes
				t.RowGroup = max(t.RowGroup, (p.Rows+int64(p.RowGroups)-1)/int64(p.RowGroups))
			}
			got.Tables[table.Name] = t
		}
	}
	return got, nil
}

// exportFolders publishes the same in the network's layout and returns its bytes.
func exportFolders(ctx context.Context, e *export.Exporter) (bytes int64, err error) {
	due, err := e.Catalog().DueFolders(ctx)
	if err != nil {
		return 0, err
	}
	for _, ref := range due {
		if err := e.Network().Export(ctx, ref); err != nil {
			return 0, err
		}
	}
	for _, encoding := range []schemas.Encoding{schemas.ProtobufJSON, schemas.CompactJSON} {
		_, stored, err := e.Catalog().FolderSize(ctx, encoding)
		if err != nil {
			return 0, err
		}
		bytes += stored
	}
	return bytes, nil
}

// copied is what DuckDB prints, see duckdb/copy.mjs.
type copied struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu"`
	Rows    float64 `json:"rows"`
	Bytes   float64 `json:"bytes"`
}

// duckdbCopy writes the rows of the published objects with DuckDB, in the same order, with the
// same codec and about the same row groups, on as many threads as there are processors.
func duckdbCopy(ctx context.Context, l *lab.Lab, got exported) (took copied, err error) {
	dir := l.Folder("duckdb")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return took, fmt.Errorf("making a folder for DuckDB: %w", err)
	}
	type table struct {
		Name     string `json:"name"`
		From     string `json:"from"`
		Order    string `json:"order"`
		RowGroup int64  `json:"row_group"`
		To       string `json:"to"`
	}
	var task struct {
		Threads int     `json:"threads"`
		Level   int     `json:"level"`
		Tables  []table `json:"tables"`
	}
	task.Threads, task.Level = runtime.NumCPU(), duckdbLevel
	for name, t := range got.Tables {
		task.Tables = append(task.Tables, table{
			string(name), filepath.Join(l.Folder("bucket"), "objects", "bench", string(name), schemas.ParquetVersion, "**", "*.parquet"),
			strings.Join(append([]string{"migration_id"}, name.SortKey()...), ", "), t.RowGroup, filepath.Join(dir, string(name)+".parquet"),
		})
	}
	return took, l.RunDuckDB(ctx, "copy.mjs", task, &took)
}
