package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/parquet-go/parquet-go"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// documentedReader returns the example of docs/formats/parquet.md that begins with a line.
func documentedReader(t *testing.T, language, first string) string {
	t.Helper()
	return documentedExample(t, "parquet.md", language, first)
}

// documentedExample returns an example of a page of docs/formats.
func documentedExample(t *testing.T, name, language, first string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "formats", name))
	if err != nil {
		t.Fatal(err)
	}
	_, example, ok := strings.Cut(string(page), "```"+language+"\n"+first+"\n")
	if !ok {
		t.Fatalf("%s has no example that begins with %s", name, first)
	}
	example, _, _ = strings.Cut(example, "```")
	return strings.TrimSpace(example)
}

// localCopy copies the published objects into the folder "lake" of a new folder.
func localCopy(t *testing.T, client *bucket.Client) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for key := range stored(t, client) {
		path := filepath.Join(dir, "lake", filepath.FromSlash(key))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, read(t, client, key), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// createdByTemplate counts the creations of closed days.
func createdByTemplate(src *memorySource) map[string]uint64 {
	counts := make(map[string]uint64)
	for i := range src.updates {
		u := &src.updates[i]
		if u.Kind != schemas.Transaction || u.RecordTime > micros("2026-07-04T00:00:00Z") {
			continue // a day that is not over
		}
		for _, event := range u.Events {
			if event.Kind == schemas.Created {
				counts[schemas.TemplateName(event.PackageName, event.TemplateID)]++
			}
		}
	}
	return counts
}

// TestDuckDBReadsObjects runs the query of the documentation, and finds the columns and an
// update by its Bloom filter.
func TestDuckDBReadsObjects(t *testing.T) {
	src, client := twoMigrations(53, 60), openBucket(t)
	exportDue(t, newTestExporter(t, src, client, &memoryCatalog{}, nil))
	dir := localCopy(t, client)

	var rows []struct {
		Template string `json:"template_name"`
		Created  uint64 `json:"created,string"`
	}
	duckdb(t, dir, documentedReader(t, "sql", "-- DuckDB"), &rows)
	got, want := make(map[string]uint64), createdByTemplate(src)
	for _, r := range rows {
		got[r.Template] = r.Created
	}
	if !maps.Equal(got, want) || len(want) < 5 {
		t.Errorf("the query counts %v, want %v", got, want)
	}

	id := src.updates[0].UpdateID
	var found []struct {
		Date string `json:"date"`
		Kind string `json:"kind"`
	}
	duckdb(t, dir, "SELECT date::VARCHAR AS date, kind FROM read_parquet('lake/updates/v1/**/*.parquet', hive_partitioning = true) WHERE update_id = '"+id+"'", &found)
	if day := src.updates[0].RecordTime.String()[:10]; len(found) != 1 || found[0].Date != day || found[0].Kind != string(src.updates[0].Kind) {
		t.Errorf("update %s is found as %+v", id, found)
	}
	var groups []struct {
		Groups   int `json:"groups"`
		Excluded int `json:"excluded"`
	}
	duckdb(t, dir, "SELECT count(*)::INTEGER AS groups, (count(*) FILTER (bloom_filter_excludes))::INTEGER AS excluded FROM parquet_bloom_probe('lake/updates/v1/**/*.parquet', 'update_id', '"+id+"')", &groups)
	if len(groups) != 1 || groups[0].Groups < 2 || groups[0].Excluded < groups[0].Groups/2 || groups[0].Excluded == groups[0].Groups {
		t.Errorf("the Bloom filters exclude %+v", groups)
	}
}

// duckdb runs a query on a folder.
func duckdb(t *testing.T, dir, sql string, rows any) {
	t.Helper()
	home, err := filepath.Abs(filepath.Join("..", "bench", "duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(home, "node_modules")); errors.Is(err, fs.ErrNotExist) {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no DuckDB: run scripts/setup.sh duckdb")
		}
		t.Skip("there is no DuckDB: run scripts/setup.sh duckdb")
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(home, "query.mjs"), sql)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("running %s: %v\n%s", sql, err, stderr.Bytes())
	}
	if err := json.Unmarshal(stdout.Bytes(), rows); err != nil {
		t.Fatalf("reading %s: %v", stdout.Bytes(), err)
	}
}

// TestParquetGoReadsObjects runs the example of the documentation: the lines below stand there
// as well.
func TestParquetGoReadsObjects(t *testing.T) {
	src, client := twoMigrations(54, 60), openBucket(t)
	exportDue(t, newTestExporter(t, src, client, &memoryCatalog{}, nil))
	files, err := filepath.Glob(filepath.Join(localCopy(t, client), "lake", "events", "v1", "*", "*", "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	got, want := make(map[string]uint64), createdByTemplate(src)
	for _, file := range files {
		rows, err := parquet.ReadFile[struct {
			Kind         string `parquet:"kind"`
			TemplateName string `parquet:"template_name,optional"`
		}](file)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.Kind == "created" {
				got[r.TemplateName]++
			}
		}
	}
	if !maps.Equal(got, want) || len(want) < 5 {
		t.Errorf("the example counts %v, want %v", got, want)
	}
	mustBeRunHere(t, "// Go, with github.com/parquet-go/parquet-go, for each object")
}

// mustBeRunHere makes sure that the lines of a documented example in Go stand in this file.
func mustBeRunHere(t *testing.T, first string) {
	t.Helper()
	ours, err := os.ReadFile("readers_test.go")
	if err != nil {
		t.Fatal(err)
	}
	space := regexp.MustCompile(`\s+`)
	example := documentedReader(t, "go", first)
	if !strings.Contains(space.ReplaceAllString(string(ours), " "), space.ReplaceAllString(example, " ")) {
		t.Errorf("this test does not run the example of the documentation:\n%s", example)
	}
}

// TestArrowReadsObjects runs the example of the documentation: the lines below stand there as
// well. They read all columns.
func TestArrowReadsObjects(t *testing.T) {
	ctx, src, client := t.Context(), twoMigrations(55, 60), openBucket(t)
	exportDue(t, newTestExporter(t, src, client, &memoryCatalog{}, nil))
	files, err := filepath.Glob(filepath.Join(localCopy(t, client), "lake", "events", "v1", "*", "*", "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	got, want := make(map[string]uint64), createdByTemplate(src)
	for _, path := range files {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		table, err := pqarrow.ReadTable(ctx, file, nil, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
		if err = errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		for batches := array.NewTableReader(table, 0); batches.Next(); {
			batch := batches.RecordBatch()
			kind := batch.Column(batch.Schema().FieldIndices("kind")[0]).(*array.String)
			template := batch.Column(batch.Schema().FieldIndices("template_name")[0]).(*array.String)
			for i := range kind.Len() {
				if kind.Value(i) == "created" {
					got[template.Value(i)]++
				}
			}
		}
	}
	if !maps.Equal(got, want) || len(want) < 5 {
		t.Errorf("the example counts %v, want %v", got, want)
	}
	mustBeRunHere(t, "// Go, with github.com/apache/arrow-go/v18/parquet/pqarrow, for each object")
}
