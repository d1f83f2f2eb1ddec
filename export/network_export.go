package export

import (
	"context"
	"errors"
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// networkType is the registered media type.
const networkType = "application/zstd"

// NetworkLines says what is published of one kind and folder in one encoding.
type NetworkLines struct {
	Encoding schemas.Encoding `json:"encoding"`
	// Rows counts lines and JSONBytes is their size before compression, over all objects.
	Rows      int64 `json:"rows"`
	JSONBytes int64 `json:"json_bytes"`
	// Objects are in the order of their lines.
	Objects []NetworkObject `json:"objects"`
}

// NetworkObject is an object in the network's layout.
type NetworkObject struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes"`
	// SHA256 is over the object, in hex.
	SHA256 string `json:"sha256"`
	// Rows counts its lines, Frames its zstd frames.
	Rows   int64 `json:"rows"`
	Frames int64 `json:"frames"`
}

// DueNetwork lists what is closed and not published in the network's layout, by (start,
// kind).
func (e *Exporter) DueNetwork(ctx context.Context) ([]schemas.NetworkRef, error) {
	units, err := e.networkUnits(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := e.network.all(ctx)
	if err != nil {
		return nil, err
	}
	done := make(map[schemas.NetworkRef]bool, len(rows))
	for i := range rows {
		done[rows[i].ref()] = rows[i].State == published || rows[i].State == expired
	}
	var due []schemas.NetworkRef
	for _, u := range units {
		if !done[u.ref] {
			due = append(due, u.ref)
		}
	}
	return due, nil
}

// ExportNetwork publishes all objects of one kind and folder, in all encodings. Like
// ExportSegment it is safe to repeat, finishes a run that was cut off, and returns
// ErrNotClosed or ErrConflict. What was withdrawn is written again, and its objects are
// overwritten; what has expired stays away.
func (e *Exporter) ExportNetwork(ctx context.Context, ref schemas.NetworkRef) error {
	if ref.Stream != e.stream {
		return fmt.Errorf("%s is not of stream %s", ref, e.stream)
	}
	if err := ref.Check(); err != nil {
		return err
	}
	last, err := e.network.last(ctx, ref)
	if err != nil || last.State == published || last.State == expired {
		return err
	}
	return e.exportNetwork(ctx, ref, last)
}

// exportNetwork writes the unit's objects and then its row, with a stay in staging between
// if peers must agree. last is its latest row, or one of version 0.
func (e *Exporter) exportNetwork(ctx context.Context, ref schemas.NetworkRef, last networkRow) error {
	start := e.cfg.Now()
	lines, last, err := e.writtenNetwork(ctx, ref, last)
	if err != nil {
		return fmt.Errorf("exporting %s: %w", ref, err)
	}
	if last.State == staged {
		if err := e.settle(ctx, networkBatch(ref, lines), overwrites(last.State, last.Version)); err != nil {
			return errors.Join(fmt.Errorf("publishing %s: %w", ref, err), e.stageAgain(err, func() error {
				last.Version++
				last.State = withdrawn
				return e.network.append(ctx, last)
			}))
		}
	}
	row, err := networkRowOf(ref, lines, published, last.Version+1)
	if err != nil {
		return err
	}
	if err := e.network.append(ctx, row); err != nil {
		return fmt.Errorf("publishing %s: %w", ref, err)
	}
	if last.State == staged {
		e.unstage(ctx, networkBatch(ref, lines))
	}
	e.log.InfoContext(ctx, "exported folder", "folder", ref.String(), "objects", row.Count,
		"rows", row.Rows, "bytes", row.Bytes, "elapsed", e.cfg.Now().Sub(start))
	return nil
}

// writtenNetwork writes the objects, unless they are staged already, and returns them with
// the latest row.
func (e *Exporter) writtenNetwork(ctx context.Context, ref schemas.NetworkRef, last networkRow) ([]NetworkLines, networkRow, error) {
	if last.State == staged {
		lines, err := last.lines()
		return lines, last, err
	}
	unit, err := e.closedNetwork(ctx, ref)
	if err != nil {
		return nil, last, err
	}
	if err := e.cfg.Whole(ctx); err != nil {
		return nil, last, err
	}
	lines, err := e.writeNetwork(ctx, unit, overwrites(last.State, last.Version))
	if err != nil {
		return nil, last, err
	}
	if err := e.cfg.Whole(ctx); err != nil {
		return nil, last, err
	}
	if err := e.deleteStaleNetwork(ctx, last, lines); err != nil {
		return nil, last, fmt.Errorf("removing old objects: %w", err)
	}
	if e.cfg.Agree == 0 {
		return lines, last, nil
	}
	row, err := networkRowOf(ref, lines, staged, last.Version+1)
	if err != nil {
		return nil, last, err
	}
	return lines, row, e.network.append(ctx, row)
}

// networkBatch is what peers are asked about.
func networkBatch(ref schemas.NetworkRef, lines []NetworkLines) batch {
	b := batch{name: ref}
	for i := range lines {
		for _, o := range lines[i].Objects {
			b.objects = append(b.objects, object{o.Key, o.SHA256})
		}
		b.next = append(b.next, schemas.NetworkKey(ref, lines[i].Encoding, len(lines[i].Objects)))
	}
	return b
}

// writeNetwork puts the unit's objects into the bucket.
func (e *Exporter) writeNetwork(ctx context.Context, u networkUnit, overwrite bool) (_ []NetworkLines, err error) {
	sinks := make([]*bucketSink, len(schemas.NetworkEncodings))
	writers := make([]*lineWriter, len(sinks))
	for i, encoding := range schemas.NetworkEncodings {
		sinks[i] = &bucketSink{exporter: e, ref: u.ref, encoding: encoding, overwrite: overwrite, objects: []NetworkObject{}}
		defer func() { err = errors.Join(err, sinks[i].close()) }()
		if writers[i], err = e.newLineWriter(encoding, sinks[i]); err != nil {
			return nil, err
		}
	}
	if err := e.writeLines(ctx, u, writers...); err != nil {
		return nil, err
	}
	lines := make([]NetworkLines, len(sinks))
	for i, w := range writers {
		lines[i] = NetworkLines{Encoding: sinks[i].encoding, Rows: w.total.Rows, JSONBytes: w.total.JSONBytes, Objects: sinks[i].objects}
	}
	return lines, nil
}

// deleteStaleNetwork removes objects of an earlier version that the new one does not have,
// while it is still withdrawn.
func (e *Exporter) deleteStaleNetwork(ctx context.Context, last networkRow, now []NetworkLines) error {
	before, err := last.lines()
	if err != nil {
		return err
	}
	keep := make(map[string]bool)
	for i := range now {
		for _, o := range now[i].Objects {
			keep[o.Key] = true
		}
	}
	for i := range before {
		for _, o := range before[i].Objects {
			if keep[o.Key] {
				continue
			}
			if err := e.cfg.Objects.Delete(ctx, o.Key); err != nil {
				return err
			}
		}
	}
	return nil
}
