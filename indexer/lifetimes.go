package indexer

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ClickHouse/ch-go"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/lifetime_events_in_range.sql
var lifetimeEventsInRange string

//go:embed sql/lifetime_events_by_offset.sql
var lifetimeEventsByOffset string

//go:embed sql/imported_in_range.sql
var importedInRange string

//go:embed sql/move_ended.sql
var moveEnded string

//go:embed sql/drop_ended.sql
var dropEnded string

// tidyAfter ended lifetimes may wait in the live table; readers filter them out
// at a cost that grows with their number.
const tidyAfter = 300_000

// Lifetimes derives, from the committed rows of one stream, when each contract was
// active. It follows the stream's watermark in ranges of whole batches; each range
// is announced and committed like a batch, and each of its steps can be repeated.
// Only one Lifetimes may work on a stream at a time; those of several streams do so side by side.
type Lifetimes struct {
	db       *store.DB
	stream   string
	follower *journal.Follower
	ended    int    // lifetimes in the live table that have ended, since the last tidy
	scratch  string // table

	// Kept from step to step for their memory.
	events         *store.LifetimeEvents
	live, archived *store.Lifetimes
	begun          []store.Lifetime

	keys lookupKeys
}

// NewLifetimes returns the lifetimes of a stream; pace is the least time from one
// step to the next, 200 ms if zero.
func NewLifetimes(db *store.DB, stream string, pace time.Duration, log *slog.Logger) *Lifetimes {
	pace = cmp.Or(pace, 200*time.Millisecond)
	return &Lifetimes{
		db: db, stream: stream, follower: journal.NewFollower(db, stream, journals.ContractsStream(stream), pace, log),
		events: store.NewLifetimeEvents(), live: store.NewLifetimes(), archived: store.NewLifetimes(),
		keys: lookupKeys{},
	}
}

// Run steps until ctx ends, then returns nil. It returns early only with an error that
// needs a person: what is stored contradicts itself, or the disk is full.
func (l *Lifetimes) Run(ctx context.Context) error { return l.follower.Run(ctx, l.Step) }

// CatchUp steps until the lifetimes have reached the stream's watermark. A failure is
// tried again a few times.
func (l *Lifetimes) CatchUp(ctx context.Context) error { return l.follower.CatchUp(ctx, l.Step) }

// Step takes the next range of committed batches. It returns journal.ErrCaughtUp when the
// lifetimes have reached the watermark.
func (l *Lifetimes) Step(ctx context.Context) error {
	if err := l.begin(ctx); err != nil {
		return err
	}
	earlier := 0
	err := l.follower.Take(ctx, "deriving lifetimes", func(ctx context.Context, row *store.BatchRow) (err error) {
		if earlier, err = l.apply(ctx, *row); err == nil {
			row.Counts = &store.RowCounts{Lifetimes: int64(l.live.Rows() + l.archived.Rows())}
		}
		return err
	})
	if err != nil {
		return err
	}
	if l.ended += earlier; l.ended >= tidyAfter {
		return l.Tidy(ctx)
	}
	return nil
}

// begin takes the journal over, unless that is done, and makes a scratch table.
func (l *Lifetimes) begin(ctx context.Context) error {
	loaded, err := l.follower.Load(ctx)
	if err != nil || !loaded {
		return err
	}
	l.ended = tidyAfter // unknown after a start: tidy soon
	return l.newScratch(ctx)
}

