package rows

import "github.com/ledgerlake/ledgerlake/schemas"

// Part is what a range of a stream has of one migration.
type Part struct {
	Span
	// Imports says that it begins before or among import updates, History that it ends behind them.
	Imports, History bool
}

// Split splits a range of a stream, after exclusive and through inclusive, by migration. Offsets know
// no migrations: a range of a node's own stream is one part.
func Split(stream string, after, through schemas.Position) []Part {
	first := max(after.MigrationID, 0)
	if through.Offset > 0 {
		first = through.MigrationID
	}
	var parts []Part
	for m := first; m <= through.MigrationID; m++ {
		p := Part{Span: Span{
			Stream:  stream,
			After:   schemas.Position{MigrationID: m, RecordTime: schemas.MinMicros},
			Through: schemas.Position{MigrationID: m, RecordTime: schemas.MaxMicros, UpdateID: schemas.MaxUpdateID},
		}}
		if m == after.MigrationID || through.Offset > 0 {
			p.After = after
		}
		if m == through.MigrationID {
			p.Through = through
		}
		p.Imports, p.History = p.After.RecordTime == schemas.MinMicros, p.Through.RecordTime != schemas.MinMicros
		parts = append(parts, p)
	}
	return parts
}

// LastImport is the update id of the last import of the part.
func (p *Part) LastImport() string {
	if p.History {
		return schemas.MaxUpdateID
	}
	return p.Through.UpdateID
}
