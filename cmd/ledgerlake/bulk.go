package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/query/scan"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// newExporter returns the exporter of the scan stream over the store and the bucket.
func (s *stack) newExporter() (*export.Exporter, error) {
	if s.exporter != nil {
		return s.exporter, nil
	}
	temp := filepath.Join(s.app.cfg.Data, "tmp")
	if err := os.MkdirAll(temp, 0o755); err != nil {
		return nil, fmt.Errorf("making a folder for objects under way: %w", err)
	}
	conn, err := engine.Open(context.Background(), s.dsn)
	if err != nil {
		return nil, err
	}
	s.onClose(conn.Close)
	s.exporter, err = export.New(export.Config{Source: s.reader, Conn: conn, Objects: s.bucket, TempDir: temp, Log: s.app.log})
	return s.exporter, err
}

// bulk gives the query tier the published objects.
type bulk struct {
	exporter *export.Exporter
	bucket   *bucket.Client
}

// ActiveSet returns the objects of the latest active set at or before an instant.
func (b bulk) ActiveSet(ctx context.Context, format scan.Format, at schemas.Micros) (schemas.Micros, []scan.Object, error) {
	if format != scan.Parquet {
		return 0, nil, schemas.ErrNotFound
	}
	found, err := b.exporter.Objects(ctx, schemas.MinMicros, schemas.MaxMicros, schemas.ParquetACS)
	if err != nil {
		return 0, nil, err
	}
	var start schemas.Micros
	var objects []scan.Object
	for _, o := range found {
		if o.Start > at || o.Start < start {
			continue
		}
		if o.Start > start {
			start, objects = o.Start, nil
		}
		object, err := objectOf(o)
		if err != nil {
			return 0, nil, err
		}
		objects = append(objects, object)
	}
	if len(objects) == 0 {
		return 0, nil, schemas.ErrNotFound
	}
	return start, objects, nil
}

// Segments returns the published segments that overlap (start, end].
func (b bulk) Segments(ctx context.Context, format scan.Format, start, end schemas.Micros) ([]scan.Segment, schemas.Micros, error) {
	published := schemas.MinMicros
	if format != scan.Parquet {
		return nil, published, nil
	}
	objects, err := b.exporter.Objects(ctx, 0, schemas.MaxMicros, schemas.ParquetUpdates)
	if err != nil {
		return nil, published, err
	}
	var list []scan.Segment
	for _, o := range objects {
		published = max(published, o.End)
		if o.Start >= end || o.End <= start {
			continue
		}
		if n := len(list); n == 0 || list[n-1].MigrationID != o.Segment.MigrationID || list[n-1].Start != o.Start {
			list = append(list, scan.Segment{MigrationID: o.Segment.MigrationID, Start: o.Start, End: o.End})
		}
		object, err := objectOf(o)
		if err != nil {
			return nil, published, err
		}
		last := &list[len(list)-1]
		last.Objects = append(last.Objects, object)
	}
	return list, published, nil
}

// Object looks a published object up by its key.
func (b bulk) Object(ctx context.Context, key string) (scan.Object, error) {
	objects, err := b.exporter.Objects(ctx, schemas.MinMicros, schemas.MaxMicros)
	if err != nil {
		return scan.Object{}, err
	}
	for _, o := range objects {
		if o.Key == key {
			return objectOf(o)
		}
	}
	return scan.Object{}, schemas.ErrNotFound
}

// Open streams a range of an object.
func (b bulk) Open(ctx context.Context, key string, from, to int64) (io.ReadCloser, error) {
	body, err := b.bucket.Get(ctx, key, from, to)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, schemas.ErrNotFound
	}
	if err != nil {
		return nil, err // not body: a nil *Reader in an interface is not nil
	}
	return body, nil
}

func objectOf(o export.Object) (scan.Object, error) {
	sum, err := hex.DecodeString(o.SHA256)
	if err != nil || len(sum) != 32 {
		return scan.Object{}, fmt.Errorf("the manifest's SHA-256 of %s is not one", o.Key)
	}
	return scan.Object{Key: o.Key, Bytes: o.Bytes, SHA256: [32]byte(sum)}, nil
}