// apply derives the lifetimes of one range, and returns how many contracts of earlier ones
// it ended. The order matters: those ends first, so that they never meet a lifetime that
// begins in this range.
func (l *Lifetimes) apply(ctx context.Context, row store.BatchRow) (ended int, err error) {
	lifetimes, earlier, err := l.read(ctx, row)
	if err != nil {
		return 0, err
	}
	if err := l.endEarlier(ctx, row.Through, earlier); err != nil {
		return 0, err
	}
	if row.Through.Offset > 0 {
		if err := l.keepEnded(ctx, row, lifetimes, earlier); err != nil {
			return 0, err
		}
	}
	store.Reset(l.live)
	store.Reset(l.archived)
	for i := range lifetimes {
		lt := &lifetimes[i]
		lt.LookupKey = l.keys.of(lt)
		switch {
		case lt.ArchivedAt == store.NeverArchived:
			l.live.Append(l.stream, lt)
		case lt.Begun():
			l.archived.Append(l.stream, lt)
		}
	}
	token := fmt.Sprintf("%s/%d/%s/", row.Stream, row.Sequence, row.Hash)
	if err := l.db.Insert(ctx, "contracts_archived", token+"archived", l.archived); err != nil {
		return 0, err
	}
	if err := l.db.Insert(ctx, "contracts_live", token+"live", l.live); err != nil {
		return 0, err
	}
	return len(earlier), nil
}

// read returns the lifetimes that begin in the range, with their ends where those are
// in it too, and the ends of contracts that began before it.
func (l *Lifetimes) read(ctx context.Context, row store.BatchRow) ([]store.Lifetime, []store.End, error) {
	if row.Through.Offset > 0 {
		return l.readNode(ctx, row)
	}
	after := row.After
	if !journal.SameKind(after, row.Through) {
		after = schemas.Position{MigrationID: row.Through.MigrationID, RecordTime: schemas.MinMicros}
	}
	params := store.Params{
		"stream": store.Text(l.stream), "migration": store.Int(row.Through.MigrationID),
		"after_time": store.Time(store.Clamp(after.RecordTime)), "after_id": store.Text(after.UpdateID),
		"through_time": store.Time(store.Clamp(row.Through.RecordTime)), "through_id": store.Text(row.Through.UpdateID),
	}
	if row.Through.RecordTime == schemas.MinMicros {
		carried, err := l.readCarried(ctx, params)
		return carried, nil, err
	}
	pairs := l.newPairing()
	if err := l.pair(ctx, &pairs, lifetimeEventsInRange, params); err != nil {
		return nil, nil, err
	}
	l.begun = pairs.lifetimes
	return pairs.lifetimes, pairs.earlier, nil
}

// readNode is read for a node's own stream. Its first ranges have the contracts that the
// stream begins with, and the one in which those end may continue with history.
func (l *Lifetimes) readNode(ctx context.Context, row store.BatchRow) ([]store.Lifetime, []store.End, error) {
	pairs := l.newPairing()
	if row.After == schemas.Start || row.After.RecordTime == schemas.MinMicros {
		through := schemas.MaxUpdateID
		if row.Through.RecordTime == schemas.MinMicros {
			through = row.Through.UpdateID
		}
		carried, err := l.readCarried(ctx, store.Params{
			"stream": store.Text(l.stream), "migration": store.Int(row.Through.MigrationID),
			"after_id": store.Text(row.After.UpdateID), "through_id": store.Text(through),
		})
		if err != nil {
			return nil, nil, err
		}
		for _, lt := range carried {
			pairs.begin(lt)
		}
	}
	if row.Through.RecordTime != schemas.MinMicros {
		err := l.pair(ctx, &pairs, lifetimeEventsByOffset, store.Params{
			"stream": store.Text(l.stream), "after": store.Int(row.After.Offset), "through": store.Int(row.Through.Offset),
		})
		if err != nil {
			return nil, nil, err
		}
	}
	l.begun = pairs.lifetimes
	return pairs.lifetimes, pairs.earlier, nil
}

// pair gives the pairing what a query finds. The shards of a cluster are asked one by one: through one
// of them all rows would travel twice.
func (l *Lifetimes) pair(ctx context.Context, pairs *pairing, query string, params store.Params) error {
	shards := l.db.Shards()
	take, found := pairs.take, []store.LifetimeEvent(nil)
	if len(shards) > 1 {
		take = func(e store.LifetimeEvent) { found = append(found, e) }
	}
	for _, shard := range shards {
		err := shard.Select(ctx, query, params, l.events, func() error {
			l.events.Each(take)
			return nil
		})
		if err != nil {
			return fmt.Errorf("reading creates and ends: %w", err)
		}
	}
	slices.SortFunc(found, store.LifetimeEvent.Compare)
	for _, e := range found {
		pairs.take(e)
	}
	return nil
}

