package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// damage changes bytes of an object in the gateway's folder, below its metadata.
func damage(t *testing.T, dir, key string) {
	t.Helper()
	found := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(filepath.ToSlash(path), "/lake/"+key) {
			return err
		}
		found++
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = file.WriteAt([]byte("damage"), 40)
		return errors.Join(err, file.Close())
	})
	if err != nil || found != 1 {
		t.Fatalf("%d files hold %s, %v", found, key, err)
	}
}

// checkDamaged makes sure that the object's metadata are those of before and that its
// bytes are not, which is what a rotten disk gives.
func checkDamaged(t *testing.T, c *bucket.Client, key string, before bucket.Object) {
	t.Helper()
	head, err := c.Head(t.Context(), key)
	if err != nil || head.SHA256 != before.SHA256 || head.Size != before.Size {
		t.Fatalf("the metadata changed from %+v to %+v, %v: the test damages too much", before, head, err)
	}
	body, err := c.Get(t.Context(), key, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := new(bytes.Buffer).ReadFrom(body); !errors.Is(err, bucket.ErrChecksum) {
		t.Fatalf("reading the damaged object: %v", err)
	}
	if err := body.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedObjectIsRepaired follows docs/operations.md with the statement that stands
// there: the store behind the bucket has damaged an object, whose metadata still say
// what it was.
func TestDamagedObjectIsRepaired(t *testing.T) {
	dir := t.TempDir()
	client := buckettest.Open(t, bucketConfig(buckettest.GatewayIn(t, dir), ""))
	db, _ := openStore(t)
	e := newTestExporter(t, twoMigrations(41, 40), client, nil, nil)
	e.catalog.Tables = published.InStore(db.db, schemas.ScanStream)
	exportDue(t, e)
	ref := schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: "2026-07-03"}
	key := schemas.ObjectKey(schemas.ParquetEvents, ref, 0)
	whole := read(t, client, key)
	before, err := client.Head(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	damage(t, dir, key)
	checkDamaged(t, client, key, before)
	if len(findings(t, e)) == 0 {
		t.Fatal("the damage is not found")
	}

	if err := db.Conn.Exec(t.Context(), withdrawal(t, ref)); err != nil {
		t.Fatal(err)
	}
	if due := exportDue(t, e); len(due) != 1 || due[0] != ref {
		t.Fatalf("due are %v, want %s", due, ref)
	}
	if left := findings(t, e); len(left) > 0 || !bytes.Equal(read(t, client, key), whole) {
		t.Errorf("the repair left %q", left)
	}
}

// findings are what a verification of all objects finds.
func findings(t *testing.T, e *Exporter) []string {
	t.Helper()
	v, err := e.VerifyObjects(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return v.Findings
}

// withdrawal is the statement of docs/operations.md for a segment.
func withdrawal(t *testing.T, ref schemas.SegmentRef) string {
	t.Helper()
	page, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```sql\nINSERT INTO segments")
	statement, _, closed := strings.Cut(rest, "```")
	changed := strings.NewReplacer("migration_id = 1 ", fmt.Sprintf("migration_id = %d ", ref.MigrationID), "2026-07-05", ref.Date).Replace(statement)
	if !ok || !closed || changed == statement {
		t.Fatal("docs/operations.md no longer shows how to withdraw a segment")
	}
	return "INSERT INTO segments" + changed
}

// TestDamagedObjectIsNotTakenForEqual finishes a run that was cut off, over an object
// whose metadata are right and whose bytes are not.
func TestDamagedObjectIsNotTakenForEqual(t *testing.T) {
	dir := t.TempDir()
	client := buckettest.Open(t, bucketConfig(buckettest.GatewayIn(t, dir), ""))
	src := twoMigrations(42, 40)
	ref := schemas.SegmentRef{Stream: "scan", MigrationID: 0, Date: "2026-07-01"}
	if err := newTestExporter(t, src, client, &memoryCatalog{}, nil).ExportSegment(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	c := &memoryCatalog{} // the run was cut off before its row
	e := newTestExporter(t, src, client, c, nil)
	damage(t, dir, schemas.ObjectKey(schemas.ParquetUpdates, ref, 0))
	if err := e.ExportSegment(t.Context(), ref); !errors.Is(err, published.ErrConflict) || len(c.Rows) > 0 {
		t.Fatalf("a damaged object was taken for equal: %v", err)
	}
	if err := e.Reexport(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	if left := findings(t, e); len(left) > 0 {
		t.Errorf("after exporting again: %q", left)
	}
}

// Reexport withdraws a segment and publishes it again, overwriting its objects, as after a rewind.
// While it runs, and if it is cut off until the next ExportSegment, the segment is not listed.
func (e *Exporter) Reexport(ctx context.Context, ref schemas.SegmentRef) error {
	if err := e.check(ctx, ref); err != nil {
		return err
	}
	if err := e.catalog.MustBeClosed(ctx, ref); err != nil {
		return err
	}
	last, err := e.catalog.LastSegment(ctx, ref)
	if err != nil {
		return err
	}
	last.Version++
	last.State = published.Withdrawn
	if err := e.catalog.Segments.Append(ctx, last); err != nil {
		return fmt.Errorf("withdrawing segment %s: %w", ref, err)
	}
	return e.export(ctx, ref, last)
}
