package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Prove looks an update up and makes the proof that it is in its segment, by reading the
// segment's updates as a whole. Objects that do not give the manifest's root are an error.
func (a *Archive) Prove(ctx context.Context, updateID string) (*schemas.SegmentProof, error) {
	found, err := a.Update(ctx, updateID)
	if err != nil {
		return nil, err
	}
	for _, s := range a.segments {
		if s.Ref() != found.Segment {
			continue
		}
		p, err := a.prove(ctx, s.Manifest, updateID, sha256.Sum256(found.Update))
		if err != nil {
			return nil, fmt.Errorf("proving that segment %s has update %s: %w", found.Segment, updateID, err)
		}
		return p, a.chainProof(ctx, p)
	}
	return nil, fmt.Errorf("segment %s of update %s is not in the archive: %w", found.Segment, updateID, schemas.ErrNotFound)
}

func (a *Archive) prove(ctx context.Context, m *published.Manifest, updateID string, row schemas.Hash) (*schemas.SegmentProof, error) {
	table := m.Table(schemas.ParquetUpdates)
	if m.Ref().IsImports() {
		table = m.Table(schemas.ParquetImports)
	}
	var path schemas.MerklePath
	var line []byte
	err := EachUpdate(ctx, a.parts(), m, func(u *schemas.Update) error {
		line = AppendLine(line[:0], u)
		path.Add(u.UpdateID, sha256.Sum256(line), u.UpdateID == updateID)
		return nil
	})
	if err != nil {
		return nil, err
	}
	root, ok := path.Finish()
	if !ok || hex.EncodeToString(root[:]) != table.Root {
		return nil, published.Mismatchf("its updates have the Merkle root %x, the manifest says %s; update among them: %v", root, table.Root, ok)
	}
	tables, err := m.TableHashes()
	if err != nil {
		return nil, err
	}
	p := &schemas.SegmentProof{
		Segment: m.Ref(), Table: table.Name, ID: updateID, Row: row, Index: path.Index, Rows: path.Rows(),
		Siblings: path.Siblings, Tables: tables, Root: schemas.SegmentRoot(m.Ref(), tables),
	}
	return p, p.Check()
}

// chainProof adds the link, if the segment has one yet.
func (a *Archive) chainProof(ctx context.Context, p *schemas.SegmentProof) error {
	link, err := ReadLink(ctx, a.cfg.Objects, p.Segment)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if p.Previous, err = schemas.ParseHash(link.Previous); err != nil {
		return err
	}
	p.Link, err = schemas.ParseHash(link.Link)
	p.Chained = true
	return errors.Join(err, p.Check())
}
