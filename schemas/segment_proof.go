package schemas

import (
	"errors"
	"fmt"
	"slices"
)

// ErrProof means that a proof does not prove what it says.
var ErrProof = errors.New("the proof does not hold")

// SegmentProof proves that a row is in a segment, and where the segment stands in the
// chain. What is proven is between ID, Row and Root, and between Previous, Root and
// Link; whether Root or Link is the right one, the reader has to know from elsewhere.
type SegmentProof struct {
	Segment SegmentRef
	// Table is that of the row: ParquetUpdates or ParquetImports.
	Table ParquetTable
	// ID is the row's update id, Row the SHA-256 of its canonical JSON.
	ID  string
	Row Hash
	// Index is the row's place among the Rows of the table, from 0. Siblings are the
	// hashes beside its way to the table's root, from below.
	Index, Rows uint64
	Siblings    []Hash
	// Tables are the TableHashes of all tables of the segment.
	Tables []Hash
	// Root is the segment's, Previous the link before and Link its own.
	Root           Hash
	Previous, Link Hash
	// Chained says that Previous and Link are known.
	Chained bool
}

// Check returns an error that wraps ErrProof unless the proof holds.
func (p *SegmentProof) Check() error {
	root, err := MerkleRoot(p.ID, p.Row, p.Index, p.Rows, p.Siblings)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrProof, err)
	}
	names := p.Segment.Tables()
	at := slices.Index(names, p.Table)
	switch {
	case p.Segment.Check() != nil || at < 0 || len(p.Tables) != len(names):
		return fmt.Errorf("%w: segment %s does not have table %s among %d", ErrProof, p.Segment, p.Table, len(p.Tables))
	case TableHash(p.Table, p.Rows, root) != p.Tables[at]:
		return fmt.Errorf("%w: the row is not in table %s", ErrProof, p.Table)
	case SegmentRoot(p.Segment, p.Tables) != p.Root:
		return fmt.Errorf("%w: the tables do not belong to segment %s", ErrProof, p.Segment)
	case p.Chained && ChainLink(p.Previous, p.Root) != p.Link:
		return fmt.Errorf("%w: the link does not follow from the previous one", ErrProof)
	}
	return nil
}
