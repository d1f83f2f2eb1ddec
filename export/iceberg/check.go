package iceberg

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Check holds the current snapshots against the catalog and returns what is wrong, one
// sentence each. That a table lacks a segment which is published is not: the next update
// adds it. It may be run beside updates.
func (t *Tables) Check(ctx context.Context) (findings []string, err error) {
	if t == nil {
		return nil, nil
	}
	for _, name := range names() {
		found, err := t.check(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("checking Iceberg table %s: %w", name, err)
		}
		for _, f := range found {
			findings = append(findings, fmt.Sprintf("Iceberg table %s: %s", name, f))
		}
	}
	return findings, nil
}

// maxChecks is how often a table is looked at that changes meanwhile.
const maxChecks = 5

// check looks again where something is wrong until nothing has changed in between.
func (t *Tables) check(ctx context.Context, name schemas.ParquetTable) (findings []string, err error) {
	before := ""
	for range maxChecks {
		v, err := t.load(ctx, name)
		if err != nil {
			return nil, err
		}
		segments, err := t.segments(ctx, name)
		if err != nil {
			return nil, err
		}
		now := fmt.Sprint(v.version, listing(segments))
		if now == before {
			return findings, nil
		}
		findings, err = t.checkVersion(ctx, v, segments)
		if err == nil && len(findings) == 0 {
			return nil, nil
		}
		if err != nil && !errors.Is(err, ErrChanged) {
			return nil, err
		}
		before = now
	}
	return nil, fmt.Errorf("%w in each of %d attempts", ErrChanged, maxChecks)
}

func (t *Tables) checkVersion(ctx context.Context, v *version, segments []Segment) (findings []string, err error) {
	manifests, err := t.manifests(ctx, v)
	if err != nil {
		return asFinding(err)
	}
	published := make(map[string]Segment, len(segments))
	for _, s := range segments {
		published[s.Ref.String()] = s
	}
	for i := range manifests {
		m, err := t.manifest(ctx, v.name, &manifests[i])
		if err != nil {
			found, err := asFinding(err)
			if err != nil {
				return nil, err
			}
			findings = append(findings, found...)
			continue
		}
		var members []Segment
		for name, content := range m.members {
			s, ok := published[name]
			if !ok || s.Content != content {
				findings = append(findings, fmt.Sprintf("it has segment %s, which is not published in that form", name))
				continue
			}
			delete(published, name)
			members = append(members, s)
		}
		wrong, err := t.checkEntries(ctx, v.name, m, members)
		if err != nil {
			return nil, err
		}
		findings = append(findings, wrong...)
	}
	slices.Sort(findings)
	return findings, nil
}

// asFinding is for errors that are due to what is in the bucket.
func asFinding(err error) ([]string, error) {
	var damaged damagedError
	if errors.Is(err, bucket.ErrNotFound) || errors.Is(err, bucket.ErrChecksum) || errors.As(err, &damaged) {
		return []string{err.Error()}, nil
	}
	return nil, err
}

// checkEntries compares a manifest with the objects of its segments.
func (t *Tables) checkEntries(ctx context.Context, name schemas.ParquetTable, m manifest, members []Segment) (findings []string, err error) {
	for page := range slices.Chunk(members, segmentsPerQuestion) {
		files, err := t.cfg.Catalog.Files(ctx, name, page)
		if err != nil {
			return nil, err
		}
		for _, f := range slices.Concat(files...) {
			url := t.cfg.Objects.URL(f.Key)
			entry, ok := m.entries[url]
			delete(m.entries, url)
			if !ok || entry.DataFile.Rows != f.Rows || entry.DataFile.Bytes != f.Bytes {
				findings = append(findings, fmt.Sprintf("object %s has %d rows in %d bytes, the table says %d rows in %d bytes", f.Key, f.Rows, f.Bytes, entry.DataFile.Rows, entry.DataFile.Bytes))
			}
		}
	}
	for url := range m.entries {
		findings = append(findings, fmt.Sprintf("it has %s, which belongs to none of the segments that it describes", url))
	}
	return findings, nil
}
