package indexer

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ClickHouse/ch-go"
	"github.com/google/uuid"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/end_named_contracts.sql
var endNamedContracts string

//go:embed sql/end_named_contracts_by_offset.sql
var endNamedContractsByOffset string

//go:embed sql/end_live_contracts.sql
var endLiveContracts string

//go:embed sql/end_live_contracts_by_offset.sql
var endLiveContractsByOffset string

//go:embed sql/create_contract_ends.sql
var createContractEnds string

//go:embed sql/empty_contract_ends.sql
var emptyContractEnds string

//go:embed sql/contract_ends_tables.sql
var contractEndsTables string

//go:embed sql/drop_contract_ends.sql
var dropContractEnds string

// namedEnds is the most ends that a statement names. A statement with more of them takes longer to be read than
// the scratch table takes to be filled.
const namedEnds = 128

// endEarlier sets the end of contracts in the live table. They lie in the migration, or the
// node's stream, of at.
func (l *Lifetimes) endEarlier(ctx context.Context, at schemas.Position, ends []store.End) (err error) {
	switch {
	case len(ends) == 0:
		return nil
	case len(ends) <= namedEnds:
		err = l.endNamed(ctx, at, ends)
	default:
		err = l.endListed(ctx, at, ends)
	}
	if err != nil {
		return fmt.Errorf("ending %d live contracts: %w", len(ends), err)
	}
	return nil
}

// endNamed is endEarlier for a few contracts.
func (l *Lifetimes) endNamed(ctx context.Context, at schemas.Position, ends []store.End) error {
	named := map[string]bool{}
	var ids []string
	var times []schemas.Micros
	var offsets []int64
	for _, e := range ends {
		if named[e.ContractID] {
			continue // the first one counts, as in the scratch table
		}
		named[e.ContractID] = true
		ids, times, offsets = append(ids, e.ContractID), append(times, store.Clamp(e.At)), append(offsets, e.Offset)
	}
	query := endNamedContracts
	params := store.Params{
		"stream": store.Text(l.stream), "migration": store.Int(at.MigrationID), "ids": store.Texts(ids), "ends": store.Times(times),
	}
	if at.Offset > 0 {
		query, params["offsets"] = endNamedContractsByOffset, store.Ints(offsets)
	}
	return l.db.Change(ctx, "contracts_live", query, "", params, lightweightUpdate)
}

// lightweightUpdate allows statements that give rows of the live table their end without writing parts again.
var lightweightUpdate = ch.Setting{Key: "enable_lightweight_update", Value: "1", Important: true}

// endListed is endEarlier for many contracts, by way of the scratch table that the update reads.
func (l *Lifetimes) endListed(ctx context.Context, at schemas.Position, ends []store.End) error {
	table := l.scratch
	scratch := store.Params{"table": store.Text(table)}
	if err := l.db.Change(ctx, table, emptyContractEnds, "", scratch); err != nil {
		return fmt.Errorf("emptying %s: %w", table, err)
	}
	block := store.NewEnds()
	for _, e := range ends {
		block.Append(e)
	}
	if err := l.db.Insert(ctx, table, "", block); err != nil {
		return err
	}
	query := endLiveContracts
	if at.Offset > 0 {
		query = endLiveContractsByOffset
	}
	return l.db.Change(ctx, "contracts_live", query, "", store.Params{
		"stream": store.Text(l.stream), "migration": store.Int(at.MigrationID), "table": store.Text(table),
	}, lightweightUpdate)
}

// endsTable begins the names of a stream's scratch tables. Names of streams are no names of tables.
func endsTable(stream string) string {
	sum := sha256.Sum256([]byte(stream))
	return "contract_ends_" + hex.EncodeToString(sum[:8])
}

// newScratch makes a scratch table that no statement has met, on each shard of a cluster.
func (l *Lifetimes) newScratch(ctx context.Context) error {
	l.scratch = endsTable(l.stream) + "_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	for _, shard := range l.db.Shards() {
		if err := l.replaceScratch(ctx, shard); err != nil {
			return err
		}
	}
	return nil
}

// replaceScratch makes the scratch table and drops those before it. A statement of a process that has
// died, or one that was given up, may still hold the lock of one of these in the engine, for which to
// empty the table would wait.
func (l *Lifetimes) replaceScratch(ctx context.Context, db *store.DB) error {
	old, err := store.SelectAll(ctx, db, contractEndsTables, store.Params{"prefix": store.Text(endsTable(l.stream))}, store.NewRecords[store.Name]())
	if err != nil {
		return fmt.Errorf("listing the scratch tables of %s: %w", l.stream, err)
	}
	for _, table := range old {
		if err := db.Exec(ctx, dropContractEnds, "", store.Params{"table": store.Text(table.Name)}); err != nil {
			return fmt.Errorf("dropping %s: %w", table.Name, err)
		}
	}
	if err := db.Exec(ctx, createContractEnds, "", store.Params{"table": store.Text(l.scratch)}); err != nil {
		return fmt.Errorf("creating %s: %w", l.scratch, err)
	}
	return nil
}
