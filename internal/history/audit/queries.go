package audit

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/lifetime_sums.sql
	lifetimeSumsQuery string
	//go:embed sql/lifetime_rows.sql
	lifetimeRowsQuery string
	//go:embed sql/carried_origins.sql
	carriedOriginsQuery string
	//go:embed sql/wrong_ended.sql
	wrongEndedQuery string
	//go:embed sql/wrong_places.sql
	wrongPlacesQuery string
)

// LifetimeBuckets is into how many parts contracts are divided, by their id, so that
// lifetimes can be compared part by part.
const LifetimeBuckets = 4096

// LifetimeBucket is the part that the contract with that hash belongs to.
func LifetimeBucket(contract uint64) int { return int(contract % LifetimeBuckets) }

// LifetimeHash is the hash of a contract's id.
func LifetimeHash(contractID string) uint64 { return xxh3.HashString(contractID) }

// LifetimeSum sums up lifetimes whatever their order: it counts them, and adds up their
// BeginHash and EndHash modulo 2^64.
type LifetimeSum struct {
	Begins, BeginHash uint64
	Ends, EndHash     uint64
}

// CreateKey tells what a contract is created with from all else.
type CreateKey = store.CreateKey

// BeginHash is the hash of the lifetime that a created event of u begins: of the event with
// where and when. contract is the LifetimeHash of its id. Of a contract that was carried over
// neither the time nor the update counts.
func BeginHash(contract uint64, u *schemas.Update, e *schemas.Event, key *CreateKey) uint64 {
	at, createdIn := u.RecordTime, u.UpdateID
	if u.IsImport() {
		at, createdIn = store.BeforeHistory, ""
	}
	var template [128]byte
	return store.Fold(contract, uint64(u.MigrationID), uint64(at), uint64(offsetOf(u)),
		xxh3.HashString(createdIn), xxh3.HashString(u.SynchronizerID), xxh3.HashString(string(u.Encoding)),
		xxh3.Hash(schemas.AppendTemplateName(template[:0], e.PackageName, e.TemplateID)), xxh3.HashString(e.TemplateID), xxh3.HashString(e.PackageName),
		key.Shape, key.Scalars, key.Rest)
}

// EndHash is the hash of the end of a contract's lifetime in u.
func EndHash(contract uint64, u *schemas.Update) uint64 {
	return store.Fold(contract, uint64(u.MigrationID), uint64(u.RecordTime), uint64(offsetOf(u)))
}

// offsetOf is 0 in public history.
func offsetOf(u *schemas.Update) int64 {
	if u.Local == nil {
		return 0
	}
	return u.Local.Offset
}

// Queries ask the store what only checking it needs.
type Queries struct {
	conn   driver.Conn
	stream string
}

// NewQueries returns those about a stream. The connection stays the caller's.
func NewQueries(conn driver.Conn, stream string) *Queries {
	return &Queries{conn: conn, stream: stream}
}

func (q *Queries) parameters(more clickhouse.Parameters) clickhouse.Parameters {
	p := clickhouse.Parameters{"stream": store.Text(q.stream), "buckets": strconv.Itoa(LifetimeBuckets)}
	for name, value := range more {
		p[name] = value
	}
	return p
}

