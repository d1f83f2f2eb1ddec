package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Verification is what reading back all published objects has shown.
type Verification struct {
	// Digests are over the rows found, by table name, over all segments. A table of
	// which a part could not be read is missing rows here and has a finding.
	Digests map[string]schemas.Digest
	// Segments are the same by segment.
	Segments map[schemas.SegmentRef]map[string]schemas.Digest
	// ObjectsChecked counts objects that were fetched and have the right bytes, and
	// ManifestsChecked the manifests; BytesChecked is the size of the objects.
	ObjectsChecked, ManifestsChecked, BytesChecked int64
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
// compares their digests with the manifests. progress is called after each object and
// may be nil. What is wrong with objects is in the findings; an error means that the
// verification could not be done.
func (e *Exporter) VerifyObjects(ctx context.Context, progress func(Progress)) (*Verification, error) {
	rows, err := e.catalog.between(ctx, schemas.MinMicros-1, schemas.MaxMicros)
	if err != nil {
		return nil, err
	}
	v := &Verification{
		Digests:  make(map[string]schemas.Digest),
		Segments: make(map[schemas.SegmentRef]map[string]schemas.Digest, len(rows)),
	}
	meter := &progressMeter{report: progress}
	for i := range rows {
		meter.now.TotalObjects += rows[i].Objects
		meter.now.TotalBytes += rows[i].Bytes
	}
	for i := range rows {
		if err := e.verifySegment(ctx, &rows[i], v, meter); err != nil {
			return nil, fmt.Errorf("verifying segment %s: %w", rows[i].ref(), err)
		}
	}
	v.ObjectsChecked, v.BytesChecked = meter.now.Objects, meter.now.Bytes
	return v, nil
}

// progressMeter counts objects that were fetched and found right.
type progressMeter struct {
	report func(Progress)
	now    Progress
}

func (p *progressMeter) object(part Part) {
	p.now.Objects++
	p.now.Bytes += part.Bytes
	if p.report != nil {
		p.report(p.now)
	}
}

func (e *Exporter) verifySegment(ctx context.Context, row *segmentRow, v *Verification, meter *progressMeter) error {
	m, err := decodeManifest([]byte(row.Manifest))
	if err != nil {
		return err
	}
	found := make(map[string]schemas.Digest)
	v.Segments[m.Ref()] = found
	if err := v.note(e.verifyManifest(ctx, row, v)); err != nil {
		return err
	}
	check := segmentCheck{exporter: e, manifest: m, meter: meter, digests: make(map[schemas.ParquetTable]*digester)}
	for _, verify := range check.groups() {
		if err := v.note(verify(ctx)); err != nil {
			return err
		}
	}
	for _, t := range m.Tables {
		got := check.digest(t.Name).sum
		found[string(t.Name)] = got
		total := v.Digests[string(t.Name)]
		total.Merge(got)
		v.Digests[string(t.Name)] = total
		if got != t.Digest {
			v.Findings = append(v.Findings, fmt.Sprintf("table %s of segment %s holds %s, its manifest says %s", t.Name, m.Ref(), got, t.Digest))
		}
	}
	return nil
}

// note keeps a mismatch as a finding and returns any other error.
func (v *Verification) note(err error) error {
	var m mismatch
	if !errors.As(err, &m) {
		return err
	}
	v.Findings = append(v.Findings, err.Error())
	return nil
}

// verifyManifest compares the manifest in the bucket with the one in the catalog.
func (e *Exporter) verifyManifest(ctx context.Context, row *segmentRow, v *Verification) error {
	body, err := e.cfg.Objects.Get(ctx, row.ManifestKey, 0, -1)
	if errors.Is(err, bucket.ErrNotFound) {
		return mismatchf("%s is missing", row.ManifestKey)
	}
	if err != nil {
		return err
	}
	hash := sha256.New()
	_, err = io.Copy(hash, body)
	err = errors.Join(err, body.Close())
	if errors.Is(err, bucket.ErrChecksum) {
		return mismatch{err}
	}
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != row.ManifestHash {
		return mismatchf("%s has SHA-256 %s, the catalog says %s", row.ManifestKey, got, row.ManifestHash)
	}
	v.ManifestsChecked++
	return nil
}
