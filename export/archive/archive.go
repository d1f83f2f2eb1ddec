package archive

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Objects is the bucket as an Archive needs it; *bucket.Client is one.
type Objects interface {
	Reads
	// All walks over the objects whose key begins with prefix.
	All(ctx context.Context, prefix string) iter.Seq2[bucket.Object, error]
}

// Config says where published objects are read. All fields without a default
// are required.
type Config struct {
	Objects Objects
	// Stream defaults to schemas.ScanStream.
	Stream string
	// TempDir holds the objects that are read at present, at most one part per table.
	// Defaults to os.TempDir().
	TempDir string
	// CacheDir keeps manifests, and what lookups need beside them, from one archive to
	// the next. It grows with the number of segments. Nothing is kept if it is "".
	CacheDir string
	Log      *slog.Logger
}

// Archive is what the bucket alone tells of a stream, without any store. It is a
// snapshot: segments that are published after Open are not in it.
type Archive struct {
	cfg      Config
	segments []Segment
}

// Segment is a segment with its manifest as it stands in the bucket.
type Segment struct {
	*published.Manifest
	// Sum is the SHA-256 of the manifest's bytes.
	Sum [32]byte
}

// Open reads the manifests of a stream. A manifest that does not describe its
// segment is an error. Segments may be missing: see Gap.
func Open(ctx context.Context, cfg Config) (*Archive, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	a := &Archive{cfg: cfg}
	for object, err := range cfg.Objects.All(ctx, schemas.ManifestPrefix(cfg.Stream)) {
		if err != nil {
			return nil, fmt.Errorf("listing the manifests of %s: %w", cfg.Stream, err)
		}
		segment, err := a.manifestOf(ctx, object)
		if err != nil {
			return nil, err
		}
		a.segments = append(a.segments, segment)
	}
	a.sort()
	return a, nil
}

// OpenCached is Open of what an earlier archive left in the cache, without
// any request: there may be newer segments.
func OpenCached(cfg Config) (*Archive, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	a := &Archive{cfg: cfg}
	copies, err := cache(cfg.CacheDir).under(schemas.ManifestPrefix(cfg.Stream))
	if err != nil {
		return nil, err
	}
	for _, data := range copies {
		segment, err := a.decode("in the cache", data)
		if err != nil {
			return nil, err
		}
		a.segments = append(a.segments, segment)
	}
	a.sort()
	return a, nil
}

func (c *Config) setDefaults() error {
	if c.Objects == nil || c.Log == nil {
		return errors.New("export: an archive needs Objects and Log")
	}
	c.Stream = cmp.Or(c.Stream, schemas.ScanStream)
	c.TempDir = cmp.Or(c.TempDir, os.TempDir())
	return nil
}

func (a *Archive) sort() {
	slices.SortFunc(a.segments, func(x, y Segment) int { return x.Ref().Compare(y.Ref()) })
}

// manifestOf returns the manifest from the cache, or from the bucket.
func (a *Archive) manifestOf(ctx context.Context, object bucket.Object) (s Segment, err error) {
	cache := cache(a.cfg.CacheDir)
	data, err := cache.load(object.Key, object.ETag)
	if err != nil {
		return s, fmt.Errorf("reading the cached manifest %s: %w", object.Key, err)
	}
	if data != nil {
		if s, err := a.decode(object.Key, data); err == nil {
			return s, nil
		} // else the copy is damaged, and is replaced
	}
	if data, err = readObject(ctx, a.cfg.Objects, object.Key); err != nil {
		return s, err
	}
	if s, err = a.decode(object.Key, data); err != nil {
		return s, err
	}
	return s, cache.save(object.Key, object.ETag, data)
}

// decode checks a manifest. key says where it was found: in the bucket under a key, or
// elsewhere.
func (a *Archive) decode(key string, data []byte) (s Segment, err error) {
	m, err := published.DecodeManifest(data)
	if err != nil {
		return s, fmt.Errorf("reading manifest %s: %w", key, err)
	}
	prefix := schemas.ManifestPrefix(a.cfg.Stream)
	if err := m.Check(); err != nil || m.Stream != a.cfg.Stream || strings.HasPrefix(key, prefix) && schemas.ManifestKey(m.Ref()) != key {
		return s, fmt.Errorf("manifest %s describes segment %s instead of its own: %w", key, m.Ref(), errors.Join(schemas.ErrMalformed, err))
	}
	if again, err := m.Encode(); err != nil || !bytes.Equal(again, data) {
		return s, fmt.Errorf("manifest %s is not encoded as this program encodes it: %w", key, errors.Join(schemas.ErrMalformed, err))
	}
	return Segment{Manifest: m, Sum: sha256.Sum256(data)}, nil
}

// Segments lists the segments by migration and day, the imports of a migration first.
// The list is shared and must not be changed.
func (a *Archive) Segments() []Segment { return a.segments }

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
		if err := EachUpdate(ctx, a.parts(), s.Manifest, each); err != nil {
			return fmt.Errorf("reading segment %s: %w", s.Ref(), err)
		}
	}
	return nil
}

func (a *Archive) parts() Parts {
	return Parts{Objects: a.cfg.Objects, TempDir: a.cfg.TempDir}
}

// hexSum is the form in which the catalog keeps the manifest's SHA-256.
func (s Segment) hexSum() string { return hex.EncodeToString(s.Sum[:]) }