// query calls each for every row of a result.
func (q *Queries) query(ctx context.Context, query string, more clickhouse.Parameters, each func(driver.Rows) error) (err error) {
	ctx = clickhouse.Context(ctx, clickhouse.WithParameters(q.parameters(more)))
	rows, err := q.conn.Query(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// LifetimeSums sums up the tables of lifetimes by LifetimeBucket. A lifetime that
// housekeeping is moving, and which stands in both tables, counts once. backwards counts
// lifetimes that end before they begin.
func (q *Queries) LifetimeSums(ctx context.Context) (sums []LifetimeSum, backwards uint64, err error) {
	sums = make([]LifetimeSum, LifetimeBuckets)
	err = q.query(ctx, lifetimeSumsQuery, nil, func(rows driver.Rows) error {
		var bucket, wrong uint64
		var s LifetimeSum
		if err := rows.Scan(&bucket, &s.Begins, &s.BeginHash, &s.Ends, &s.EndHash, &wrong); err != nil {
			return err
		}
		sums[bucket] = s
		backwards += wrong
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("summing up lifetimes: %w", err)
	}
	return sums, backwards, nil
}

// LifetimeStep is one line of a contract's life in a migration: a begin or an end as the
// events tell it, or a lifetime as the tables have it.
type LifetimeStep struct {
	MigrationID int64
	ContractID  string
	// Derived tells a row of the tables of lifetimes, which has both begin and end, from
	// what the events say, which is one of the two.
	Derived bool
	// Begin and End are record times: Begin is store.BeforeHistory for a contract that was
	// carried over, End store.NeverArchived when there is none. Of an event, the one that it
	// is not is 0.
	Begin, End schemas.Micros
	// BeginOffset and EndOffset are the same by offset of a node's own stream, whose order
	// is that of offsets alone; an end that has not come has 0. In public history both are 0.
	BeginOffset, EndOffset int64
	// Hash is that of where, when and with what it began, 0 of an end.
	Hash uint64
	// Template is that of the contract, PACKAGE_NAME:MODULE:ENTITY; empty for what is derived,
	// carried over or unassigned.
	Template string
}

// LifetimeSteps gives all steps of the contracts in the given buckets, contract by
// contract within a migration: first those of the events, in the order of history, then
// those of the tables.
func (q *Queries) LifetimeSteps(ctx context.Context, buckets []int, through schemas.Position, each func(LifetimeStep) error) error {
	list := make([]string, len(buckets))
	for i, b := range buckets {
		list[i] = strconv.Itoa(b)
	}
	err := q.query(ctx, lifetimeRowsQuery, q.through(through, clickhouse.Parameters{"only": "[" + strings.Join(list, ",") + "]"}), func(rows driver.Rows) error {
		var s LifetimeStep
		var derived uint8
		var begin, end int64
		if err := rows.Scan(&s.MigrationID, &s.ContractID, &derived, &begin, &end, &s.BeginOffset, &s.EndOffset, &s.Hash, &s.Template); err != nil {
			return err
		}
		s.Derived, s.Begin, s.End = derived == 1, schemas.Micros(begin), schemas.Micros(end)
		return each(s)
	})
	if err != nil {
		return fmt.Errorf("reading the lifetimes of %d of %d parts: %w", len(buckets), LifetimeBuckets, err)
	}
	return nil
}

// Origin is a contract that was carried over into a migration, with the update that
// created it: as its lifetime says, and as those of earlier migrations say.
type Origin struct {
	MigrationID          int64
	ContractID           string
	CreatedIn, Elsewhere string
}

// WrongOrigins gives contracts that were carried over and whose lifetime names another
// creating update than those in earlier migrations do, one portion of all contracts at a
// time: portion counts from 0.
func (q *Queries) WrongOrigins(ctx context.Context, portion, portions int, each func(Origin) error) error {
	err := q.query(ctx, carriedOriginsQuery, clickhouse.Parameters{
		"portion": strconv.Itoa(portion), "portions": strconv.Itoa(portions),
	}, func(rows driver.Rows) error {
		var o Origin
		if err := rows.Scan(&o.MigrationID, &o.ContractID, &o.CreatedIn, &o.Elsewhere); err != nil {
			return err
		}
		return each(o)
	})
	if err != nil {
		return fmt.Errorf("reading where contracts that were carried over come from: %w", err)
	}
	return nil
}

// WrongEnd is the end of a contract of a node's own stream of which lifetimes and the table of
// ended contracts say different things: how many each of them has, and if as many, with other
// stakeholders or another template.
type WrongEnd struct {
	Offset           int64
	Lifetimes, Ended uint64
}

// WrongEnds gives such ends, one portion of all contracts at a time: portion counts from 0.
func (q *Queries) WrongEnds(ctx context.Context, portion, portions int, each func(WrongEnd) error) error {
	err := q.query(ctx, wrongEndedQuery, clickhouse.Parameters{
		"portion": strconv.Itoa(portion), "portions": strconv.Itoa(portions),
	}, func(rows driver.Rows) error {
		var e WrongEnd
		var contract uint64
		if err := rows.Scan(&e.Offset, &contract, &e.Lifetimes, &e.Ended); err != nil {
			return err
		}
		return each(e)
	})
	if err != nil {
		return fmt.Errorf("comparing lifetimes with the contracts that ended: %w", err)
	}
	return nil
}

// WrongPlaces are places of one kind in an hour of record time of which there are others than the
// events, updates and verdicts there call for: more, fewer, or as many that lead elsewhere.
type WrongPlaces struct {
	Kind            string
	MigrationID     int64
	From            schemas.Micros // the hour
	Expected, Found uint64
}

// WrongPlaces gives such places up to a position.
func (q *Queries) WrongPlaces(ctx context.Context, mark schemas.Position, each func(WrongPlaces) error) error {
	err := q.query(ctx, wrongPlacesQuery, q.through(mark, nil), func(rows driver.Rows) error {
		var p WrongPlaces
		var from int64
		if err := rows.Scan(&p.Kind, &p.MigrationID, &from, &p.Expected, &p.Found); err != nil {
			return err
		}
		p.From = schemas.Micros(from)
		return each(p)
	})
	if err != nil {
		return fmt.Errorf("comparing places with what stands there: %w", err)
	}
	return nil
}

// through are the parameters of a query about what is not above a position.
func (q *Queries) through(to schemas.Position, more clickhouse.Parameters) clickhouse.Parameters {
	params := clickhouse.Parameters(Above(q.stream, to))
	maps.Copy(params, more)
	return params
}

// Ends of a lifetime that are no record time.
const (
	// BeforeHistory is the begin of a contract that was carried over into a migration.
	BeforeHistory = store.BeforeHistory
	// NeverArchived is the end of one that is active.
	NeverArchived = store.NeverArchived
)
