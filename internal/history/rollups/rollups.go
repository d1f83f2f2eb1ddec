// Package rollups has the tables that sum history up by hours, as queries over the tables of history, for those
// who write them, read them and check them.
//
// Hours are of UTC, their start exclusive and their end inclusive as segments are; column hour is the start. A row
// is of one migration: where record time falls back with a new one, an hour has rows of both.
package rollups

import (
	_ "embed"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Table is one of the tables.
type Table struct {
	Name string
	// Key are the columns by which its rows are ordered, behind the stream.
	Key string
	// Rows is the query for the rows of the hours of a range, see Range.
	Rows string
}

var (
	//go:embed sql/movement_hours.sql
	movementHours string
	//go:embed sql/balance_hours.sql
	balanceHours string
	//go:embed sql/network_hours.sql
	networkHours string
	//go:embed sql/party_hours.sql
	partyHours string
)

// The tables.
var (
	MovementHours = Table{"movement_hours", "migration_id, hour, round, instrument, pocket, cause, class, purpose", movementHours}
	BalanceHours  = Table{"balance_hours", "party, instrument, migration_id, hour", balanceHours}
	NetworkHours  = Table{"network_hours", "migration_id, hour", networkHours}
	PartyHours    = Table{"party_hours", "migration_id, hour, party", partyHours}
)

// Tables are those of a stream: of public history all, of its late verdicts those that count verdicts.
func Tables(stream string) []Table {
	if stream == schemas.ScanStream {
		return []Table{MovementHours, BalanceHours, NetworkHours, PartyHours}
	}
	return []Table{NetworkHours, PartyHours}
}

// Hour is the length of an hour.
const Hour = schemas.Micros(3600 * 1e6)

// Begins is the start of the hour that a record time lies in.
func Begins(t schemas.Micros) schemas.Micros {
	start := (t - 1) / Hour * Hour
	if t-1 < start {
		start -= Hour
	}
	return start
}

// Range is some of the history of a stream, within one migration; First and Last are inclusive.
type Range struct {
	Stream      string
	Migration   int64
	First, Last schemas.Micros
}

// Between is the range after a position and up to another one of its migration, or the next with history.
func Between(stream string, after, through schemas.Position) Range {
	r := Range{Stream: stream, Migration: through.MigrationID, First: store.BeforeHistory, Last: store.Clamp(through.RecordTime)}
	if after.MigrationID == through.MigrationID {
		r.First = store.Clamp(after.RecordTime + 1)
	}
	return r
}

// Params are the parameters of the queries for a range, but for those of a cluster.
func (r Range) Params() store.Params {
	return store.Params{
		"stream": store.Text(r.Stream), "public": store.Text(schemas.ScanStream), "migration": store.Int(r.Migration),
		"first_time": store.Time(r.First), "last_time": store.Time(r.Last),
	}
}
