// Package holdings reads what the updates of public history do to coins: which they create and consume, and
// what the choices around them say of it.
package holdings

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/coins"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

var (
	//go:embed sql/coin_events.sql
	coinEvents string
	//go:embed sql/coin_imports.sql
	coinImports string
	//go:embed sql/coins_by_key.sql
	coinsByKey string
	//go:embed sql/imported_coins_by_key.sql
	importedCoinsByKey string
	//go:embed sql/rounds_before.sql
	roundsBefore string
	//go:embed sql/held_coins.sql
	heldCoins string
	//go:embed sql/governance_party.sql
	governanceParty string
	//go:embed sql/first_migration.sql
	firstMigration string
	//go:embed sql/node_coin_events.sql
	nodeCoinEvents string
	//go:embed sql/node_coin.sql
	nodeCoin string
	//go:embed sql/node_held_coins.sql
	nodeHeldCoins string
)

// Reader reads ranges of a stream, one after another. It remembers the coins that were created, so that
// those consumed later need not be looked up, and the mining rounds. It may be used by one goroutine at a
// time.
type Reader struct {
	db     *store.DB
	stream string
	log    *slog.Logger

	party   string // the governance party, "" while it is not known
	first   int64  // the migration with which the stream begins, -1 while that is not known
	through schemas.Position
	known   knownCoins
	rounds  rounds

	block *store.CoinEvents
	local *store.NodeCoinEvents
	facts facts
}

// rangeBlock has the events of a range.
type rangeBlock interface {
	store.Block
	Each(take func(e *store.CoinEvent))
}

// NewReader returns a reader of a stream with a catalogue of the choices.
func NewReader(db *store.DB, stream string, catalog *values.Catalog, log *slog.Logger) *Reader {
	return &Reader{db: db, stream: stream, log: log, first: -1, through: schemas.Start, block: store.NewCoinEvents(), local: store.NewNodeCoinEvents(), facts: newFacts(stream, catalog)}
}

// NewLoggedReader is NewReader for one that reads the event log with all updates.
func NewLoggedReader(db *store.DB, stream string, catalog *values.Catalog, log *slog.Logger) *Reader {
	r := NewReader(db, stream, catalog, log)
	r.facts.logs = true
	return r
}

// Range returns what the updates in a range do to coins, in the order of history, after exclusive and
// through inclusive; most but not all that do nothing are left out. It is valid until the next call.
func (r *Reader) Range(ctx context.Context, after, through schemas.Position) ([]coins.Update, error) {
	if err := r.begin(ctx, after); err != nil || r.party == "" {
		return nil, err // without a mining round there are no coins
	}
	if err := r.read(ctx, after, through); err != nil {
		return nil, err
	}
	if alone := func(u coins.Update) bool { return u.SettlesAlone() }; !r.facts.logs && slices.ContainsFunc(r.facts.updates, alone) {
		r.facts.logs = true
		err := r.read(ctx, after, through)
		if r.facts.logs = false; err != nil {
			return nil, err
		}
	}
	r.through = through
	return r.facts.updates, r.link(ctx)
}

