package analytics

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/internal/history/holdings"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/coins"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

var (
	//go:embed sql/stored_movements.sql
	storedMovements string
	//go:embed sql/stored_node_movements.sql
	storedNodeMovements string
)

// Audit checks tables movements, round_entries and labels at their watermark, without a look at how they were
// derived before:
//
//   - every row is what history gives, derived again;
//   - in each update the movements add up to what was created and consumed, transfers to nothing, and locks
//     to nothing for each party; so minted less burnt is the change of supply, of updates, days and rounds;
//   - nothing is unexplained;
//   - what the event log reports is what the coins and the movements of its accounts say;
//   - what a party has moved into a pocket is the coins that lifetimes have as active there.
//
// Of a node's own stream, which shows a part of most updates, movements add up to the coins that become active
// on the node or end there, and may be unexplained.
//
// Memory does not grow with history, but with its days, parties and the rows of a day that differs.
type Audit struct {
	db      *store.DB
	stream  string
	catalog *values.Catalog
	log     *slog.Logger

	mark     schemas.Position
	days     map[day]*daySums
	balances map[holder]decimal.Decimal // by stored rows, less the coins that are held
	looked   map[string]int64
	found    func(Difference)
	buf      []byte
}

// Difference is a row, an update or a balance that is not as history has it.
type Difference struct {
	What, Party string
	UpdateID    string // "" for a balance
	// Expected and Found are in words.
	Expected, Found string
}

// day is a UTC day of a migration, as a number of days since 1970.
type day struct{ migration, number int64 }

const dayLength = schemas.Micros(24 * 3600 * 1e6)

func dayOf(p schemas.Position) day {
	number := int64(p.RecordTime / dayLength)
	if p.RecordTime%dayLength < 0 {
		number--
	}
	return day{p.MigrationID, number}
}

// daySums sum rows up whatever their order.
type daySums struct{ expected, stored, expectedEntries, storedEntries uint64 }

type holder struct{ party, pocket string }

// NewAudit returns the audit of the movements of a stream.
func NewAudit(db *store.DB, stream string, catalog *values.Catalog, log *slog.Logger) *Audit {
	return &Audit{db: db, stream: stream, catalog: catalog, log: log}
}

// Run calls found for each difference, and returns how much it looked at.
func (a *Audit) Run(ctx context.Context, found func(Difference)) (looked map[string]int64, err error) {
	a.found, a.looked = found, make(map[string]int64)
	a.days, a.balances = make(map[day]*daySums), make(map[holder]decimal.Decimal)
	if a.mark, err = journals.Watermark(ctx, a.db, journals.MovementsStream(a.stream)); err != nil || a.mark == schemas.Start {
		return a.looked, err
	}
	reader := holdings.NewLoggedReader(a.db, a.stream, a.catalog, a.log)
	if err := a.deriveAgain(ctx, reader); err != nil {
		return nil, err
	}
	if err := a.readStored(ctx); err != nil {
		return nil, err
	}
	if !a.isNode() {
		if err := a.readPublic(ctx); err != nil {
			return nil, err
		}
	}
	for _, d := range slices.SortedFunc(maps.Keys(a.days), func(x, y day) int {
		return cmp.Or(cmp.Compare(x.migration, y.migration), cmp.Compare(x.number, y.number))
	}) {
		if s := a.days[d]; s.expected != s.stored || s.expectedEntries != s.storedEntries {
			if err := a.compareDay(ctx, d); err != nil {
				return nil, err
			}
		}
	}
	return a.looked, a.compareBalances(ctx, reader)
}

// readPublic reads the tables that there are of public history alone.
func (a *Audit) readPublic(ctx context.Context) error {
	if err := a.readEntries(ctx); err != nil {
		return err
	}
	lines, err := journals.Read(ctx, a.db, a.stream)
	if err != nil {
		return err
	}
	return a.checkLabels(ctx, lines)
}

func (a *Audit) sums(p schemas.Position) *daySums {
	d := dayOf(p)
	s := a.days[d]
	if s == nil {
		s = new(daySums)
		a.days[d] = s
	}
	return s
}

// hash is that of a row.
func (a *Audit) hash(m *store.Movement) uint64 {
	a.buf = appendMovement(a.buf[:0], m)
	return xxh3.Hash(a.buf)
}

func appendMovement(dst []byte, m *store.Movement) []byte {
	return fmt.Appendf(dst, "%d %d %s %d %s %s %s %s %s %s %s %s %d %d %s %s %s %q %q %d", m.RecordTime, m.Entry, m.UpdateID, m.Event, m.Party, m.Instrument,
		m.Pocket, m.Amount, m.Cause, m.Class, m.Purpose, m.Counterparty, m.Round, m.StatedRound, m.Choice, m.Template, m.Source, m.Reference, m.Reason, m.Offset)
}