// readCarried returns the lifetimes of import updates in a range of ids.
func (l *Lifetimes) readCarried(ctx context.Context, params store.Params) (lifetimes []store.Lifetime, err error) {
	delete(params, "after_time")
	delete(params, "through_time")
	block := store.NewCarried()
	err = l.db.Select(ctx, importedInRange, params, block, func() error {
		lifetimes = block.AppendTo(lifetimes)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading contracts that are carried over: %w", err)
	}
	return lifetimes, nil
}

// pairing gives each end to the lifetime it closes. A contract may have several
// lifetimes in a range, when reassigned away and back.
type pairing struct {
	lifetimes []store.Lifetime
	open      map[string]int // contract id -> index of its open lifetime
	earlier   []store.End    // of contracts that began before the range
}

func (l *Lifetimes) newPairing() pairing {
	clear(l.begun) // so that nothing of the last range is held
	return pairing{lifetimes: l.begun[:0], open: make(map[string]int, len(l.begun))}
}

func (p *pairing) take(e store.LifetimeEvent) {
	if e.Begins != nil {
		p.begin(*e.Begins)
	} else {
		p.end(e.End)
	}
}

func (p *pairing) begin(l store.Lifetime) {
	p.open[l.Event.ContractID] = len(p.lifetimes)
	p.lifetimes = append(p.lifetimes, l)
}

func (p *pairing) end(e store.End) {
	i, ok := p.open[e.ContractID]
	if !ok {
		p.earlier = append(p.earlier, e)
		return
	}
	p.lifetimes[i].ArchivedAt, p.lifetimes[i].ArchivedOffset = e.At, e.Offset
	delete(p.open, e.ContractID)
}

// Tidy moves the stream's ended lifetimes from the live table to the archived ones. Readers are
// right before, during and after it: they filter on both tables and take a contract
// that is in both once.
func (l *Lifetimes) Tidy(ctx context.Context) error {
	of := store.Params{"stream": store.Text(l.stream)}
	if err := l.db.Change(ctx, "contracts_archived", moveEnded, "", of); err != nil {
		return fmt.Errorf("copying ended lifetimes: %w", err)
	}
	err := l.db.Change(ctx, "contracts_live", dropEnded, "", of, ch.Setting{Key: "lightweight_delete_mode", Value: "lightweight_update", Important: true})
	if err != nil {
		return fmt.Errorf("dropping ended lifetimes: %w", err)
	}
	l.ended = 0
	return nil
}

//go:embed sql/ended_earlier.sql
var endedEarlier string

// keepEnded stores who the stakeholders of the contracts were that ended in a range of a
// node's own stream: those that began in it, and those that began before it and have their
// end in the live table by now.
func (l *Lifetimes) keepEnded(ctx context.Context, row store.BatchRow, begun []store.Lifetime, earlier []store.End) error {
	block := store.NewEndedContracts()
	for i := range begun {
		if lt := &begun[i]; lt.ArchivedAt != store.NeverArchived && lt.Begun() {
			block.Append(l.stream, store.EndedContract{
				ArchivedOffset: lt.ArchivedOffset, Key: store.Key(lt.Event.ContractID), TemplateID: lt.Event.TemplateID,
				Signatories: lt.Event.Signatories, Observers: lt.Event.Observers,
			})
		}
	}
	if len(earlier) > 0 {
		found := store.NewEndedContracts()
		err := l.db.Select(ctx, endedEarlier, store.Params{
			"stream": store.Text(l.stream), "migration": store.Int(row.Through.MigrationID),
			"after": store.Int(row.After.Offset), "through": store.Int(row.Through.Offset),
		}, found, func() error {
			for _, c := range found.AppendTo(nil) {
				block.Append(l.stream, c)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("reading the contracts that ended: %w", err)
		}
	}
	return l.db.Insert(ctx, "ended_contracts", row.Stream+fmt.Sprintf("/%d/%s/ended", row.Sequence, row.Hash), block)
}