// read reads the updates of a range.
func (r *Reader) read(ctx context.Context, after, through schemas.Position) error {
	r.facts.reset()
	for _, p := range rows.Split(r.stream, after, through) {
		if p.Imports {
			if err := r.readImports(ctx, &p); err != nil {
				return err
			}
		}
		if p.History {
			if err := r.readEvents(ctx, &p); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin finds out what must be known before a range.
func (r *Reader) begin(ctx context.Context, after schemas.Position) error {
	of := store.Params{"stream": store.Text(r.stream)}
	if err := r.findParty(ctx, of); err != nil {
		return fmt.Errorf("reading the governance party: %w", err)
	}
	if r.first < 0 {
		first, ok, err := store.SelectOne(ctx, r.db, firstMigration, of, store.NewRecords[migration]())
		if err != nil {
			return fmt.Errorf("reading the first migration of %s: %w", r.stream, err)
		}
		if ok {
			r.first = first.ID
		}
	}
	if r.through == after || r.isNode() {
		return nil // a node need not see mining rounds
	}
	return r.loadRounds(ctx, after)
}

func (r *Reader) isNode() bool { return r.stream != schemas.ScanStream }

// findParty finds the governance party, unless it is known. A node's stream shows it by a coin.
func (r *Reader) findParty(ctx context.Context, of store.Params) error {
	switch {
	case r.party != "":
		return nil
	case r.isNode():
		return r.db.Select(ctx, nodeCoin, of, r.block, func() error {
			r.block.Each(func(e *store.CoinEvent) { r.party = r.facts.governance(e) })
			return nil
		})
	}
	party, _, err := store.SelectOne(ctx, r.db, governanceParty, of, store.NewRecords[found]())
	r.party = party.Name
	return err
}

type (
	found struct {
		Name string `column:"name"`
	}
	migration struct {
		ID int64 `column:"id"`
	}
)

// loadRounds reads the mining rounds that were open at a position.
func (r *Reader) loadRounds(ctx context.Context, at schemas.Position) error {
	r.rounds = r.rounds[:0]
	if at == schemas.Start {
		return nil
	}
	params := store.Params{
		"stream": store.Text(r.stream), "party": store.Text(r.party),
		"migration": store.Int(at.MigrationID), "time": store.Time(store.Clamp(at.RecordTime)),
	}
	err := r.db.Select(ctx, roundsBefore, params, r.block, func() error {
		r.block.Each(func(e *store.CoinEvent) { r.rounds.add(r.facts.roundOf(e)) })
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading mining rounds up to %s: %w", at, err)
	}
	return nil
}

// readImports reads the coins that a migration began with. They are an opening where the stream begins
// with them.
func (r *Reader) readImports(ctx context.Context, p *rows.Part) error {
	params := store.Params{
		"stream": store.Text(r.stream), "party": store.Text(r.party), "migration": store.Int(p.Through.MigrationID), "time": store.Time(store.BeforeHistory),
		"after_id": store.Text(p.After.UpdateID), "through_id": store.Text(p.LastImport()),
	}
	opening := p.Through.MigrationID == r.first
	err := r.db.Select(ctx, coinImports, params, r.block, func() error {
		r.block.Each(func(e *store.CoinEvent) {
			if isRound(e) {
				r.rounds.add(r.facts.roundOf(e))
				return
			}
			c := r.facts.coin(e)
			r.known.add(e.Contract, &c)
			if opening {
				r.facts.carryOver(r.party, e, c)
			}
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the coins that migration %d begins with: %w", p.Through.MigrationID, err)
	}
	return nil
}

// readEvents reads the history of a part. The shards of a cluster are asked one by one.
func (r *Reader) readEvents(ctx context.Context, p *rows.Part) error {
	query, params, block := coinEvents, p.EventParams(), rangeBlock(r.block)
	if r.isNode() {
		query, block = nodeCoinEvents, r.local
		params = store.Params{"stream": store.Text(r.stream), "after": store.Int(p.After.Offset), "through": store.Int(p.Through.Offset)}
	}
	told, whole := coins.ToldChoices(), slices.Clip(wholeChoices)
	if r.facts.logs {
		told, whole = append(told, template.EventLogHoldingsChange), append(whole, template.EventLogHoldingsChange)
	}
	params["party"], params["told"], params["whole"] = store.Text(r.party), store.Texts(told), store.Texts(whole)
	start, shards := len(r.facts.updates), r.db.Shards()
	for _, shard := range shards {
		err := shard.SelectLarge(ctx, query, params, block, func() error {
			block.Each(func(e *store.CoinEvent) {
				if isRound(e) {
					r.rounds.add(r.facts.roundOf(e))
					return
				}
				r.facts.event(r.party, e)
			})
			return nil
		})
		if err != nil {
			return fmt.Errorf("reading the coins after %s: %w", p.After, err)
		}
	}
	if len(shards) > 1 {
		slices.SortFunc(r.facts.updates[start:], func(a, b coins.Update) int { return a.Position.Compare(b.Position) })
	}
	return nil
}

// link gives consumed coins what they were created with, and updates their round. Coins that are neither
// remembered nor in the range are looked up.
func (r *Reader) link(ctx context.Context) error {
	var missing []*coins.Event
	for i := range r.facts.updates {
		u := &r.facts.updates[i]
		if u.Round = r.rounds.at(u.Position.RecordTime); u.Opening {
			continue
		}
		for j := range u.Events {
			switch e := &u.Events[j]; {
			case e.Does == coins.Nothing:
			case u.Local && !e.Active:
				linkWithin(u, e)
			case e.Does == coins.Creates:
				r.known.add(e.ID, &e.Coin)
			default:
				known, ok := r.known.take(e.ID)
				if !ok {
					missing = append(missing, e)
					continue
				}
				e.Coin = known
			}
		}
	}
	return r.lookUp(ctx, missing)
}

// linkWithin links a coin that is not active on the node, which is known within the update alone: of most
// others that end the node never saw the beginning, and looking for it would be in vain.
func linkWithin(u *coins.Update, e *coins.Event) {
	if e.Does == coins.Creates {
		return
	}
	created := slices.IndexFunc(u.Events, func(c coins.Event) bool { return c.Does == coins.Creates && c.ID == e.ID })
	if created < 0 {
		e.Does, e.Unclear = coins.Nothing, true
		return
	}
	e.Coin = u.Events[created].Coin
}

// lookUp finds out what coins are that were created before the range. One that the store does not have is
// as if it were none: what it was worth is unknown.
func (r *Reader) lookUp(ctx context.Context, missing []*coins.Event) error {
	for chunk := range slices.Chunk(missing, 5000) {
		found, err := r.find(ctx, coinsByKey, chunk, nil)
		if err == nil && len(found) < len(chunk) {
			found, err = r.find(ctx, importedCoinsByKey, chunk, found)
		}
		if err != nil {
			return err
		}
		lost := 0
		for _, e := range chunk {
			c, ok := found[e.ID]
			if e.Coin = c; !ok {
				e.Does, e.Unclear = coins.Nothing, true
				lost++
			}
		}
		if lost > 0 {
			r.log.WarnContext(ctx, "coins are consumed that were never created: movements leave them out; ledgerlake verify names them", "coins", lost)
		}
	}
	return nil
}

// find adds what a query finds of coins.
func (r *Reader) find(ctx context.Context, query string, events []*coins.Event, into map[uint64]coins.Coin) (map[uint64]coins.Coin, error) {
	if into == nil {
		into = make(map[uint64]coins.Coin, len(events))
	}
	var keys []uint64
	for _, e := range events {
		if _, ok := into[e.ID]; !ok {
			keys = append(keys, e.ID)
		}
	}
	params := store.Params{"stream": store.Text(r.stream), "party": store.Text(r.party), "keys": store.Numbers(keys)}
	if query == importedCoinsByKey {
		params["time"] = store.Time(store.BeforeHistory)
	}
	err := r.db.Select(ctx, query, params, r.block, func() error {
		r.block.Each(func(e *store.CoinEvent) { into[e.Contract] = r.facts.coin(e) })
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking %d coins up: %w", len(keys), err)
	}
	return into, nil
}

// Held calls each for every coin that lifetimes have as active at a position behind the imports of its
// migration, in no order.
func (r *Reader) Held(ctx context.Context, at schemas.Position, each func(coins.Coin)) error {
	if err := r.begin(ctx, r.through); err != nil || r.party == "" {
		return err
	}
	query, params := heldCoins, store.Params{
		"stream": store.Text(r.stream), "party": store.Text(r.party), "migration": store.Int(at.MigrationID), "at": store.Time(at.RecordTime),
	}
	if r.isNode() {
		query, params["at"] = nodeHeldCoins, store.Int(at.Offset)
	}
	err := r.db.Select(ctx, query, params, r.block, func() error {
		r.block.Each(func(e *store.CoinEvent) { each(r.facts.coin(e)) })
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the coins active at %s: %w", at, err)
	}
	return nil
}

// openRound is a mining round with the time from which it is open.
type openRound struct {
	opens  schemas.Micros
	number int64
}

// rounds are by the time at which they open.
type rounds []openRound

func (r *rounds) add(o openRound, ok bool) {
	if !ok {
		return
	}
	i, there := slices.BinarySearchFunc(*r, o, func(a, b openRound) int { return int(a.number - b.number) })
	if !there {
		*r = slices.Insert(*r, i, o)
	}
}

// at is the newest round that was open, -1 if none was.
func (r rounds) at(t schemas.Micros) int64 {
	for i := len(r) - 1; i >= 0; i-- {
		if r[i].opens <= t {
			return r[i].number
		}
	}
	return -1
}

func isRound(e *store.CoinEvent) bool {
	return strings.HasSuffix(e.TemplateID, ":OpenMiningRound") && e.Kind == schemas.Created
}