// deriveAgain derives all movements and checks each update.
func (a *Audit) deriveAgain(ctx context.Context, reader *holdings.Reader) error {
	d := derivation{movement: func(m *store.Movement) { a.sums(m.Position).expected += a.hash(m) }, updated: a.checkUpdate}
	if !a.isNode() {
		d.entry = func(e *store.RoundEntry) { a.sums(e.Position).expectedEntries += hashEntry(e) }
	}
	return a.eachExpected(ctx, reader, d)
}

// eachExpected derives all of the stream.
func (a *Audit) eachExpected(ctx context.Context, reader *holdings.Reader, d derivation) error {
	lines, err := journals.Read(ctx, a.db, a.stream)
	if err != nil {
		return err
	}
	var deriver coins.Deriver
	return journal.EachRange(lines, a.mark, func(after, through schemas.Position) error {
		return d.run(ctx, reader, &deriver, after, through)
	})
}

// checkUpdate checks what must be true of the movements of each update.
func (a *Audit) checkUpdate(u *coins.Update, movements []coins.Movement) {
	a.looked["updates"]++
	var coined, moved, transferred decimal.Decimal
	for i := range u.Events {
		switch e := &u.Events[i]; e.Does {
		case coins.Nothing:
		case coins.Creates:
			coined = coined.Plus(a.counted(u, e))
		case coins.Consumes:
			coined = coined.Minus(a.counted(u, e))
		}
	}
	locked := make(map[string]decimal.Decimal)
	for i := range movements {
		m := &movements[i]
		moved = moved.Plus(m.Amount)
		switch m.Cause {
		case coins.Transfer:
			transferred = transferred.Plus(m.Amount)
		case coins.Lock:
			locked[m.Party] = locked[m.Party].Plus(m.Amount)
		case coins.Unexplained:
			if u.Local {
				a.looked["unexplained"]++
				continue
			}
			a.found(Difference{"coins move for no reason that is known", m.Party, u.Position.UpdateID, "a choice that explains them", fmt.Sprintf("%s by %s", m.Amount, cmp.Or(m.Choice, "no choice"))})
		}
	}
	if !u.Local { // of which not all accounts are seen
		a.checkLogs(u, movements)
	}
	if moved != coined {
		a.found(Difference{"the movements of an update are not the coins that it creates and consumes", "", u.Position.UpdateID, coined.String(), moved.String()})
	}
	if transferred.Sign() != 0 && !u.Local {
		a.found(Difference{"the transfers of an update do not add up", "", u.Position.UpdateID, "0", transferred.String()})
	}
	for party, rest := range locked {
		if rest.Sign() != 0 {
			a.found(Difference{"what an update locks and unlocks does not add up", party, u.Position.UpdateID, "0", rest.String()})
		}
	}
}

// counted is the worth of a coin that the movements of an update must add up to.
func (a *Audit) counted(u *coins.Update, e *coins.Event) (worth decimal.Decimal) {
	if !u.Local || u.Opening || e.Active {
		worth = e.Coin.Amount
	}
	return worth
}

// readStored reads all rows once.
func (a *Audit) readStored(ctx context.Context) error {
	params := a.between(0, a.mark.MigrationID, store.BeforeHistory, store.NeverArchived)
	return a.eachStored(ctx, params, func(m *store.Movement) {
		a.looked["rows"]++
		a.sums(m.Position).stored += a.hash(m)
		h := holder{m.Party, m.Pocket}
		a.balances[h] = a.balances[h].Plus(m.Amount)
	})
}

func (a *Audit) between(first, last int64, from, through schemas.Micros) store.Params {
	return store.Params{
		"stream": store.Text(a.stream), "first_migration": store.Int(first), "last_migration": store.Int(last),
		"first_time": store.Time(from), "last_time": store.Time(through),
		"offset": store.Int(a.mark.Offset), "migration": store.Int(a.mark.MigrationID), "time": store.Time(store.Clamp(a.mark.RecordTime)), "id": store.Text(a.mark.UpdateID),
	}
}

