package iceberg

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// next returns the version that follows base and has the given segments. Its manifests and
// manifest list are stored by then.
func (t *Tables) next(ctx context.Context, base *version, segments []Segment) (*version, error) {
	v := &version{base.name, base.version + 1, base.metadata, base.stored}
	s, err := schemaOf(base.name)
	if err != nil {
		return nil, err
	}
	if err := v.setSchema(s); err != nil {
		return nil, err
	}
	now := max(t.cfg.Now().UnixMilli(), base.LastUpdated)
	t.logVersion(v, base)
	v.LastUpdated = now
	if base.content() == fingerprint(segments) {
		return v, nil // with the same snapshot
	}
	before, err := t.manifests(ctx, base)
	if err != nil {
		return nil, err
	}
	kept, missing := t.compare(base.name, before, segments)
	fresh, err := t.writeManifests(ctx, v, missing)
	if err != nil {
		return nil, err
	}
	v.Properties[contentProperty] = fingerprint(segments)
	if len(fresh) == 0 && len(kept) == len(before) {
		return v, nil // no rows came or went
	}
	return v, t.addSnapshot(ctx, v, before, kept, fresh)
}

// logVersion has the new version name the one before and those that will be kept.
func (t *Tables) logVersion(v, base *version) {
	if base.version == 0 {
		return
	}
	key := schemas.IcebergMetadataKey(t.cfg.Stream, base.name, base.version)
	v.MetadataLog = append(v.MetadataLog, metadataLogEntry{base.LastUpdated, t.cfg.Objects.URL(key)})
	v.MetadataLog = v.MetadataLog[max(0, len(v.MetadataLog)-t.cfg.Snapshots+1):]
}

// manifests reads what the current snapshot of a version consists of.
func (t *Tables) manifests(ctx context.Context, v *version) ([]manifestFile, error) {
	snap := v.current()
	if snap == nil {
		return nil, nil
	}
	return t.manifestsOf(ctx, v.name, snap)
}

func (t *Tables) manifestsOf(ctx context.Context, name schemas.ParquetTable, snap *snapshot) ([]manifestFile, error) {
	data, err := t.read(ctx, schemas.IcebergFileKey(t.cfg.Stream, name, path.Base(snap.ManifestList)))
	if err != nil {
		return nil, fmt.Errorf("reading snapshot %d: %w", snap.ID, err)
	}
	manifests, err := decodeAvro[manifestFile](data)
	if err != nil {
		return nil, fmt.Errorf("decoding %s: %w", snap.ManifestList, err)
	}
	return manifests, nil
}

// compare returns those manifests that describe one of the segments, and the segments
// that none describes and that may have rows.
func (t *Tables) compare(name schemas.ParquetTable, manifests []manifestFile, segments []Segment) (kept []manifestFile, missing []Segment) {
	wanted := make(map[string]bool, len(segments))
	for _, s := range segments {
		wanted[segmentName(s)] = true
	}
	there := make(map[string]bool, len(manifests))
	for _, m := range manifests {
		described := describedBy(m.Path)
		if wanted[described] && !there[described] {
			kept = append(kept, m)
			there[described] = true
		}
	}
	for _, s := range segments {
		if !there[segmentName(s)] && !t.isEmpty(name, s) {
			missing = append(missing, s)
		}
	}
	return kept, missing
}

// segmentsPerQuestion is how many segments the catalog is asked about at once.
const segmentsPerQuestion = 64

// writeManifests stores the manifests of some segments and returns how the next snapshot
// lists them.
func (t *Tables) writeManifests(ctx context.Context, v *version, segments []Segment) (fresh []manifestFile, err error) {
	for page := range slices.Chunk(segments, segmentsPerQuestion) {
		files, err := t.cfg.Catalog.Files(ctx, v.name, page)
		if err != nil {
			return nil, err
		}
		for i, s := range page {
			if len(files[i]) == 0 {
				t.setEmpty(v.name, s)
				continue
			}
			m, err := t.writeManifest(ctx, v, s, files[i])
			if err != nil {
				return nil, fmt.Errorf("describing segment %s: %w", s.Ref, err)
			}
			fresh = append(fresh, m)
		}
	}
	return fresh, nil
}

func (t *Tables) writeManifest(ctx context.Context, v *version, s Segment, files []File) (manifestFile, error) {
	data, err := encodeManifest(v.name, *v.schema(), s.Ref, files, t.cfg.Objects.URL)
	if err != nil {
		return manifestFile{}, err
	}
	sequence := v.LastSequenceNumber + 1
	path, err := t.put(ctx, v.name, manifestName(sequence, s, data), data)
	return newManifestFile(path, len(data), s.Ref.MigrationID, sequence, files), err
}

// addSnapshot gives a version the snapshot that has the kept and the fresh manifests.
func (t *Tables) addSnapshot(ctx context.Context, v *version, before, kept, fresh []manifestFile) error {
	manifests := slices.Concat(kept, fresh)
	snap := snapshot{
		SequenceNumber: v.LastSequenceNumber + 1, Timestamp: v.LastUpdated, Parent: v.CurrentSnapshotID,
		SchemaID: v.CurrentSchemaID, Summary: summary(before, kept, fresh),
	}
	snap.ID = v.snapshotID(snap.SequenceNumber, manifests)
	for i := len(kept); i < len(manifests); i++ {
		manifests[i].SnapshotID = snap.ID
	}
	data, err := encodeManifestList(snap, manifests)
	if err != nil {
		return fmt.Errorf("encoding a manifest list: %w", err)
	}
	if snap.ManifestList, err = t.put(ctx, v.name, listName(snap.SequenceNumber, snap.ID), data); err != nil {
		return err
	}
	v.add(snap, t.cfg.Snapshots, len(kept) < len(before))
	return nil
}

// summary says what a snapshot changed and how large the table is.
func summary(before, kept, fresh []manifestFile) map[string]string {
	oldFiles, oldRows := totals(before)
	keptFiles, keptRows := totals(kept)
	newFiles, newRows := totals(fresh)
	operation := "overwrite"
	switch {
	case len(kept) == len(before):
		operation = "append"
	case len(fresh) == 0:
		operation = "delete"
	}
	return map[string]string{
		"operation":        operation,
		"added-data-files": fmt.Sprint(newFiles), "added-records": fmt.Sprint(newRows),
		"deleted-data-files": fmt.Sprint(oldFiles - keptFiles), "deleted-records": fmt.Sprint(oldRows - keptRows),
		"total-data-files": fmt.Sprint(keptFiles + newFiles), "total-records": fmt.Sprint(keptRows + newRows),
		"total-delete-files": "0", "total-position-deletes": "0", "total-equality-deletes": "0",
	}
}

// put stores a manifest or manifest list under a name that follows from its content, and
// returns its URL. That it is there already is fine.
func (t *Tables) put(ctx context.Context, name schemas.ParquetTable, file string, data []byte) (string, error) {
	key := schemas.IcebergFileKey(t.cfg.Stream, name, file)
	err := t.cfg.Objects.PutIfAbsent(ctx, key, bytes.NewReader(data), int64(len(data)), sha256.Sum256(data), avroType)
	if errors.Is(err, bucket.ErrExists) {
		err = nil
	}
	return t.cfg.Objects.URL(key), err
}
