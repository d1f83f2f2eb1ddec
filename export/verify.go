package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/ledgerlake/ledgerlake/export/archive"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Verification is what reading back all published objects has shown.
type Verification struct {
	// Digests are over the rows found, by table name, over all segments. A table of
	// which a part could not be read is missing rows here and has a finding.
	Digests map[string]schemas.Digest
	// Segments are the same by segment.
	Segments map[schemas.SegmentRef]map[string]schemas.Digest
	// ObjectsChecked counts objects that were fetched and have the right bytes; BytesChecked is
	// their size.
	ObjectsChecked, BytesChecked int64
	// Folders counts what is published in the network's layout: kinds of objects by folder.
	Folders int
	// Findings say what is missing or wrong, one sentence each. None means that all
	// published objects are there and hold exactly the rows that were exported.
	Findings []string
}

// Progress says how far a verification has come, in objects and bytes.
type Progress struct {
	Objects, TotalObjects int64
	Bytes, TotalBytes     int64
}

// VerifyObjects reads back every published object: it checks size, SHA-256, number of
// rows and order, rebuilds the updates, events, contracts and verdicts from the rows and
// compares their digests with the manifests, those of derived tables with what describes them. Of objects in the network's layout it checks
// size, SHA-256 and lines, of Iceberg tables that they name just what is published. Segments
// are read side by side, as many as there are workers. progress is called after each object, one call at a time, and may
// be nil. What is wrong with objects is in the findings; an error means that the
// verification could not be done.
func (e *Exporter) VerifyObjects(ctx context.Context, progress func(Progress)) (*Verification, error) {
	rows, err := e.catalog.PublishedSegments(ctx, schemas.MinMicros, schemas.MaxMicros)
	if err != nil {
		return nil, err
	}
	folders, err := e.catalog.PublishedFolders(ctx)
	if err != nil {
		return nil, err
	}
	meter := &progressMeter{report: progress}
	for i := range folders {
		meter.now.TotalObjects += folders[i].Count
		meter.now.TotalBytes += folders[i].Bytes
	}
	for i := range rows {
		meter.now.TotalObjects += rows[i].Objects
		meter.now.TotalBytes += rows[i].Bytes
		if err := meter.expectBeside(&rows[i]); err != nil {
			return nil, err
		}
	}
	segments := make([]segmentResult, len(rows))
	running, groupCtx := guard.WithContext(ctx)
	running.SetLimit(e.cfg.Workers)
	for i := range rows {
		running.Go(func() (err error) {
			if segments[i], err = e.verifySegment(groupCtx, &rows[i], meter); err != nil {
				return fmt.Errorf("verifying segment %s: %w", rows[i].Ref(), err)
			}
			return nil
		})
	}
	findings := make([][]string, len(folders))
	for i := range folders {
		running.Go(func() (err error) {
			if findings[i], err = e.network.Verify(groupCtx, &folders[i], meter.object); err != nil {
				return fmt.Errorf("verifying %s: %w", folders[i].Ref(), err)
			}
			return nil
		})
	}
	if err := running.Wait(); err != nil {
		return nil, err
	}
	v := summarize(segments, meter.now)
	v.Folders, v.Findings = len(folders), append(v.Findings, slices.Concat(findings...)...)
	var m published.Mismatch
	if err := e.verifyChain(ctx); errors.As(err, &m) {
		v.Findings = append(v.Findings, "the chain: "+err.Error())
	} else if err != nil {
		return nil, fmt.Errorf("verifying the chain: %w", err)
	}
	wrong, err := e.tables.Check(ctx)
	v.Findings = append(v.Findings, wrong...)
	return v, err
}

// segmentResult is what the objects of one segment have shown.
type segmentResult struct {
	ref      schemas.SegmentRef
	digests  map[string]schemas.Digest
	findings []string
}

func summarize(segments []segmentResult, done Progress) *Verification {
	v := &Verification{
		Digests:        make(map[string]schemas.Digest),
		Segments:       make(map[schemas.SegmentRef]map[string]schemas.Digest, len(segments)),
		ObjectsChecked: done.Objects, BytesChecked: done.Bytes,
	}
	for _, s := range segments {
		v.Segments[s.ref] = s.digests
		v.Findings = append(v.Findings, s.findings...)
		for table, digest := range s.digests {
			total := v.Digests[table]
			total.Merge(digest)
			v.Digests[table] = total
		}
	}
	return v
}

