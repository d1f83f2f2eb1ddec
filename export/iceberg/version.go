package iceberg

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// errConflict means that another writer has committed meanwhile.
var errConflict = errors.New("another writer has changed the table meanwhile")

// version is a version of a table: one that is in the bucket, or one to commit.
type version struct {
	name schemas.ParquetTable
	// version is the number of the metadata, 0 for a table that is not there.
	version int64
	*metadata
	// stored are the versions in the bucket when it was read.
	stored []int64
}

// content is the fingerprint of the segments that the table has, "" if it is not there.
func (v *version) content() string { return v.Properties[contentProperty] }

const (
	jsonType = "application/json"
	avroType = "application/avro"
	hintName = "version-hint.text"
)

// load reads the latest version of a table, or the one before the first.
func (t *Tables) load(ctx context.Context, name schemas.ParquetTable) (v *version, err error) {
	for attempt := range maxAttempts {
		if err := sleep(ctx, time.Duration(attempt)*time.Millisecond); err != nil {
			return nil, err
		}
		v, err = t.loadOnce(ctx, name)
		if !errors.Is(err, bucket.ErrNotFound) {
			break
		} // or else others have committed so often that what was the latest is gone
	}
	return v, err
}

func (t *Tables) loadOnce(ctx context.Context, name schemas.ParquetTable) (*version, error) {
	stored, latest, err := t.versions(ctx, name)
	if err != nil {
		return nil, err
	}
	fresh, err := newMetadata(name, t.cfg.Objects.URL(schemas.IcebergFolder(t.cfg.Stream, name)))
	if err != nil || latest == 0 {
		return &version{name: name, metadata: fresh}, err
	}
	key := schemas.IcebergMetadataKey(t.cfg.Stream, name, latest)
	data, err := t.read(ctx, key)
	if err != nil {
		return nil, err
	}
	m := &metadata{Properties: map[string]string{}, Refs: map[string]ref{}} // which others may leave out
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("decoding %s: %w", key, err)
	}
	if m.Location != fresh.Location {
		// The bucket has another name, or the prefix has changed. What the table says of
		// paths is wrong, and it is made anew.
		fresh.LastSequenceNumber = m.LastSequenceNumber
		m = fresh
	}
	return &version{name, latest, m, stored}, nil
}

// versions lists the versions of a table in the bucket, in no order, and the latest of them.
func (t *Tables) versions(ctx context.Context, name schemas.ParquetTable) (stored []int64, latest int64, err error) {
	for o, err := range t.cfg.Objects.All(ctx, schemas.IcebergFileKey(t.cfg.Stream, name, "v")) {
		if err != nil {
			return nil, 0, err
		}
		if v, ok := schemas.ParseIcebergVersion(o.Key); ok {
			stored, latest = append(stored, v), max(latest, v)
		}
	}
	return stored, latest, nil
}

// commit stores a version that follows the one it was made from, or returns errConflict.
func (t *Tables) commit(ctx context.Context, v *version) error {
	data, err := json.MarshalIndent(v.metadata, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding metadata: %w", err)
	}
	key := schemas.IcebergMetadataKey(t.cfg.Stream, v.name, v.version)
	err = t.cfg.Objects.PutIfAbsent(ctx, key, bytes.NewReader(data), int64(len(data)), sha256.Sum256(data), jsonType)
	if errors.Is(err, bucket.ErrExists) {
		return errConflict
	}
	if err != nil {
		return err
	}
	// A writer that was held up for so long that its number has been used and removed again
	// has stored something that nobody reads.
	if _, latest, err := t.versions(ctx, v.name); err != nil || latest != v.version {
		return errors.Join(errConflict, err)
	}
	if err := t.writeHint(ctx, v.name, v.version); err != nil {
		return err
	}
	t.forget(ctx, v)
	t.cfg.Log.InfoContext(ctx, "committed Iceberg table", "table", v.name, "version", v.version,
		"snapshots", len(v.Snapshots), "sequence", v.LastSequenceNumber)
	return nil
}

// writeHint says to readers that cannot list which version is the latest, unless it is
// said already. Two writers may do so in any order, and the next one puts it right.
func (t *Tables) writeHint(ctx context.Context, name schemas.ParquetTable, latest int64) error {
	key := schemas.IcebergFileKey(t.cfg.Stream, name, hintName)
	hint, err := t.read(ctx, key)
	if err != nil && !errors.Is(err, bucket.ErrNotFound) {
		return err
	}
	if said, err := strconv.ParseInt(strings.TrimSpace(string(hint)), 10, 64); err == nil && said >= latest {
		return nil
	}
	data := []byte(strconv.FormatInt(latest, 10))
	return t.cfg.Objects.Put(ctx, key, bytes.NewReader(data), int64(len(data)), sha256.Sum256(data), "text/plain")
}

// forget removes old versions of the metadata. What it leaves the next commit removes.
func (t *Tables) forget(ctx context.Context, v *version) {
	for _, old := range v.stored {
		if old > v.version-int64(t.cfg.Snapshots) {
			continue
		}
		if err := t.cfg.Objects.Delete(ctx, schemas.IcebergMetadataKey(t.cfg.Stream, v.name, old)); err != nil {
			t.cfg.Log.WarnContext(ctx, "removing old Iceberg metadata failed", "table", v.name, "version", old, "err", err)
			return
		}
	}
}

// read returns a whole object.
func (t *Tables) read(ctx context.Context, key string) ([]byte, error) {
	body, err := t.cfg.Objects.Get(ctx, key, 0, -1)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(body)
	if err := errors.Join(err, body.Close()); err != nil {
		return nil, fmt.Errorf("reading %s: %w", key, err)
	}
	return data, nil
}