func (a *Audit) eachStored(ctx context.Context, params store.Params, each func(*store.Movement)) error {
	block, query := store.NewMovements(), storedMovements
	if a.isNode() {
		query = storedNodeMovements
	}
	err := a.db.Select(ctx, query, params, block, func() error {
		for _, m := range block.AppendTo(nil) {
			each(&m)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading table movements: %w", err)
	}
	return nil
}

// compareDay names the rows of a day that differ.
func (a *Audit) compareDay(ctx context.Context, d day) error {
	from := schemas.Micros(d.number) * dayLength
	after := schemas.Position{MigrationID: d.migration, RecordTime: from - 1, UpdateID: schemas.MaxUpdateID}
	through := schemas.Position{MigrationID: d.migration, RecordTime: from + dayLength - 1, UpdateID: schemas.MaxUpdateID}
	if d == dayOf(schemas.Position{MigrationID: d.migration, RecordTime: store.BeforeHistory}) { // an opening
		after, through = schemas.Start, schemas.Position{MigrationID: d.migration, RecordTime: schemas.MinMicros, UpdateID: schemas.MaxUpdateID}
	}
	if a.mark.Before(through) {
		through = a.mark
	}
	var expected, stored []store.Movement
	var entries []store.RoundEntry
	err := a.expectedOf(ctx, d, after, through, func(m *store.Movement) { expected = append(expected, *m) }, func(e *store.RoundEntry) { entries = append(entries, *e) })
	if err != nil {
		return err
	}
	params := a.between(d.migration, d.migration, from, from+dayLength-1)
	if err := a.eachStored(ctx, params, func(m *store.Movement) { stored = append(stored, *m) }); err != nil {
		return err
	}
	slices.SortFunc(expected, byPlace)
	slices.SortFunc(stored, byPlace)
	a.compareRows(expected, stored)
	return a.compareEntries(ctx, params, entries)
}

// expectedOf derives a day, which is between two positions of public history. The order of a
// node's stream is not that of time.
func (a *Audit) expectedOf(ctx context.Context, d day, after, through schemas.Position, each func(*store.Movement), entry func(*store.RoundEntry)) error {
	reader := holdings.NewReader(a.db, a.stream, a.catalog, a.log)
	if !a.isNode() {
		return derivation{movement: each, entry: entry}.run(ctx, reader, new(coins.Deriver), after, through)
	}
	return a.eachExpected(ctx, reader, derivation{movement: func(m *store.Movement) {
		if dayOf(m.Position) == d {
			each(m)
		}
	}})
}

func (a *Audit) isNode() bool { return a.stream != schemas.ScanStream }

func byPlace(x, y store.Movement) int {
	return cmp.Or(x.Position.Compare(y.Position), cmp.Compare(x.Entry, y.Entry), cmp.Compare(x.Party, y.Party))
}

// compareRows names what differs in two lists in order.
func (a *Audit) compareRows(expected, stored []store.Movement) {
	for len(expected)+len(stored) > 0 {
		order := 0
		switch {
		case len(expected) == 0:
			order = 1
		case len(stored) == 0:
			order = -1
		default:
			order = byPlace(expected[0], stored[0])
		}
		d := Difference{What: "a row of movements"}
		if order <= 0 {
			d.Party, d.UpdateID, d.Expected = expected[0].Party, expected[0].UpdateID, describe(&expected[0])
		}
		if order >= 0 {
			d.Party, d.UpdateID, d.Found = cmp.Or(d.Party, stored[0].Party), stored[0].UpdateID, describe(&stored[0])
		}
		if order != 0 || a.hash(&expected[0]) != a.hash(&stored[0]) {
			d.Expected, d.Found = cmp.Or(d.Expected, "no such row"), cmp.Or(d.Found, "no such row")
			a.found(d)
		}
		if order <= 0 {
			expected = expected[1:]
		}
		if order >= 0 {
			stored = stored[1:]
		}
	}
}

// describe has all of a row but its update.
func describe(m *store.Movement) string {
	text := fmt.Sprintf("entry %d: %s %s for %s, %s %s %s, event %d by %q, round %d (%d)", m.Entry, m.Amount, m.Pocket, m.Party, m.Cause, m.Class, m.Purpose, m.Event, m.Choice, m.Round, m.StatedRound)
	if m.Counterparty != "" {
		text += " with " + m.Counterparty
	}
	return text
}

// compareBalances compares what parties have moved with the coins that they hold.
func (a *Audit) compareBalances(ctx context.Context, reader *holdings.Reader) error {
	if a.mark.RecordTime == schemas.MinMicros {
		return nil // not all of the coins are carried over yet
	}
	held := make(map[holder]decimal.Decimal)
	err := reader.Held(ctx, a.mark, func(c coins.Coin) {
		h := holder{c.Owner, coins.Unlocked}
		if c.Locked {
			h.pocket = coins.Locked
		}
		held[h] = held[h].Plus(c.Amount)
	})
	if err != nil {
		return err
	}
	for h := range held {
		a.balances[h] = a.balances[h].Plus(decimal.Decimal{})
	}
	for h, moved := range a.balances {
		a.looked["balances"]++
		if moved != held[h] {
			a.found(Difference{"what a party has moved is not what it holds, " + h.pocket, h.party, "", held[h].String(), moved.String()})
		}
	}
	return nil
}
