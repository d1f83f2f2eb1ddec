package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ArchiveObjects is the bucket as an Archive needs it; *bucket.Client is one.
type ArchiveObjects interface {
	Reads
	// All walks over the objects whose key begins with prefix.
	All(ctx context.Context, prefix string) iter.Seq2[bucket.Object, error]
}

// ArchiveConfig says where published objects are read. All fields without a default
// are required.
type ArchiveConfig struct {
	Objects ArchiveObjects
	// Stream defaults to schemas.ScanStream.
	Stream string
	// TempDir holds the objects that are read at present, at most one part per table.
	// Defaults to os.TempDir().
	TempDir string
	Log     *slog.Logger
}

// Archive is what the bucket alone tells of a stream, without any store. It is a
// snapshot: segments that are published after OpenArchive are not in it.
type Archive struct {
	cfg      ArchiveConfig
	segments []ArchivedSegment
}

// ArchivedSegment is a segment with its manifest as it stands in the bucket.
type ArchivedSegment struct {
	*Manifest
	// Sum is the SHA-256 of the manifest's bytes.
	Sum [32]byte
}

// OpenArchive reads the manifests of a stream. A manifest that does not describe its
// segment is an error. Segments may be missing: see Gap.
func OpenArchive(ctx context.Context, cfg ArchiveConfig) (*Archive, error) {
	if cfg.Objects == nil || cfg.Log == nil {
		return nil, errors.New("export: an archive needs Objects and Log")
	}
	if cfg.Stream == "" {
		cfg.Stream = schemas.ScanStream
	}
	if cfg.TempDir == "" {
		cfg.TempDir = os.TempDir()
	}
	a := &Archive{cfg: cfg}
	for object, err := range cfg.Objects.All(ctx, schemas.ManifestPrefix(cfg.Stream)) {
		if err != nil {
			return nil, fmt.Errorf("listing the manifests of %s: %w", cfg.Stream, err)
		}
		segment, err := a.readManifest(ctx, object.Key)
		if err != nil {
			return nil, err
		}
		a.segments = append(a.segments, segment)
	}
	slices.SortFunc(a.segments, func(x, y ArchivedSegment) int { return x.Ref().Compare(y.Ref()) })
	return a, nil
}

func (a *Archive) readManifest(ctx context.Context, key string) (s ArchivedSegment, err error) {
	body, err := a.cfg.Objects.Get(ctx, key, 0, -1)
	if err != nil {
		return s, err
	}
	data, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		return s, fmt.Errorf("reading manifest %s: %w", key, err)
	}
	m, err := decodeManifest(data)
	if err != nil {
		return s, fmt.Errorf("reading manifest %s: %w", key, err)
	}
	if err := m.check(); err != nil || schemas.ManifestKey(m.Ref()) != key || m.Stream != a.cfg.Stream {
		return s, fmt.Errorf("manifest %s does not describe its segment but %s: %w", key, m.Ref(), errors.Join(schemas.ErrMalformed, err))
	}
	if again, err := m.encode(); err != nil || !bytes.Equal(again, data) {
		return s, fmt.Errorf("manifest %s is not written as this program writes it: %w", key, errors.Join(schemas.ErrMalformed, err))
	}
	return ArchivedSegment{Manifest: m, Sum: sha256.Sum256(data)}, nil
}

// Segments lists the segments by migration and day, the imports of a migration first.
// The list is shared and must not be changed.
func (a *Archive) Segments() []ArchivedSegment { return a.segments }

// Gap returns what is wrong with the order of the segments, or nil if each follows the
// one before: imports first, then day by day. Days at the end of a migration that lack
// show only in the chain.
func (a *Archive) Gap() error {
	for i, s := range a.segments {
		ref := s.Ref()
		if ref.IsImports() {
			continue
		}
		if i == 0 || a.segments[i-1].MigrationID != ref.MigrationID {
			return fmt.Errorf("%s is missing: the first segment of migration %d is %s", schemas.ManifestKey(schemas.SegmentRef{Stream: ref.Stream, MigrationID: ref.MigrationID}), ref.MigrationID, ref)
		}
		before := a.segments[i-1].Ref()
		if !before.IsImports() && before.Next() != ref {
			return fmt.Errorf("%s is missing: %s is followed by %s", schemas.ManifestKey(before.Next()), before, ref)
		}
	}
	return nil
}

// Updates hands out every update of the archive in order, the imports of a migration
// before its history, and checks the rows of each segment against its manifest. What is
// wrong with the objects is an error.
func (a *Archive) Updates(ctx context.Context, each func(*schemas.Update) error) error {
	for _, s := range a.segments {
		if err := a.segmentUpdates(ctx, s.Manifest, each); err != nil {
			return fmt.Errorf("reading segment %s: %w", s.Ref(), err)
		}
	}
	return nil
}

func (a *Archive) segmentUpdates(ctx context.Context, m *Manifest, each func(*schemas.Update) error) (err error) {
	items, err := openSegmentItems(ctx, a.parts(), m, &progressMeter{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, items.close()) }()
	for {
		it, err := items.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if it.Update == nil {
			continue
		}
		if err := each(it.Update); err != nil {
			return err
		}
	}
}

func (a *Archive) parts() partSource {
	return partSource{objects: a.cfg.Objects, tempDir: a.cfg.TempDir}
}

// hexSum is the form in which the catalog keeps the manifest's SHA-256.
func (s ArchivedSegment) hexSum() string { return hex.EncodeToString(s.Sum[:]) }

// check makes sure of what readers of the manifest rely on.
func (m *Manifest) check() error {
	ref := m.Ref()
	if err := ref.Check(); err != nil {
		return err
	}
	names := ref.Tables()
	if len(m.Tables) != len(names) {
		return fmt.Errorf("it has %d tables, not %d", len(m.Tables), len(names))
	}
	for i, t := range m.Tables {
		var rows int64
		for n, p := range t.Parts {
			if p.Key != schemas.ObjectKey(t.Name, ref, n) || p.Rows <= 0 || p.Bytes <= 0 {
				return fmt.Errorf("part %d of table %s is %s with %d rows and %d bytes", n, t.Name, p.Key, p.Rows, p.Bytes)
			}
			rows += p.Rows
		}
		if t.Name != names[i] || rows != t.Rows || uint64(rows) != t.Digest.Rows {
			return fmt.Errorf("table %s has %d rows in its parts, %d in all and %d in its digest", t.Name, rows, t.Rows, t.Digest.Rows)
		}
	}
	return nil
}
