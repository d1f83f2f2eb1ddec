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

// next turns base into the version that follows it and has the given segments. Its manifests
// and manifest list are stored by then.
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
	kept, outdated, missing := t.compare(base.name, before, groupsOf(segments))
	var fresh []manifestFile
	for _, g := range missing {
		m, err := t.writeManifest(ctx, v, g, outdated[g.name])
		if err != nil {
			return nil, fmt.Errorf("describing segments %s: %w", g.name, err)
		}
		if m != nil {
			fresh = append(fresh, *m)
		}
	}
	v.Properties[contentProperty] = fingerprint(segments)
	if len(fresh) == 0 && len(kept) == len(before) {
		return v, nil // nothing but segments without rows came
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
	manifests, _, err := decodeAvro[manifestFile](data)
	if err != nil {
		return nil, damagedError{snap.ManifestList, err}
	}
	return manifests, nil
}

// damagedError means that a manifest or manifest list cannot be decoded.
type damagedError struct {
	path string
	err  error
}

func (e damagedError) Error() string { return fmt.Sprintf("decoding %s: %v", e.path, e.err) }
func (e damagedError) Unwrap() error { return e.err }

// segmentsPerQuestion is how many segments the catalog is asked about at once.
const segmentsPerQuestion = 64

// compare returns those manifests that describe one of the groups as it is, the others by
// the names of their groups, and the groups that have to be described and may have rows.
func (t *Tables) compare(name schemas.ParquetTable, manifests []manifestFile, groups []group) (kept []manifestFile, outdated map[string][]manifestFile, missing []group) {
	wanted := make(map[string]bool, len(groups))
	for _, g := range groups {
		wanted[g.content()] = true
	}
	outdated = make(map[string][]manifestFile)
	for _, m := range manifests {
		of, content := describedBy(m.Path)
		if !wanted[content] {
			outdated[of] = append(outdated[of], m)
			continue
		}
		kept = append(kept, m)
		wanted[content] = false // it is there
	}
	for _, g := range groups {
		empty := func(s Segment) bool { return t.isEmpty(name, s) }
		if wanted[g.content()] && (len(outdated[g.name]) > 0 || !all(g.segments, empty)) {
			missing = append(missing, g)
		}
	}
	return kept, outdated, missing
}

func all(segments []Segment, is func(Segment) bool) bool {
	return !slices.ContainsFunc(segments, func(s Segment) bool { return !is(s) })
}

// writeManifest stores the manifest of a group and returns how the next snapshot lists it,
// nil if none of its segments has rows. What its manifests so far say of segments that are
// as they were is taken over.
func (t *Tables) writeManifest(ctx context.Context, v *version, g group, before []manifestFile) (*manifestFile, error) {
	known := make([]manifest, len(before))
	for i := range before {
		var err error
		if known[i], err = t.manifest(ctx, v.name, &before[i]); err != nil {
			return nil, err
		}
	}
	entries, err := t.entries(ctx, v, g, known)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	data, err := encodeManifest(*v.schema(), g, entries)
	if err != nil {
		return nil, err
	}
	sequence := v.LastSequenceNumber + 1
	url, err := t.put(ctx, v.name, manifestName(sequence, g, data), data)
	if err != nil {
		return nil, err
	}
	m := newManifestFile(url, len(data), g.migrationID(), sequence, entries)
	return &m, nil
}

func (t *Tables) manifest(ctx context.Context, name schemas.ParquetTable, listed *manifestFile) (manifest, error) {
	data, err := t.read(ctx, schemas.IcebergFileKey(t.cfg.Stream, name, path.Base(listed.Path)))
	if err != nil {
		return manifest{}, err
	}
	m, err := decodeManifest(data, listed)
	if err != nil {
		return m, damagedError{listed.Path, err}
	}
	return m, nil
}

// entries are those of a group's objects in the order of their rows.
func (t *Tables) entries(ctx context.Context, v *version, g group, known []manifest) ([]manifestEntry, error) {
	byRef := make(map[schemas.SegmentRef][]manifestEntry, len(g.segments))
	var unknown []Segment
	for _, s := range g.segments {
		of := slices.IndexFunc(known, func(m manifest) bool { return m.members[s.Ref.String()] == s.Content })
		switch {
		case of >= 0:
			byRef[s.Ref] = t.entriesOf(v.name, s.Ref, known[of])
		case !t.isEmpty(v.name, s):
			unknown = append(unknown, s)
		}
	}
	if len(unknown) > 0 {
		files, err := t.cfg.Catalog.Files(ctx, v.name, unknown)
		if err != nil {
			return nil, err
		}
		for i, s := range unknown {
			if len(files[i]) == 0 {
				t.setEmpty(v.name, s)
			}
			for _, f := range files[i] {
				entry, err := newEntry(v.name, *v.schema(), s.Ref, f, t.cfg.Objects.URL(f.Key))
				if err != nil {
					return nil, err
				}
				byRef[s.Ref] = append(byRef[s.Ref], entry)
			}
		}
	}
	var entries []manifestEntry
	for _, s := range g.segments {
		entries = append(entries, byRef[s.Ref]...)
	}
	return entries, nil
}

// entriesOf are those of a segment in a manifest.
func (t *Tables) entriesOf(name schemas.ParquetTable, ref schemas.SegmentRef, in manifest) []manifestEntry {
	var entries []manifestEntry
	for part := 0; ; part++ {
		entry, ok := in.entries[t.cfg.Objects.URL(schemas.ObjectKey(name, ref, part))]
		if !ok {
			return entries
		}
		entries = append(entries, entry)
	}
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
	v.add(snap, t.cfg.Snapshots, snap.Summary["operation"] != "append")
	return nil
}

// summary says what a snapshot changed and how large the table is.
func summary(before, kept, fresh []manifestFile) map[string]string {
	oldFiles, oldRows := totals(before)
	files, rows := totals(slices.Concat(kept, fresh))
	var newFiles, newRows int64
	for _, m := range fresh {
		newFiles += int64(m.AddedFiles)
		newRows += m.AddedRows
	}
	goneFiles, goneRows := oldFiles-(files-newFiles), oldRows-(rows-newRows)
	operation := "append"
	switch {
	case goneFiles > 0 && newFiles > 0:
		operation = "overwrite"
	case goneFiles > 0:
		operation = "delete"
	}
	return map[string]string{
		"operation":        operation,
		"added-data-files": fmt.Sprint(newFiles), "added-records": fmt.Sprint(newRows),
		"deleted-data-files": fmt.Sprint(goneFiles), "deleted-records": fmt.Sprint(goneRows),
		"total-data-files": fmt.Sprint(files), "total-records": fmt.Sprint(rows),
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
