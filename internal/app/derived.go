package app

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/indexer/analytics"
	"github.com/ledgerlake/ledgerlake/indexer/typed"
	"github.com/ledgerlake/ledgerlake/indexer/wallet"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/query/ledger"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// deriveRest brings the lifetimes, typed tables and movements of all streams, and the rollups of public history, up
// to the end of their history. A process that was stopped leaves them a little behind, for the next one that
// ingests to continue; verify on the same folder must not have to wait for that one. It does so only with an
// embedded engine, whose folder is locked: no other process derives at the same time.
func (d *database) deriveRest(ctx context.Context) error {
	if d.p.cfg.ClickHouseDSN != "" {
		return nil
	}
	nodes, err := d.nodeStreams(ctx, "")
	if err != nil {
		return err
	}
	for _, stream := range append(nodes, schemas.ScanStream) {
		if err := d.deriveLifetimes(ctx, stream); err != nil {
			return fmt.Errorf("deriving contract lifetimes of stream %s: %w", stream, err)
		}
		if err := deriveTypedOf(ctx, d, stream, d.packages.Catalog, false); err != nil {
			return err
		}
		if err := d.deriveAnalytics(ctx, stream, ""); err != nil {
			return err
		}
	}
	return nil
}

// deriveLifetimes brings the lifetimes of a stream up to the end of its history, unless they are there.
// Nothing is derived of a damaged store.
func (d *database) deriveLifetimes(ctx context.Context, stream string) error {
	reader := history.NewReader(d.db, stream)
	end, err := reader.Watermark(ctx)
	if err != nil {
		return err
	}
	derived, err := reader.ContractsWatermark(ctx)
	if err != nil || derived == end {
		return err
	}
	if err := d.lookForDamage(ctx); err != nil {
		return err
	}
	return indexer.NewLifetimes(d.db, stream, 0, d.p.log).CatchUp(ctx)
}

// deriveAgain lets what was emptied catch up with the stream.
func (d *database) deriveAgain(ctx context.Context, stream string) error {
	if err := d.deriveLifetimes(ctx, stream); err != nil {
		return fmt.Errorf("deriving the lifetimes of %s again: %w", stream, err)
	}
	if err := deriveTypedOf(ctx, d, stream, d.packages.Catalog, false); err != nil {
		return err
	}
	if err := d.deriveAnalytics(ctx, stream, ""); err != nil || stream == schemas.ScanStream {
		return err
	}
	if err := wallet.New(d.db, stream, 0, d.p.log).CatchUp(ctx); err != nil {
		return fmt.Errorf("deriving the wallets of %s again: %w", stream, err)
	}
	return nil
}

// nodeStreams are the nodes' own streams of the store, or of them the named one. A stream
// that the store does not have is an error.
func (d *database) nodeStreams(ctx context.Context, only string) ([]string, error) {
	if only == schemas.ScanStream {
		return nil, nil
	}
	rows, err := journal.Streams(ctx, d.db)
	if err != nil {
		return nil, err
	}
	known := []string{schemas.ScanStream}
	var nodes []string
	for _, row := range rows {
		if row.Stream == schemas.ScanStream || isDerived(row.Stream) {
			continue
		}
		known = append(known, row.Stream)
		if only == "" || row.Stream == only {
			nodes = append(nodes, row.Stream)
		}
	}
	if only != "" && len(nodes) == 0 {
		return nil, fmt.Errorf("--stream %s is not in the store, which has %s", only, strings.Join(known, ", "))
	}
	return nodes, nil
}

// isDerived reports whether a journal is of something that belongs to another stream.
func isDerived(stream string) bool {
	return journal.IsDerived(stream) || strings.HasSuffix(stream, journal.SideStream(""))
}

