package published

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Derived describes the objects of tables that are derived from a segment's history. It is stored
// beside them and is not part of the manifest: the rules by which rows are derived change with the
// version of the program, and manifests are the same everywhere and for ever.
type Derived struct {
	FormatVersion string             `json:"format_version"`
	Segment       schemas.SegmentRef `json:"segment"`
	// Root is that of the segment's manifest: the rows were derived beside no other.
	Root string `json:"root"`
	// Tables are those of SegmentRef.DerivedTables, also the empty ones.
	Tables []Table `json:"tables"`
}

// Encode returns the bytes that are published.
func (d *Derived) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the derived tables of %s: %w", d.Segment, err)
	}
	return append(data, '\n'), nil
}

// DecodeDerived returns what Encode wrote.
func DecodeDerived(data []byte) (*Derived, error) {
	var d Derived
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("decoding a description of derived tables: %w", err)
	}
	if d.FormatVersion != schemas.ParquetVersion {
		return nil, fmt.Errorf("the derived tables of %s have format version %q, this program reads %q", d.Segment, d.FormatVersion, schemas.ParquetVersion)
	}
	return &d, nil
}

// Check makes sure that the description is that of a segment and that its parts fit.
func (d *Derived) Check(m *Manifest) error {
	if d.Segment != m.Ref() || d.Root != m.Root {
		return fmt.Errorf("the derived tables are of segment %s with root %s, not of %s with %s", d.Segment, d.Root, m.Ref(), m.Root)
	}
	return checkTables(d.Segment, d.Tables, d.Segment.DerivedTables())
}

// Table returns the table of a name, an empty one if it is not derived.
func (d *Derived) Table(name schemas.ParquetTable) Table { return TableOf(d.Tables, name) }

// AllParts lists the objects of all tables.
func (d *Derived) AllParts() []Part { return allParts(d.Tables) }

// DerivedOf returns the description that the row holds, or nil if the segment has no derived
// tables.
func DerivedOf(r *store.SegmentRow) (*Derived, error) {
	if r.Derived == "" {
		return nil, nil
	}
	return DecodeDerived([]byte(r.Derived))
}

// Enter enters the description into a version of its segment.
func (d *Derived) Enter(r *store.SegmentRow) error {
	data, err := d.Encode()
	sum := sha256.Sum256(data)
	r.Derived, r.DerivedHash = string(data), hex.EncodeToString(sum[:])
	return err
}

// ForgetDerived has derived tables written again whose movements are not those that the store has
// now: their segments are due.
func ForgetDerived(ctx context.Context, segments Rows[schemas.SegmentRef, store.SegmentRow], movements map[schemas.SegmentRef]schemas.Digest) error {
	rows, err := whole(ctx, segments, (*store.SegmentRow).Ref, func(r *store.SegmentRow) bool { return r.DerivedHash != "" && r.State == Published })
	if err != nil {
		return err
	}
	for i := range rows {
		d, err := DerivedOf(&rows[i])
		if err != nil {
			return err
		}
		if d.Table(schemas.ParquetMovements).Digest == movements[d.Segment] {
			continue
		}
		rows[i].Derived, rows[i].DerivedHash = "", ""
		rows[i].Version++
		if err := segments.Append(ctx, rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// KeysBeside lists the objects beside those of the segment's manifest: lookup objects and derived
// tables. What describes others comes after them.
func KeysBeside(r *store.SegmentRow) ([]string, error) {
	keys, err := LookupKeys(r)
	if err != nil {
		return nil, err
	}
	d, err := DerivedOf(r)
	if d == nil || err != nil {
		return keys, err
	}
	for _, p := range d.AllParts() {
		keys = append(keys, p.Key)
	}
	return append(keys, schemas.DerivedKey(d.Segment)), nil
}