// progressMeter counts objects that were fetched and found right.
type progressMeter struct {
	report func(Progress)
	mu     sync.Mutex
	now    Progress
}

// expectBeside adds the lookup objects and derived tables of a segment to what is to be read.
func (p *progressMeter) expectBeside(row *store.SegmentRow) error {
	x, err := published.LookupIndexOf(row)
	if err != nil {
		return err
	}
	d, err := published.DerivedOf(row)
	if err != nil {
		return err
	}
	var parts []published.Part
	if x != nil {
		for _, p := range x.Parts {
			parts = append(parts, p.Part)
		}
	}
	if d != nil {
		parts = append(parts, d.AllParts()...)
	}
	for _, part := range parts {
		p.now.TotalObjects++
		p.now.TotalBytes += part.Bytes
	}
	return nil
}

func (p *progressMeter) object(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Objects++
	p.now.Bytes += bytes
	if p.report != nil {
		p.report(p.now)
	}
}

func (e *Exporter) verifySegment(ctx context.Context, row *store.SegmentRow, meter *progressMeter) (segmentResult, error) {
	r := segmentResult{ref: row.Ref()}
	m, err := published.DecodeManifest([]byte(row.Manifest))
	if err != nil {
		return r, err
	}
	if err := r.note(e.verifyObject(ctx, row.ManifestKey, row.ManifestHash)); err != nil {
		return r, err
	}
	var beside archive.Beside
	beside.Lookups, err = e.verifyLookupIndex(ctx, row, m)
	if err := r.note(err); err != nil {
		return r, err
	}
	beside.Derived, err = e.verifyDerived(ctx, row, m)
	if err := r.note(err); err != nil {
		return r, err
	}
	digests, findings, err := archive.CheckSegment(ctx, e.parts(), m, beside, meter.object)
	if err != nil {
		return r, err
	}
	r.digests, r.findings = digests, append(r.findings, findings...)
	if err := m.Check(); err != nil || m.Root != row.Root {
		r.findings = append(r.findings, fmt.Sprintf("the manifest of segment %s is inconsistent, or its root is not %s: %v", r.ref, row.Root, err))
	}
	return r, nil
}

// note keeps a mismatch as a finding and returns any other error.
func (r *segmentResult) note(err error) error {
	var m published.Mismatch
	if !errors.As(err, &m) {
		return err
	}
	r.findings = append(r.findings, err.Error())
	return nil
}

// verifyDerived compares what describes derived tables with what is in the bucket, and returns it;
// nil if there is none.
func (e *Exporter) verifyDerived(ctx context.Context, row *store.SegmentRow, m *published.Manifest) (*published.Derived, error) {
	d, err := published.DerivedOf(row)
	if d == nil || err != nil {
		return nil, err
	}
	if err := d.Check(m); err != nil {
		return nil, published.AsMismatch(err)
	}
	return d, e.verifyObject(ctx, schemas.DerivedKey(row.Ref()), row.DerivedHash)
}

// verifyObject compares a description in the bucket with the one in the catalog.
func (e *Exporter) verifyObject(ctx context.Context, key, want string) error {
	body, err := e.cfg.Objects.Get(ctx, key, 0, -1)
	if errors.Is(err, bucket.ErrNotFound) {
		return published.Mismatchf("%s is missing", key)
	}
	if err != nil {
		return err
	}
	hash := sha256.New()
	_, err = io.Copy(hash, body)
	err = errors.Join(err, body.Close())
	if errors.Is(err, bucket.ErrChecksum) {
		return published.AsMismatch(err)
	}
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		return published.Mismatchf("%s has SHA-256 %s, the catalog says %s", key, got, want)
	}
	return nil
}

// verifyLookupIndex compares the lookup index in the bucket with the one in the catalog, and
// returns it; nil if there is none.
func (e *Exporter) verifyLookupIndex(ctx context.Context, row *store.SegmentRow, m *published.Manifest) (*published.LookupIndex, error) {
	if row.LookupIndex == "" {
		return nil, nil
	}
	x, data, err := archive.ReadLookupIndex(ctx, e.cfg.Objects, m)
	switch {
	case err != nil:
		return nil, err
	case x == nil:
		return nil, published.Mismatchf("%s is missing", schemas.LookupIndexKey(m.Ref()))
	case string(data) != row.LookupIndex:
		return nil, published.Mismatchf("%s differs from the one in the catalog", schemas.LookupIndexKey(m.Ref()))
	}
	return x, nil
}