// participant finds the one whose stream is served: the one that is asked for, or the only one.
// Its error is ledger.ErrNoStream while there is none.
func (d *database) participant(ctx context.Context) (string, error) {
	rows, err := journal.Streams(ctx, d.db)
	if err != nil {
		return "", err
	}
	prefix, wanted := schemas.NodeStream(""), d.p.cfg.LedgerParticipant
	var found []string
	for _, row := range rows {
		// What is derived from a stream has a slash in its name.
		participant, ok := strings.CutPrefix(row.Stream, prefix)
		if ok && !strings.Contains(participant, "/") && (wanted == "" || wanted == participant) {
			found = append(found, participant)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("%w: there are %s; choose one with --ledger-participant", ledger.ErrNoStream, strings.Join(found, ", "))
	case wanted != "":
		return "", fmt.Errorf("%w: the store has no stream of participant %s", ledger.ErrNoStream, wanted)
	}
	return "", ledger.ErrNoStream
}

// What Rebuild derives again.
const (
	RebuildsWallets   = "wallets"
	RebuildsMovements = "movements"
	RebuildsRollups   = "rollups"
	RebuildsTables    = "tables"
)

// Rebuild derives the movements of streams again, the rollups of public history, the typed tables, or the wallets of one stream or
// of those of all nodes. rebuilt is called after each.
func (a *App) Rebuild(ctx context.Context, what, only string, rebuilt func(stream string)) error {
	if err := a.db.open(ctx); err != nil {
		return err
	}
	if only == schemas.ScanStream && what == RebuildsWallets {
		return fmt.Errorf("--stream %s: only the streams of nodes have wallets, such as %s", only, schemas.NodeStream("PARTICIPANT"))
	}
	streams, err := a.db.nodeStreams(ctx, only)
	if err != nil {
		return err
	}
	if what == RebuildsRollups {
		streams = nil
	}
	if what != RebuildsWallets && (only == "" || only == schemas.ScanStream) {
		streams = append(streams, schemas.ScanStream)
	}
	again := func(ctx context.Context, stream string) error { return a.db.deriveAnalytics(ctx, stream, what) }
	switch what {
	case RebuildsWallets:
		again = a.db.rebuildWallets
	case RebuildsTables:
		again = func(ctx context.Context, stream string) error {
			return deriveTypedOf(ctx, a.db, stream, a.db.packages.Catalog, true)
		}
	}
	for _, stream := range streams {
		if err := a.db.seized(ctx, stream, func(ctx context.Context) error { return again(ctx, stream) }); err != nil {
			return err
		}
		rebuilt(stream)
	}
	return nil
}

// deriveAnalytics brings the movements of a stream up to its end, and the rollups of public history. Movements
// that are derived again from the start have their rollups derived again, too.
func (d *database) deriveAnalytics(ctx context.Context, stream, again string) error {
	movements := analytics.NewMovements(d.db, stream, d.packages.Catalog, 0, d.p.log)
	sums := newRollups(d.db, stream, d.p.log)
	if again != "" {
		for _, r := range sums {
			if err := r.Rebuild(ctx); err != nil {
				return err
			}
		}
	}
	if again == RebuildsMovements {
		if err := movements.Rebuild(ctx); err != nil {
			return err
		}
	}
	if err := movements.CatchUp(ctx); err != nil {
		return fmt.Errorf("deriving the movements of %s: %w", stream, err)
	}
	for _, r := range sums {
		if err := r.CatchUp(ctx); err != nil {
			return fmt.Errorf("summing %s up: %w", stream, err)
		}
	}
	if again == RebuildsMovements && stream == schemas.ScanStream {
		return forgetPublished(ctx, d)
	}
	return nil
}

// forgetPublished has movements that are published exported again where their rows are others now.
func forgetPublished(ctx context.Context, d *database) error {
	movements, _, err := d.reader.MovementDigests(ctx, schemas.SegmentLength(d.p.cfg.BulkSegments))
	if err != nil {
		return err
	}
	return published.ForgetDerived(ctx, published.InStore(d.db, schemas.ScanStream).Segments, movements)
}

// newRollups are those of public history, and of the verdicts of it that come late; none of a node's stream.
func newRollups(db *store.DB, stream string, log *slog.Logger) []*analytics.Rollups {
	if stream != schemas.ScanStream {
		return nil
	}
	return []*analytics.Rollups{analytics.NewRollups(db, stream, 0, log), analytics.NewRollups(db, journal.SideStream(stream), 0, log)}
}

// rebuildLifetimes derives the lifetimes of a stream again from its start.
func (d *database) rebuildLifetimes(ctx context.Context, stream string) error {
	if err := indexer.ClearLifetimes(ctx, d.db, stream, d.p.log); err != nil {
		return err
	}
	return indexer.NewLifetimes(d.db, stream, 0, d.p.log).CatchUp(ctx)
}

func (d *database) rebuildWallets(ctx context.Context, stream string) error {
	wallets := wallet.New(d.db, stream, 0, d.p.log)
	if err := wallets.Rebuild(ctx); err != nil {
		return err
	}
	if err := wallets.CatchUp(ctx); err != nil {
		return fmt.Errorf("deriving the wallets of %s: %w", stream, err)
	}
	return nil
}

// deriveTyped brings the typed tables up to the end of the history of all streams.
func deriveTyped(ctx context.Context, d *database, catalog *values.Catalog) error {
	streams, err := d.nodeStreams(ctx, "")
	if err != nil {
		return err
	}
	for _, stream := range append(streams, schemas.ScanStream) {
		if err := deriveTypedOf(ctx, d, stream, catalog, false); err != nil {
			return err
		}
	}
	return nil
}

// deriveTypedOf is deriveTyped for one stream, from the start with again.
func deriveTypedOf(ctx context.Context, d *database, stream string, catalog *values.Catalog, again bool) error {
	tables := typed.New(d.db, stream, catalog, 0, d.p.log)
	if again {
		if err := tables.Rebuild(ctx); err != nil {
			return err
		}
	}
	if err := tables.CatchUp(ctx); err != nil {
		return fmt.Errorf("deriving the typed tables of %s: %w", stream, err)
	}
	return nil
}

// verifyMovements derives the movements of a stream again.
func (s *verifier) verifyMovements(ctx context.Context, p *console.Progress, stream string) (*verify.Check, error) {
	p.Begin("verify movements", "rows", 0)
	check := verify.NewCheck(MovementsCheck, 0)
	looked, err := analytics.NewAudit(s.db.db, stream, s.db.packages.Catalog, s.p.log).Run(ctx, func(d analytics.Difference) {
		where := "table movements"
		if d.UpdateID != "" {
			where += ", update " + d.UpdateID
		}
		if d.Party != "" {
			where += ", party " + d.Party
		}
		check.Add(verify.Finding{What: d.What, Where: where, Expected: d.Expected, Found: d.Found})
	})
	if err != nil {
		return nil, err
	}
	for what, n := range looked {
		check.Count(what, n)
	}
	p.End(fmt.Sprintf("%d rows", looked["rows"]))
	return check, nil
}

// verifyRollups sums public history up again.
func (s *verifier) verifyRollups(ctx context.Context, p *console.Progress, public string) (*verify.Check, error) {
	p.Begin("verify rollups", "rows", 0)
	check := verify.NewCheck(RollupsCheck, 0)
	for _, stream := range []string{public, journal.SideStream(public)} {
		looked, err := analytics.NewRollupsAudit(s.db.db, stream).Run(ctx, func(d analytics.RollupDifference) {
			check.Add(verify.Finding{What: "a row of table " + d.Table, Where: d.Where, Expected: d.Expected, Found: d.Found})
		})
		if err != nil {
			return nil, err
		}
		check.Count("rows", looked)
	}
	p.End(fmt.Sprintf("%d rows", check.Checked["rows"]))
	return check, nil
}

// verifyTables derives the typed tables of a stream again, if that is to be checked and there are some.
func verifyTables(ctx context.Context, s *verifier, f *VerifyConfig, stream string, checks *[]*verify.Check) error {
	if !f.has(TablesCheck) {
		return nil
	}
	check := verify.NewCheck(TablesCheck, 0)
	rows, err := typed.New(s.db.db, stream, s.db.packages.Catalog, 0, s.p.log).Audit(ctx, func(d typed.Difference) {
		check.Add(verify.Finding{What: "a row of table " + d.Table, Where: d.Where, Expected: d.Expected, Found: d.Found})
	})
	if err != nil || rows == 0 && check.OK {
		return err
	}
	check.Count("rows", rows)
	*checks = append(*checks, check)
	return nil
}
